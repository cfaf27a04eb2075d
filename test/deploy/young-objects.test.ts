import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const textOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

it.each([
  ['the installed command', 'cli/main.ts', /^#!.*node (?<flags>.*)$/m],
  ['npm start', 'package.json', /"start": "node (?<flags>.*)cli\/main\.ts run"/],
  ['npm run gatewatch', 'package.json', /"gatewatch": "node (?<flags>.*)cli\/main\.ts"/],
  ['the image', 'Dockerfile', /^ENTRYPOINT \["node", "(?<flags>.*)"\]$/m],
  ['the unit', 'deploy/systemd/gatewatch.service', /^ExecStart=\S+ (?<flags>.*)dist\/cli\/main\.js/m],
  ['the tests', 'test/support/collector-process.ts', /\['(?<flags>[^']*)', MAIN, 'run'/],
  ['the demo', 'sandbox/demo/collector-process.ts', /\['(?<flags>[^']*)', MAIN, 'run'/],
])('%s bounds the memory of young objects, as docs/operations.md says', (_name, file, pattern) => {
  const documented = /`(--max-semi-space-size=\d+)`/.exec(textOf('docs/operations.md'))?.[1];
  expect(documented).toBeDefined();
  expect(pattern.exec(textOf(file))?.groups?.['flags']?.trim()).toBe(documented);
});
