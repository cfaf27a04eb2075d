import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..', '..', '..');

it('the control arm still knows the code that it turns around', async () => {
  const hook = path.join(import.meta.dirname, 'early-commit.ts');
  const target = path.join(ROOT, 'collector', 'sources', 'kafka', 'handle-batch.ts');
  const script = `console.log(Object.keys(await import(${JSON.stringify(target)})).includes('handleBatch'))`;
  const args = ['--import', hook, '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trim()).toBe('true');
});
