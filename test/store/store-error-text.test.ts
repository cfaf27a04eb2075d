import { describe, expect, it } from 'vitest';
import { storeErrorText } from '../../store/store-error-text.ts';

describe('the text of a failure', () => {
  it('is one short paragraph without the statement', () => {
    const text =
      'Code: 47. DB::Exception: Unknown expression identifier `x` in scope SELECT secret FROM t. (UNKNOWN_IDENTIFIER) (version 26.7.1.1 (official build))';
    expect(storeErrorText(new Error(text))).toBe(
      'Code: 47. DB::Exception: Unknown expression identifier `x`',
    );
    expect(storeErrorText(new Error('a '.repeat(1000)))).toHaveLength(300);
  });
});
