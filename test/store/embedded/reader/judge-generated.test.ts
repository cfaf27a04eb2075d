import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

describe("the texts and trees of the judge's tests", () => {
  it('are what the engine makes of the statements now', async () => {
    const script = path.join(import.meta.dirname, 'generate-judged.ts');
    await expect(
      promisify(execFile)(process.execPath, ['--no-warnings', script, '--check']),
    ).resolves.toBeDefined();
  });
});
