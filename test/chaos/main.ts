import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runEarlyCommit, runEmbedded, runMain, runUndisturbed } from './arms.ts';
import { readOptions, USAGE, type ChaosOptions } from './options.ts';
import { createProgress } from './progress.ts';
import { createRecords } from './recorder.ts';
import { makeReport, printReport, type ArmReport } from './report.ts';

/**
 * `npm run chaos`: nothing lost, nothing counted twice, whatever is killed, cut off, slow, full or repeated.
 */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  let options: ChaosOptions;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const startedAt = new Date();
  const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-chaos-'));
  const progress = createProgress((text) => void process.stderr.write(text));
  progress.say(`seed ${options.seed}`);
  const records = createRecords(progress.say);
  const stage = { options, folder, records, progress };
  try {
    const arms: ArmReport[] = [];
    const hasControl = options.scenarios.has('control');
    // Side by side where time matters; the control arm then works in silence.
    const beside =
      hasControl && options.isShort
        ? runEarlyCommit({ ...stage, progress: createProgress(() => undefined) })
        : null;
    beside?.catch(() => undefined);
    const main_ = await runMain(stage);
    arms.push(main_.arm);
    if (options.scenarios.has('embedded')) arms.push(await runEmbedded(stage));
    if (options.scenarios.has('undisturbed')) arms.push(await runUndisturbed(stage));
    const earlyCommitLost = hasControl ? await (beside ?? runEarlyCommit(stage)) : null;
    const { shadow, skipped, kills } = main_;
    const report = makeReport({
      options,
      startedAt,
      records,
      arms,
      shadow,
      earlyCommitLost,
      skipped,
      kills,
    });
    console.log(printReport(report));
    if (options.jsonFile !== null) {
      mkdirSync(path.dirname(path.resolve(options.jsonFile)), { recursive: true });
      writeFileSync(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    }
    return report.verdict === 'passed' ? 0 : 1;
  } catch (error) {
    console.error(`the harness itself failed (seed ${options.seed}): ${(error as Error).stack}`);
    return 1;
  } finally {
    progress.stop();
    if (options.keep) progress.say(`logs and data are in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    console.error(`ended by ${signal}`);
    process.exit(code);
  });
}
process.exitCode = await main(process.argv.slice(2));
process.exit();
