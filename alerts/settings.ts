import { readRuleName } from '../schemas/rule-name.ts';
import type { AlertsConfig } from '../schemas/config-alerts.ts';
import type { GatewayConfig } from '../schemas/config.ts';
import type { EpochMicros, Rows } from '../schemas/rows.ts';
import { EVERY_RULE, settingsOfCalendar } from './count/calendar.ts';
import { REREADS } from './rules/conditions.ts';

type SettingRow = Rows['alertSettings'];

/** The rule that must know which callback types a gateway sends, by the state that its label names. */
const CALLBACK_RULE = 'GatewatchMerchantCallbackMissing';
const CALLBACK_OF_STATE = { SUCCESS: 'Success', FAILED: 'Failed' } as const;

/** The rule that must know when a gateway's orders are read again. */
const REREAD_RULE = 'GatewatchRereadCoverage';
/** How long the last re-read may be late. */
const REREAD_ROOM_SECONDS = 270;

/**
 * What that rule must know: a read from the middle between the last two re-reads on counts as the last one,
 * which is judged some time after it was due.
 */
function rereadSettings(rereadsS: readonly number[]): Readonly<Record<string, number>> {
  const [last = 0, before = 0] = rereadsS.toSorted((a, b) => b - a);
  return {
    rereadFromSeconds: Math.floor((last + before) / 2),
    judgedAfterSeconds: Math.max(REREADS.judgedAfterSeconds, Math.ceil(last) + REREAD_ROOM_SECONDS),
  };
}

/**
 * What the configuration says about gateways and rules, as rows: rules read them in SQL, wherever they are
 * evaluated. Every start writes a whole set for each gateway; the newest set counts.
 */
export function settingRows(
  config: AlertsConfig,
  gateways: readonly GatewayConfig[],
  now: EpochMicros,
): SettingRow[] {
  return gateways.flatMap(({ name: gateway, callbackTypes, poll }) => {
    const row = (rule: string, setting: string, value: number): SettingRow => ({
      gateway,
      rule,
      setting,
      value,
      configured_at: now,
    });
    const callbacks = Object.entries(CALLBACK_OF_STATE).map(([state, type]) =>
      row(CALLBACK_RULE, `enabled/${state}`, Number(callbackTypes.includes(type))),
    );
    const rereads = Object.entries(rereadSettings(poll.rereadsS)).map(([setting, value]) =>
      row(REREAD_RULE, setting, value),
    );
    const rules = Object.entries(config.rules).map(
      ([name, set]) => [readRuleName(name) ?? name, set] as const,
    );
    const chosen = rules.flatMap(([rule, { gateways: own, ...all }]) =>
      Object.entries({ ...defined(all), ...defined(own?.[gateway] ?? {}) }).flatMap(([setting, value]) => [
        row(rule, setting, Number(value)),
        // Switched off is switched off, whatever is known about labels.
        ...(rule === CALLBACK_RULE && setting === 'enabled' && !value
          ? Object.keys(CALLBACK_OF_STATE).map((state) => row(rule, `enabled/${state}`, 0))
          : []),
      ]),
    );
    const merged = new Map(
      [...callbacks, ...rereads, ...chosen].map((one) => [`${one.rule}/${one.setting}`, one]),
    );
    const calendar = settingsOfCalendar(config).map((setting) => row(EVERY_RULE, setting, 1));
    // The empty rule marks the set, so that one without settings replaces what was there.
    return [row('', 'set', 1), ...calendar, ...merged.values()];
  });
}

const defined = <T extends object>(settings: T): Partial<T> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Partial<T>;
