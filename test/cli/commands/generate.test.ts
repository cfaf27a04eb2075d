import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { cli, MAIN } from './support/cli.ts';

test('generate --check runs both generators and fails when one of them does', async () => {
  const root = new URL('../', `file://${MAIN}`);
  const alone = ['dashboards/generate.ts', 'alerts/grafana/generate.ts'].map((file) => {
    try {
      execFileSync(process.execPath, [file, '--check'], { cwd: root, stdio: 'ignore' });
      return 0;
    } catch {
      return 1;
    }
  });
  const { code } = await cli(['generate', '--check']);
  expect(code).toBe(Math.max(...alone));
});
