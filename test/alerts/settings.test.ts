import { describe, expect, it } from 'vitest';
import { settingRows } from '../../alerts/settings.ts';
import { alertsConfigSchema } from '../../schemas/config-alerts.ts';
import { gatewayConfigSchema } from '../../schemas/config.ts';

const gateway = (name: string, more: object = {}) =>
  gatewayConfigSchema.parse({ name, secureUrl: 'https://gateway.shop.de', token: 'token', ...more });
/** The settings of a gateway as `rule/setting`, without the rules' common beginning. */
function settings(config: object, gateways = [gateway('acme')], of = 'acme'): Record<string, number> {
  const rows = settingRows(alertsConfigSchema.parse(config), gateways, 1);
  return Object.fromEntries(
    rows
      .filter((row) => row.gateway === of)
      .map(({ rule, setting, value }) => [`${rule.replace('Gatewatch', '')}/${setting}`, value]),
  );
}

describe('the settings of rules', () => {
  it('are a whole set for each gateway, also where nothing is configured', () => {
    expect(settings({})).toEqual({
      '/set': 1,
      'MerchantCallbackMissing/enabled/SUCCESS': 1,
      'MerchantCallbackMissing/enabled/FAILED': 1,
      'RereadCoverage/rereadFromSeconds': 405,
      'RereadCoverage/judgedAfterSeconds': 900,
    });
  });

  it('take what is configured for one gateway before what is for all', () => {
    const config = {
      rules: { GatewatchTechTimeouts: { shareAbove: 0.1, gateways: { beta: { shareAbove: 0.2 } } } },
    };
    const both = [gateway('acme'), gateway('beta')];
    expect(settings(config, both)['TechTimeouts/shareAbove']).toBe(0.1);
    expect(settings(config, both, 'beta')['TechTimeouts/shareAbove']).toBe(0.2);
  });

  it('have the zone and the holidays of the configuration, for all rules', () => {
    const config = { timeZone: 'Europe/Berlin', holidays: ['2026-12-25'] };
    expect(settings(config)).toMatchObject({ '*/timeZone/Europe/Berlin': 1, '*/holiday/2026-12-25': 1 });
  });

  it('judge the callback types that a gateway sends, and none where the rule is switched off', () => {
    const some = [gateway('acme', { callbackTypes: ['Success'] })];
    expect(settings({}, some)).toMatchObject({
      'MerchantCallbackMissing/enabled/SUCCESS': 1,
      'MerchantCallbackMissing/enabled/FAILED': 0,
    });
    const off = { rules: { GatewatchMerchantCallbackMissing: { enabled: false } } };
    expect(settings(off)).toMatchObject({
      'MerchantCallbackMissing/enabled/SUCCESS': 0,
      'MerchantCallbackMissing/enabled/FAILED': 0,
    });
  });

  it.each([
    // The demo's, those of the default, one alone, and patient ones in any order.
    [[4, 12, 32], 22, 900],
    [[60, 180, 630], 405, 900],
    [[30], 15, 900],
    [[3600, 60, 1200], 2400, 3870],
  ])('follow the re-reads %j', (rereadsS, rereadFromSeconds, judgedAfterSeconds) => {
    expect(settings({}, [gateway('acme', { poll: { rereadsS } })])).toMatchObject({
      'RereadCoverage/rereadFromSeconds': rereadFromSeconds,
      'RereadCoverage/judgedAfterSeconds': judgedAfterSeconds,
    });
  });
});
