import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPage, toPageFiles } from '../../../console/server/page-files.ts';

const FILES = {
  'index.html': '<script src="{{assets}}/main.js"></script>',
  'main.js': 'run()',
  'lib/a.css': 'a {}',
};
const temporary = () => mkdtempDisposable(join(tmpdir(), 'gatewatch-page-'));
/** Sends what is given, or fails, and counts its runs in a file. */
const builderOf = (folder: string, body: string): string => {
  const path = join(folder, 'builder.mjs');
  writeFileSync(path, `import { existsSync, writeFileSync } from 'node:fs';\n${body}`);
  return path;
};
const SEND = `process.send(${JSON.stringify(FILES)}, () => process.disconnect());`;

describe('the files of the page', () => {
  it('have an address that changes when any of them does', () => {
    const page = toPageFiles(FILES);
    expect(page.html).toBe(`<script src="/console/assets/${page.version}/main.js"></script>`);
    expect([...page.assets.keys()]).toEqual(['lib/a.css', 'main.js']);
    expect(toPageFiles(FILES).version).toBe(page.version);
    expect(toPageFiles({ ...FILES, 'lib/a.css': 'a { }' }).version).not.toBe(page.version);
  });

  it('are read from their folder where there is no builder, as in the published package', async () => {
    await using folder = await temporary();
    mkdirSync(join(folder.path, 'lib'));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder.path, name), text);
    const page = openPage({ folder: folder.path, builder: join(folder.path, 'none.ts') });
    expect(await page()).toEqual(toPageFiles(FILES));
  });

  it('are missed at once where they are neither built nor can be', async () => {
    await using folder = await temporary();
    const missing = join(folder.path, 'none');
    expect(() => openPage({ folder: missing, builder: `${missing}.ts` })).toThrow(/"npm run build" makes it/);
  });

  it('are built in a checkout: at the first request, once for all that ask', async () => {
    await using folder = await temporary();
    const ran = JSON.stringify(join(folder.path, 'ran'));
    const builder = builderOf(
      folder.path,
      `if (existsSync(${ran})) throw new Error('run twice');\nwriteFileSync(${ran}, '');\n${SEND}`,
    );
    const page = openPage({ folder: folder.path, builder });
    const [one, two] = await Promise.all([page(), page()]);
    expect(one).toEqual(toPageFiles(FILES));
    expect(await page()).toBe(two);
  });

  it('say why they could not be built, and are built again at the next request', async () => {
    await using folder = await temporary();
    const ran = JSON.stringify(join(folder.path, 'ran'));
    const builder = builderOf(
      folder.path,
      `if (!existsSync(${ran})) { writeFileSync(${ran}, ''); throw new Error('no such import'); }\n${SEND}`,
    );
    const page = openPage({ folder: folder.path, builder });
    await expect(page()).rejects.toThrow(/could not be built \(1\): [^]*no such import/);
    expect(await page()).toEqual(toPageFiles(FILES));
  });

  it('leave no builder behind when the console stops', async () => {
    await using folder = await temporary();
    const builder = builderOf(folder.path, 'setInterval(() => undefined, 1000);');
    const stopped = new AbortController();
    const page = openPage({ folder: folder.path, builder, signal: stopped.signal })();
    stopped.abort();
    await expect(page).rejects.toThrow(/abort/);
  });
});
