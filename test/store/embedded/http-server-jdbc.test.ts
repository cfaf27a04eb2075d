import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { DATABASE, PAGE_VIEWS, VIEWS } from '../../../schemas/names.ts';
import { cacheFolder, fetchJars } from '../../support/maven-jars.ts';
import { withEmbedded } from '../../support/embedded.ts';
import { openDatabase } from '../../support/migrated-store.ts';

const run = promisify(execFile);
const VERSION = '0.9.2';
const HOME = path.join(cacheFolder(), 'clickhouse-jdbc', VERSION);
const DEPENDENCY = `<dependency>
  <groupId>com.clickhouse</groupId><artifactId>clickhouse-jdbc</artifactId><version>${VERSION}</version>
</dependency>`;

function whyNot(): string | null {
  const isThere = (tool: string): boolean => spawnSync(tool, ['-version']).error === undefined;
  if (!isThere('java')) return 'Java is not installed';
  return existsSync(HOME) || isThere('mvn') ? null : 'Maven, which fetches the driver, is not installed';
}
const missing = whyNot();

describe(`JDBC ${VERSION}${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  it.skipIf(missing !== null)(
    'connects, lists the public views and nothing else, and reads, as DBeaver does first',
    async () => {
      const jars = await fetchJars({ what: 'the JDBC driver', home: HOME, dependencies: DEPENDENCY });
      const embedded = await withEmbedded();
      const store = await openDatabase(embedded, { database: DATABASE });
      const program = path.join(import.meta.dirname, '../../support/java/FirstMinutes.java');
      const { username, password } = embedded.reader;
      const args = [
        '-cp',
        path.join(jars, '*'),
        program,
        `jdbc:clickhouse:${embedded.url}`,
        username,
        password,
      ];
      const { stdout } = await run('java', args);
      const seen = Object.fromEntries(
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      );
      expect(seen).toEqual({
        valid: 'true',
        product: expect.stringMatching(/^ClickHouse \d+\.\d+\.\d+\.\d+$/),
        major: expect.stringMatching(/^\d+$/),
        schemas: DATABASE,
        tables: [...Object.values(VIEWS), ...PAGE_VIEWS].toSorted().join(','),
        columns:
          'gateway,order_type,external_id,kind,subject,found_at,side,expected,received,evidence,resolved_at',
        keys: '',
        indexes: '',
        functions: 'arrayMax,arrayMap',
        types: 'true',
        select: '0,1,2',
        values: "('1970-01-01 00:00:01.500',[1,2],NULL,1.5,{'a':1})",
        rows: '5009727800',
        view: '',
        none: '',
        show: 'findings',
        limited: '2',
        wrong: expect.stringMatching(/^Code: 47\. /),
        refused: expect.stringMatching(/^Code: 497\. /),
        internal: expect.stringMatching(/^Code: 497\. /),
        prepared: "5 it's",
      });
      await store.close();
      await embedded.stop();
    },
    600_000,
  );
});
