import { expect, it } from 'vitest';
import { judge } from './signatures.ts';

const json = (value: unknown): string => JSON.stringify(value);

it('passes when every signature is valid', () => {
  expect(judge(json({ invalid: [], missing: [] }), 0).kind).toBe('verified');
});

it('fails on a signature that is invalid or missing, and names the package', () => {
  const one = { name: 'left-pad', version: '1.0.0', location: 'node_modules/left-pad' };
  expect(judge(json({ invalid: [one], missing: [] }), 1)).toEqual({
    kind: 'bad',
    text: 'left-pad@1.0.0: invalid signature',
  });
  expect(judge(json({ invalid: [], missing: [one] }), 1).kind).toBe('bad');
  // Whatever the end of the process says.
  expect(judge(json({ invalid: [one] }), 0).kind).toBe('bad');
});

it.each(['ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'ECONNREFUSED', 'E503'])(
  'says that nobody answered on %s',
  (code) => {
    expect(judge(json({ error: { code, summary: 'no answer' } }), 1).kind).toBe('unanswered');
  },
);

it.each([
  ['another error', json({ error: { code: 'EUSAGE', summary: 'found no dependencies' } }), 1],
  ['an error without a code', json({ error: {} }), 1],
  ['a refusal', json({ error: { code: 'E403', summary: 'forbidden' } }), 1],
  ['nothing', '', null],
  ['no JSON', 'verified registry signatures', 0],
  ['a bare word', 'null', 0],
  ['an end in failure without a reason', json({ invalid: [], missing: [] }), 1],
])('fails on %s', (_, stdout, code) => {
  expect(judge(stdout, code).kind).toBe('failed');
});
