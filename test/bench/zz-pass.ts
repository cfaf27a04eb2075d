import { readFileSync } from 'node:fs';
import { RULES } from '../../alerts/rules/all.ts';
import { createPass } from '../../alerts/evaluate/pass.ts';
const i = JSON.parse(readFileSync('/tmp/exp/info', 'utf8'));
const cpu = () => { const f = readFileSync(`/proc/${i.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' '); return (Number(f[11]) + Number(f[12])) * 10; };
let log = true;
async function query(sql: string): Promise<any[]> {
  const c = cpu(), t = performance.now();
  const r = await fetch(`${i.url}/?database=gatewatch&default_format=JSON&max_execution_time=200&output_format_json_quote_64bit_integers=0`, { method: 'POST', body: sql, headers: { 'X-ClickHouse-User': i.username, 'X-ClickHouse-Key': i.password } });
  const text = await r.text();
  if (!r.ok) { console.log(sql.slice(0, 6000)); throw new Error(text.slice(0, 1500)); }
  if (log) console.log(sql.slice(0, 60).replaceAll('\n', ' '), 'cpu', cpu() - c, 'wall', Math.round(performance.now() - t), 'sql', sql.length);
  return text === '' ? [] : JSON.parse(text).data;
}
const p = createPass({ rules: RULES, query: query as never, evaluator: 'x', now: () => Date.now() * 1000, monotonicMs: () => performance.now() });
const asOf = Date.UTC(2026, 10, 22, 12, 0, 0);
for (let k = 0; k < 3; k++) { const u = process.cpuUsage(); const c = cpu(), t = performance.now(); const rows = await p.pass(asOf, k === 0 ? ['fast', 'slow'] : ['fast']); const d = process.cpuUsage(u); console.log('PASS', k, rows.length, 'engine', cpu() - c, 'node', (d.user + d.system) / 1000, 'wall', performance.now() - t, rows.filter((r) => r.breach).map((r) => `${r.rule}/${r.gateway}/${r.label} ${r.affected}/${r.seen}>=${r.limit}`).slice(0, 5)); }
