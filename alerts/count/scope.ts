import { sqlText, view } from '../../schemas/measures.ts';
import type { Scope } from './order-count.ts';

/**
 * The scope of the parameterized view: one gateway, between the instants that a page names, as of a third.
 */
export const PAGE_SCOPE: Scope = {
  setting: (name, otherwise) => settingOfPage(name, otherwise),
  greatestSetting: (name, otherwise) => settingOfPage(name, otherwise),
  asOf: `{as_of:DateTime64(6, 'UTC')}`,
  reach: (time, longest, before) =>
    `gateway = {gateway:String} AND ${time} >= {to:DateTime64(6, 'UTC')} - INTERVAL ${longest + before} SECOND AND ${time} < {to:DateTime64(6, 'UTC')}`,
  within: (time, before = 0) =>
    `gateway = {gateway:String} AND ${time} >= {from:DateTime64(6, 'UTC')}${before === 0 ? '' : ` - INTERVAL ${typeof before === 'number' ? before : `toUInt32(${before})`} SECOND`} AND ${time} < {to:DateTime64(6, 'UTC')}`,
};

const settingOfPage = (name: string, otherwise: number): string =>
  `(SELECT if(count() = 0, ${otherwise}, max(value)) FROM ${view('alertSettings')} WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = ${sqlText(name)})`;
