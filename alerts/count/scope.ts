import { sqlText, view } from '../../schemas/measures.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import type { Scope } from './order-facts.ts';

/**
 * The scope of the parameterized view: one gateway, between the instants that a page names, as of a third.
 */
export const PAGE_SCOPE: Scope = {
  setting: (name, otherwise) => settingOfPage(name, otherwise),
  greatestSetting: (name, otherwise) => settingOfPage(name, otherwise),
  asOf: `{as_of:DateTime64(6, 'UTC')}`,
  end: `{to:DateTime64(6, 'UTC')}`,
  reach: (time, longest) =>
    `gateway = {gateway:String} AND ${time} >= {to:DateTime64(6, 'UTC')} - INTERVAL ${longest} SECOND AND ${time} < {to:DateTime64(6, 'UTC')}`,
  touched: (before) =>
    `gateway = {gateway:String} AND last_item_at >= {from:DateTime64(6, 'UTC')} - INTERVAL ${before} SECOND AND created_at < {to:DateTime64(6, 'UTC')}`,
  within: (time, before = 0) =>
    `gateway = {gateway:String} AND ${time} >= {from:DateTime64(6, 'UTC')}${before === 0 ? '' : ` - INTERVAL ${typeof before === 'number' ? before : `toUInt32(${before})`} SECOND`} AND ${time} < {to:DateTime64(6, 'UTC')}`,
};

/** SQL of a setting of one rule at one gateway, both of them SQL as well. */
export const settingSql = (rule: string, gateway: string, name: string, otherwise: number): string =>
  `(SELECT if(count() = 0, ${otherwise}, max(value)) FROM ${view('alertSettings')} WHERE rule = ${rule} AND gateway = ${gateway} AND setting = ${sqlText(name)})`;

const settingOfPage = (name: string, otherwise: number): string =>
  settingSql('{rule:String}', '{gateway:String}', name, otherwise);

/** What a parameterized view is called with. */
export interface Page {
  readonly rule: string;
  readonly gateway: string;
  readonly from: EpochMicros;
  readonly to: EpochMicros;
  readonly asOf: EpochMicros;
}

/** A statement over `PAGE_SCOPE` with its parameters filled in. */
export function atPage(sql: string, { rule, gateway, from, to, asOf }: Page): string {
  const time = (at: EpochMicros): string => `toDateTime64('${(at / 1e6).toFixed(6)}', 6, 'UTC')`;
  const values: Readonly<Record<string, string>> = {
    rule: sqlText(rule),
    gateway: sqlText(gateway),
    from: time(from),
    to: time(to),
    as_of: time(asOf),
  };
  return sql.replace(/\{(rule|gateway|from|to|as_of):[^}]*\}/g, (_, name: string) => values[name] ?? '');
}
