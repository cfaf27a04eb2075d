import { describe, expect, test } from 'vitest';
import { cli } from './support/cli.ts';

describe('decode', () => {
  test('--json prints exactly the contract for one code', async () => {
    const { code, stdout, stderr } = await cli(['decode', '4.1.4.63', '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      action: '4.1.4.63',
      format: 'v2',
      stage: 'CHECK',
      result: 'SUCCESS',
      state: 'FAILED',
      reasonCode: 63,
      reasonGroup: 'ISSUER',
      reasonDetail: 'INSUFFICIENT_FUNDS',
      catalogued: true,
      description: 'Status check found the payment declined: insufficient funds',
    });
  });

  test('--json prints one object a line for several, in their order', async () => {
    const { stdout } = await cli(['decode', '--json', '2.2.4.11', '1.1.18', '4.1.4.18']);
    const codes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { action: string; format: string; reasonDetail: string | null });
    expect(codes.map(({ action, format, reasonDetail }) => [action, format, reasonDetail])).toEqual([
      ['2.2.4.11', 'v2', 'TIMEOUT'],
      ['1.1.18', 'unrecognized', null],
      ['4.1.4.18', 'v2', 'UNKNOWN_18'],
    ]);
  });

  test('prints a table for people', async () => {
    const { code, stdout } = await cli(['decode', '2.2.4.11', '4.1.3.00', '10.20.30.40', 'nonsense']);
    expect(code).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "CODE         STAGE           RESULT   STATE    REASON             CATALOGUED  DESCRIPTION
      2.2.4.11     GATEWAY_CREATE  FAILURE  FAILED   TECH.TIMEOUT (11)  yes         Gateway did not answer the create request in time
      4.1.3.00     CHECK           SUCCESS  SUCCESS  none               yes         Status check found the payment paid
      10.20.30.40  -               -        -        -                  no          a code of the older form, whose layout is not published: kept as it is
      nonsense     -               -        -        -                  no          not a code A.C.B.RR with known segments: kept as it is
      "
    `);
  });

  test('answers for what is no code at all, needs no configuration, and is not fooled by escape sequences', async () => {
    const { code, stdout } = await cli(['decode', '\u001b[31m2.2.4.11\u0007', ''], {
      env: { GATEWATCH_CONFIG: '/nowhere.yaml' },
    });
    expect(code).toBe(0);
    // oxlint-disable-next-line no-control-regex -- these must not get through
    expect(stdout).not.toMatch(/[\u0007\u001b]/);
  });
});
