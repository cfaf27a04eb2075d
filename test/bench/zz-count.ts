import { readFileSync } from 'node:fs';
import { RULES } from '../../alerts/rules/all.ts';
import { markFacts } from '../../alerts/count/item-facts.ts';
import { countsItems, itemCounting } from '../../alerts/count/item-counts.ts';
import { codeBitsSql, codesSince, frontierSql, keepMarks, NO_FRONTIER } from '../../alerts/count/marks.ts';
const i = JSON.parse(readFileSync('/tmp/exp/info', 'utf8'));
const cpu = () => { const f = readFileSync(`/proc/${i.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' '); return (Number(f[11]) + Number(f[12])) * 10; };
async function q(sql: string, name: string) {
  const c = cpu(), t = performance.now();
  const r = await fetch(`${i.url}/?database=gatewatch&default_format=JSON&max_execution_time=200`, { method: 'POST', body: sql, headers: { 'X-ClickHouse-User': i.username, 'X-ClickHouse-Key': i.password } });
  const text = await r.text();
  if (!r.ok) { console.log(sql.slice(0, 6000)); throw new Error(text.slice(0, 1500)); }
  console.log(name, 'cpu', cpu() - c, 'wall', Math.round(performance.now() - t), 'sql', sql.length);
  return text === '' ? null : JSON.parse(text);
}
const counting = RULES.filter((r) => r.kind !== 'gauge');
const facts = markFacts(counting);
console.log(facts.items.conditions.length, facts.decisions.conditions, facts.long, facts.definition);
const asOf = Date.UTC(2026, 10, 22, 12, 0, 0) / 1000;
const ends = ['acme-eu', 'blue-pay', 'card-hub'].map((gateway) => ({ gateway, end: asOf - 30, lateEnd: asOf - 60 }));
const fast = counting.filter((r) => r.group !== 'slow' && countsItems(r));
const codeNames = (await q(codesSince(asOf - 8 * 3600), 'codes')).data.map((r: any) => r.code);
const codes = (await q(codeBitsSql(facts, codeNames, asOf - 8 * 3600), 'bits')).data;
async function count(frontier: any, name: string) {
  const c = itemCounting(fast, { facts, codes, frontier }, ends, asOf);
  const res = await q(c.sql, name);
  const t = performance.now();
  const out = new Map<string, [number, number]>();
  c.take(res.data, ({ rule, label, gateway, windowSeconds: w }, seen, hit) => { const k = `${rule}/${label}/${gateway}/${w}`; const o = out.get(k) ?? [0, 0]; out.set(k, [o[0] + seen, o[1] + hit]); });
  console.log('rows', res.data.length, 'take ms', Math.round(performance.now() - t));
  return out;
}
const raw = await count(NO_FRONTIER, 'raw');
await q("TRUNCATE TABLE order_marks_store", 'trunc'); await q("TRUNCATE TABLE order_marks_frontier", 'trunc');
const next = { from: asOf - 8 * 3600, to: asOf - 1500, knownUs: (asOf - 900) * 1e6 };
for (const s of keepMarks({ facts, codes, frontier: NO_FRONTIER }, next)) await q(s, 'keep');
await q('OPTIMIZE TABLE order_marks_store FINAL', 'opt');
console.log((await q(frontierSql(facts), 'frontier')).data, (await q('select count(), uniq(order_hash), sum(keep_long) from order_marks_store', 'n')).data);
for (let k = 0; k < 3; k++) { const kept = await count(next, 'kept'); if (k === 0) { let diff = 0; for (const [key, v] of raw) if (kept.get(key)?.join() !== v.join()) { if (diff++ < 5) console.log(key, v, kept.get(key)); } console.log('diff', diff, raw.size, kept.size); } }
for (const [k, v] of [...raw].filter(([k]) => k.includes('acme') && k.endsWith('/10800'))) console.log(k, v);
const empty = itemCounting(fast, { facts, codes, frontier: { from: next.from - 86400 * 30, to: next.to - 86400 * 30, knownUs: next.knownUs - 86400 * 30 * 1e6 } }, ends.map((e) => ({ ...e, end: e.end - 86400 * 30, lateEnd: e.lateEnd - 86400 * 30 })), asOf - 86400 * 30);
{ const c = cpu(); const t = performance.now(); for (let k = 0; k < 20; k++) await q(empty.sql, 'empty'); console.log('EMPTY per', (cpu() - c) / 20, (performance.now() - t) / 20); }
import { writeFileSync } from 'node:fs';
writeFileSync('/tmp/exp/empty.sql', empty.sql);
