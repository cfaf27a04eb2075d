import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..', '..', '..');

it('the control arm still knows the code that it turns around', async () => {
  const hook = path.join(import.meta.dirname, 'early-commit.ts');
  const [batch, input] = ['handle-batch.ts', 'input.ts'].map((file) =>
    JSON.stringify(path.join(ROOT, 'collector', 'sources', 'kafka', file)),
  );
  const script = `console.log('handleBatch' in (await import(${batch})) && 'createKafkaInput' in (await import(${input})))`;
  const args = ['--import', hook, '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trim()).toBe('true');
});
