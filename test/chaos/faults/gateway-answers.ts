import { sleep } from '../../../schemas/deadline.ts';
import { PATIENCE_MS } from '../../support/until.ts';
import { until } from '../arm.ts';
import { recover, type Fault, type Scene } from './fault.ts';

/** Epoch seconds. */
const BEGAN = 'toFloat64(started_at)';

/** No answer of a gateway makes a collector blind for longer: half a minute, and what a busy machine adds. */
const LONGEST_BLINDNESS_S = 45;

/** One 503 that asks for a pause of more than thirty years, for all reads. */
const endlessPause: Fault = {
  name: 'pause without end',
  weightS: 45,
  async run(scene) {
    const { arm, main, record } = scene;
    const asked = { name: 'http_503', endpoint: 'status', retryAfterSeconds: 999_999_999 } as const;
    const { id } = arm.sandbox.faults.add(asked);
    const struck = async () => (await reads(scene, "error_type = 'http_503'")).count > 0;
    const came = await until(struck, PATIENCE_MS, 'a 503').then(
      () => true,
      () => false,
    );
    arm.sandbox.faults.remove(id);
    if (!came) return record.missed('pause without end', 'no read was answered with 503');
    const { last } = await reads(scene, "error_type = 'http_503'");
    const again = async () => (await reads(scene, `outcome = 'ok' AND ${BEGAN} > ${last}`)).count > 0;
    await until(again, PATIENCE_MS, 'a read after the pause').catch(() => undefined);
    const { first } = await reads(scene, `outcome = 'ok' AND ${BEGAN} > ${last}`);
    const blindS = first - last;
    if (first === 0 || blindS > LONGEST_BLINDNESS_S)
      record.failed(`pause without end: no read for ${first === 0 ? PATIENCE_MS / 1000 : blindS} s`);
    record.happened('pause without end', `asked for 31 years, read again after ${blindS.toFixed(1)} s`);
    await recover(scene, 'pause without end', main);
  },
};

const HINTS_S = 10;

/** Each reply has `100 Continue` and `103 Early Hints` before it, which take nothing from it. */
const earlyHints: Fault = {
  name: 'early hints',
  weightS: HINTS_S,
  async run(scene) {
    const { arm, record } = scene;
    const since = Date.now() / 1000;
    const { id } = arm.sandbox.faults.add({ name: 'early_hints', endpoint: 'status' });
    await sleep(HINTS_S * 1000);
    const applied = arm.sandbox.faults.list().find((fault) => fault.id === id)?.applied ?? 0;
    arm.sandbox.faults.remove(id);
    const during = `${BEGAN} BETWEEN ${since + 1} AND ${since + HINTS_S - 1}`;
    const isStored = async () => (await reads(scene, `${BEGAN} > ${since + HINTS_S}`)).count > 0;
    await until(isStored, PATIENCE_MS, 'a read after the hints').catch(() => undefined);
    const ok = (await reads(scene, `outcome = 'ok' AND ${during}`)).count;
    const broken = (await reads(scene, `http_status IS NULL AND ${during}`)).count;
    if (broken > 0) record.failed(`early hints: ${broken} reads had no reply`);
    if (applied === 0 || ok === 0) record.missed('early hints', `${applied} replies had them, ${ok} read`);
    else record.happened('early hints', `${applied} replies had them, ${ok} were read, none was lost`);
  },
};

export const gatewayAnswers: readonly Fault[] = [endlessPause, earlyHints];

/** How many reads of the collector fulfil a condition, and when the first and the last of them began. */
async function reads(
  { arm, main }: Scene,
  condition: string,
): Promise<{ count: number; first: number; last: number }> {
  const rows = await arm
    .query<{ count: number; first: number; last: number }>(
      `SELECT toUInt32(count()) AS count, min(${BEGAN}) AS first, max(${BEGAN}) AS last
FROM polls WHERE collector_id = '${main.name}' AND ${condition}`,
    )
    .catch(() => []);
  return rows[0] ?? { count: 0, first: 0, last: 0 };
}
