import { describe, expect, it } from 'vitest';
import { problemText } from '../../store/problem-text.ts';

describe('the text of a failure', () => {
  it('is one short paragraph without the statement', () => {
    const text =
      'Code: 47. DB::Exception: Unknown expression identifier `x` in scope SELECT secret FROM t. (UNKNOWN_IDENTIFIER) (version 26.7.1.1 (official build))';
    expect(problemText(new Error(text))).toBe('Code: 47. DB::Exception: Unknown expression identifier `x`');
    expect(problemText(new Error('a '.repeat(1000)))).toHaveLength(300);
  });
});
