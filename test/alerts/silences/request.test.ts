import { expect, it } from 'vitest';
import { checkSilenceRequest } from '../../../alerts/silences/request.ts';
import { problemText } from '../../../schemas/problem.ts';

const request = {
  kind: 'silenced',
  rule: 'TechTimeouts',
  gateway: 'acme-eu',
  for: '2h',
  reason: 'The provider works on it',
};
const check = (more: object = {}) => checkSilenceRequest({ ...request, ...more }, ['acme-eu', 'acme-us']);
const problem = (more: object): string => {
  const checked = check(more);
  return checked.ok ? 'none' : problemText(checked.problem);
};

it('reads rules by any of their names, and what is left out as any', () => {
  expect(check()).toEqual({
    ok: true,
    request: {
      kind: 'silenced',
      rule: 'GatewatchTechTimeouts',
      gateway: 'acme-eu',
      slice: '',
      label: '',
      for: 7_200_000,
      reason: 'The provider works on it',
      by: '',
    },
  });
  expect(check({ rule: 'all' })).toMatchObject({ ok: true, request: { rule: '' } });
  const { for: _, ...acknowledgement } = { ...request, kind: 'acknowledged' };
  expect(checkSilenceRequest(acknowledgement, ['acme-eu']).ok).toBe(true);
});

it.each([
  [{ rule: 'Nonsense' }, 'rule: expected the name of a rule, or all, received "Nonsense"'],
  [{ gateway: 'acme' }, 'gateway: expected one of acme-eu, acme-us, or nothing for any, received "acme"'],
  [{ for: '-2h' }, 'for: expected a duration up to 30d, such as 90m or 2h, received'],
  [{ for: '0' }, 'for: expected a duration up to 30d'],
  [{ for: '31d' }, 'for: expected a duration up to 30d'],
  [{ for: undefined }, 'for: expected a string, received nothing'],
  [{ reason: undefined }, 'reason: expected a string, received nothing'],
  [{ reason: '  ' }, 'reason: expected at least 1 characters'],
  [{ reason: 'x'.repeat(10_000) }, 'reason: expected at most 500 characters'],
  [{ reason: 'two\nlines' }, 'reason: expected printable text in one line'],
  [{ until: '2026-01-01' }, 'expected'],
  [{ kind: 'forgotten' }, 'kind: expected'],
])('refuses %j, and names field, value and what was expected', (more, text) => {
  expect(problem(more)).toContain(text);
});

it('takes markup as the text it is, and masks card numbers', () => {
  expect(check({ reason: '<script>alert(1)</script>' })).toMatchObject({
    request: { reason: '<script>alert(1)</script>' },
  });
  expect(check({ reason: 'card 4111 1111 1111 1111 fails' })).toMatchObject({
    request: { reason: 'card [16 digits] fails' },
  });
});

it('what can cost more than orders is held back for a day at most, and so is any rule', () => {
  for (const rule of ['GatewatchForgedCallbacks', 'all']) {
    expect(check({ rule, for: '24h' }).ok).toBe(true);
    expect(problem({ rule, for: '25h' })).toBe(
      'for: expected 24h at most, since security or money is at risk, received "25h"',
    );
  }
  expect(check({ for: '25h' }).ok).toBe(true);
});
