import { describe, expect, test } from 'vitest';
import { describeError } from '../../../cli/terminal/log.ts';
import { GatewatchError } from '../../../schemas/errors.ts';

describe('an error in the log', () => {
  test('keeps what helps to find it, and nothing that looks like a card', () => {
    const cause = new TypeError('cannot read 4111 1111 1111 1111 of undefined');
    const described = describeError(new RangeError('bad row: card 4111111111111111', { cause }));
    expect(described).toMatchObject({
      type: 'RangeError',
      message: 'bad row: card [16 digits]',
      cause: { type: 'TypeError', message: 'cannot read [16 digits] of undefined' },
    });
    expect(JSON.stringify(described)).not.toContain('4111');
    expect((described['stack'] as string[])[0]).toMatch(/^at .*log\.test\.ts/);
  });

  test('keeps the whole advice of our own errors, with their code', () => {
    const advice = 'Check the address. '.repeat(20);
    const described = describeError(new GatewatchError(advice, { code: 'kafka_unreachable' }));
    expect(described).toMatchObject({ code: 'kafka_unreachable', message: advice });
  });

  test('takes anything that can be thrown', () => {
    expect(describeError('4111111111111111')).toEqual({ message: '[16 digits]' });
    expect(describeError(undefined)).toEqual({ message: 'undefined' });
  });
});
