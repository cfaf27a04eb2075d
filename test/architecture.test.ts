import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCycle, ROOT, sourceFiles, type Import } from './contracts/source-tree.ts';

/**
 * Programs start here. Nothing else reads `process`: settings, clocks and signals come in as arguments.
 */
const ENTRY_POINTS: ReadonlySet<string> = new Set([
  'cli/main.ts',
  'store/embedded/child.ts',
  'store/embedded/reader/policy-process.ts',
  'store/generate.ts',
  'sandbox/main.ts',
  'sandbox/demo.ts',
  'dashboards/generate.ts',
  'console/build-page.ts',
  'alerts/grafana/generate.ts',
  'docs/generate.ts',
]);

/**
 * Where each library that can be changed for another lives, so that one file or folder shows all that we ask
 * of it.
 */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  kafkajs: ['collector/sources/kafka/'],
  'lz4-napi': ['collector/sources/kafka/', 'store/embedded/'],
  snappy: ['collector/sources/kafka/'],
  '@clickhouse/client': ['store/store.ts'],
  'apache-arrow': ['store/arrow.ts', 'store/arrow-buffers.ts'],
  chdb: ['store/embedded/'],
  koffi: ['store/embedded/'],
  '@grpc/grpc-js': ['collector/sinks/otlp/'],
  '@opentelemetry/otlp-exporter-base': ['collector/sinks/otlp/'],
  '@opentelemetry/otlp-grpc-exporter-base': ['collector/sinks/otlp/'],
  '@opentelemetry/otlp-transformer': ['collector/sinks/otlp/'],
  '@opentelemetry/exporter-metrics-otlp-grpc': ['collector/telemetry/'],
  '@opentelemetry/exporter-metrics-otlp-http': ['collector/telemetry/'],
  '@opentelemetry/exporter-metrics-otlp-proto': ['collector/telemetry/'],
  '@opentelemetry/exporter-prometheus': ['collector/telemetry/'],
  '@opentelemetry/sdk-node': ['collector/telemetry/'],
  '@opentelemetry/sdk-metrics': ['collector/telemetry/'],
  tinyqueue: ['collector/orders/due-queue.ts', 'sandbox/agenda.ts'],
  // The sandbox is a program of its own: it sends callbacks, the collector reads orders.
  undici: ['collector/sources/gateway/', 'sandbox/sender.ts'],
  '@grafana/grafana-foundation-sdk': ['dashboards/', 'alerts/grafana/'],
  // The console's page draws with it, in a browser.
  uplot: ['console/page/'],
  marked: ['console/page/model/markdown.ts'],
  rolldown: ['console/build-page.ts'],
};

/** Files whose own loader asks for a default export. */
const DEFAULT_EXPORTS: ReadonlySet<string> = new Set(['test/support/kafka-broker.ts']);

/** Imports that the parser cannot follow, each with a reason why it must be one. */
const HIDDEN_IMPORTS: ReadonlySet<string> = new Set([
  // Reach into a CommonJS library that exports no such thing.
  'collector/sources/kafka/bounded-fetch.ts',
  'collector/sources/kafka/kafkajs-patches.ts',
]);

const files = sourceFiles();
const product = files.filter(({ path }) => !path.startsWith('test/'));
const imports = files.flatMap((file) => file.imports);
const productImports = product.flatMap((file) => file.imports);

const under = (path: string | null, ...folders: string[]) =>
  path !== null &&
  folders.some((folder) => path === folder || (folder.endsWith('/') && path.startsWith(folder)));
const shown = (some: readonly Import[]) => some.map(({ from, specifier }) => `${from} imports ${specifier}`);
/** The imports of the files under a folder that the rule does not allow. */
const strangers = (folder: string, allowed: (one: Import) => boolean) =>
  shown(productImports.filter((one) => one.from.startsWith(folder) && !allowed(one)));
describe('the tree', () => {
  it('is read whole: every folder has files, and every one of ours that is imported exists', () => {
    const folders = new Set(files.map(({ path }) => path.split('/')[0]));
    expect([...folders]).toEqual(
      expect.arrayContaining([...Object.keys(ROOMS).map((room) => room.split('/')[0]), 'cli', 'test']),
    );
    const known = new Set(files.map(({ path }) => path));
    expect(
      shown(imports.filter(({ file }) => file !== null && file.endsWith('.ts') && !known.has(file))),
    ).toEqual([]);
  });

  it('names its files in kebab-case', () => {
    const odd = files.filter(({ path }) =>
      path.split('/').some((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(name)),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  it('exports by name, with no file that only passes on what others export', () => {
    const byDefault = files.filter(({ path, defaultExport }) => defaultExport && !DEFAULT_EXPORTS.has(path));
    expect(byDefault.map(({ path }) => path)).toEqual([]);
    expect(files.filter(({ barrel }) => barrel).map(({ path }) => path)).toEqual([]);
  });

  it('imports its own files by their real names', () => {
    expect(shown(imports.filter(({ file }) => file !== null && !/\.(ts|json)$/.test(file)))).toEqual([]);
  });

  it('has no cycle of imports', () => {
    expect(findCycle(files)).toBeNull();
  });

  it('hides no import from these rules', () => {
    const hidden = product.filter(
      ({ path, hiddenImports }) => hiddenImports.length > 0 && !HIDDEN_IMPORTS.has(path),
    );
    expect(hidden.map(({ path, hiddenImports }) => `${path}: ${hiddenImports.join()}`)).toEqual([]);
  });
});

/**
 * Who may import whom: a room sees itself and the rooms beside its name. The longest name that fits counts.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'schemas/': [],
  'collector/decode/': ['schemas/'],
  // Its memory is in the store; how many ids one statement can take is the store's to say.
  'collector/orders/': ['schemas/', 'collector/decode/', 'collector/telemetry/', 'store/pieces.ts'],
  'collector/sources/': ['schemas/', 'collector/telemetry/'],
  'collector/sinks/': ['schemas/', 'collector/telemetry/', 'store/'],
  'collector/config/': ['schemas/'],
  'collector/telemetry/': ['schemas/'],
  'collector/': ['schemas/'],
  'collector/parts/': [],
  'store/': ['schemas/'],
  // Pages link to panels.
  'alerts/': ['schemas/', 'store/', 'dashboards/house/ids.ts', 'dashboards/uids.ts'],
  // What each job does is at home in its own room.
  'jobs/': ['schemas/', 'store/', 'alerts/'],
  'alerts/grafana/': ['schemas/', 'alerts/', 'dashboards/house/', 'dashboards/uids.ts'],
  'dashboards/': ['schemas/'],
  'console/server/': ['schemas/', 'store/'],
  'console/page/': ['schemas/'],
  'console/': ['schemas/', 'store/'],
  'operate/': ['schemas/', 'store/'],
  'sandbox/': ['schemas/'],
  'docs/': ['schemas/', 'store/', 'alerts/', 'dashboards/', 'cli/'],
};

/** Files that put rooms together. */
const COMPOSERS = [
  'collector/parts/',
  'collector/wire.ts',
  'collector/offline.ts',
  'vitest.mutation.config.ts',
];
/** Modules of ours that one part of the collector may import: a reader keeps no more in mind. */
const MOST_IMPORTS = 12;

/** Imports that the rules forbid and a decision allows. Each is still there: the list only gets shorter. */
const EXCEPTIONS: readonly string[] = [
  'store/order-timeline.ts -> collector/decode/code.ts',
  'store/order-timeline.ts -> collector/decode/fold-order.ts',
  'store/order-timeline.ts -> collector/decode/history.ts',
  'store/order-timeline.ts -> collector/decode/ids.ts',
  'store/order-timeline.ts -> collector/decode/time.ts',
];

const roomOf = (path: string): string =>
  Object.keys(ROOMS)
    .filter((room) => path.startsWith(room))
    .toSorted((a, b) => b.length - a.length)[0] ?? '';
/**
 * `collector/sinks/clickhouse/` of a file within it; '' for a file that lies directly in its side's folder.
 */
const adapterOf = (path: string) => /^collector\/(?:sources|sinks)\/[^/]+\//.exec(path)?.[0] ?? '';

function isAllowed({ from, file }: Import): boolean {
  if (file === null || under(from, ...COMPOSERS) || from.startsWith('cli/')) return true;
  const room = roomOf(from);
  if (under(file, ...(ROOMS[room] ?? []))) return true;
  // An adapter knows what its side shares, and no other adapter.
  const other = adapterOf(file);
  return roomOf(file) === room && (other === '' || other === adapterOf(from));
}

describe('who may import whom', () => {
  it('each room sees itself and what its row says', () => {
    const forbidden = productImports
      .filter((one) => !isAllowed(one))
      .map(({ from, file }) => `${from} -> ${file}`);
    expect([...new Set(forbidden)].toSorted()).toEqual(EXCEPTIONS.toSorted());
  });

  it('each part of the collector imports a dozen modules of ours at most', () => {
    const modules = product.filter(({ path }) => under(path, 'collector/parts/', 'collector/wire.ts'));
    const many = modules.filter(
      (one) => one.imports.filter(({ file }) => file !== null).length > MOST_IMPORTS,
    );
    expect(many.map(({ path }) => path)).toEqual([]);
  });

  it('1: schemas use zod and no other library', () => {
    expect(strangers('schemas/', ({ library }) => library === null || library === 'zod')).toEqual([]);
  });

  it('2: decode is pure: node:crypto, and other libraries as types only', () => {
    const typesOnly = /^(zod|@opentelemetry\/.*)$/;
    const allowed = ({ library, typeOnly }: Import) =>
      library === null || library === 'node:crypto' || (typeOnly && typesOnly.test(library));
    expect(strangers('collector/decode/', allowed)).toEqual([]);
  });

  it('3: orders know no transport', () => {
    const allowed = ({ library }: Import) =>
      library === null || /^(zod|node:crypto|tinyqueue)$/.test(library);
    expect(strangers('collector/orders/', allowed)).toEqual([]);
  });

  it('4: process is used in entry points only', () => {
    const users = product.filter(({ usesProcess }) => usesProcess).map(({ path }) => path);
    expect(users.filter((path) => !ENTRY_POINTS.has(path))).toEqual([]);
  });

  it('5: the page of the console, which runs in a browser, knows schemas as types only', () => {
    expect(strangers('console/page/', ({ file, typeOnly }) => !under(file, 'schemas/') || typeOnly)).toEqual(
      [],
    );
  });

  it('6: nothing imports the generators of the docs', () => {
    const outside = productImports.filter(({ from }) => !from.startsWith('docs/'));
    expect(shown(outside.filter(({ file }) => under(file, 'docs/')))).toEqual([]);
  });

  it('6: only tests import tests', () => {
    expect(strangers('', ({ file }) => !under(file, 'test/'))).toEqual([]);
  });

  it('6: nothing imports generated files', () => {
    expect(shown(imports.filter(({ file }) => file !== null && /(^|\/)out\//.test(file)))).toEqual([]);
  });

  it.each(Object.entries(HOMES))('7: %s appears in its home only', (library, homes) => {
    const away = productImports.filter((one) => one.library === library && !under(one.from, ...homes));
    expect(shown(away)).toEqual([]);
  });

  it('7: every Kafka, ClickHouse, OpenTelemetry and HTTP client has a home', () => {
    const client =
      /^(kafka|@confluentinc|@platformatic\/kafka|@?clickhouse|chdb|@opentelemetry\/(exporter|sdk)|undici|axios|got|node-fetch)/;
    const homeless = productImports.filter(
      ({ library }) => client.test(library ?? '') && !((library ?? '') in HOMES),
    );
    expect(shown(homeless)).toEqual([]);
  });
});

describe('functions', () => {
  const long = product
    .flatMap(({ path, functions }) =>
      functions.map(({ name, lines }) => ({ lines, place: `${path}: ${name}` })),
    )
    .filter(({ lines }) => lines > 60);

  it('have at most 100 lines, texts such as SQL not counted', () => {
    expect(long.filter(({ lines }) => lines > 100)).toEqual([]);
  });

  it('have at most 60 lines, but for ten of them', () => {
    const beyond = long.toSorted((a, b) => b.lines - a.lines).slice(10);
    expect(beyond.map(({ lines, place }) => `${lines} ${place}`)).toEqual([]);
  });
});

describe('comments', () => {
  it('have at most 110 columns, as the formatter keeps for code', () => {
    const prose = /^\s*(?:\*|\/\/|\/\*\*?) (?! |oxlint)/;
    const wide = files.flatMap(({ path }) =>
      readFileSync(join(ROOT, path), 'utf8')
        .split('\n')
        .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
        .filter(({ line }) => line.length > 110 && prose.test(line)),
    );
    expect(wide.map(({ place }) => place)).toEqual([]);
  });
});

describe('tests', () => {
  it('use real parts: no module is mocked', () => {
    expect(files.flatMap(({ path, mocks }) => mocks.map((call) => `${path}: ${call}`))).toEqual([]);
  });

  /** Folders of tests that are about the product as a whole, or about something that is not code. */
  const KINDS: ReadonlySet<string> = new Set([
    'attacks',
    'bench',
    'chaos',
    'compose',
    'contracts',
    'deploy',
    'docs',
    'e2e',
    'golden',
    'guide',
    'integration',
    'lab',
    'supply-chain',
    'support',
  ]);

  it('mirror the tree: each stands where its file stands, and begins with the name of that file', () => {
    const names = new Map<string, string[]>();
    for (const { path } of product) {
      const parts = path.replace(/\.ts$/, '').split('/');
      parts.forEach((name, depth) => {
        const folder = parts.slice(0, depth).join('/');
        names.set(folder, [...(names.get(folder) ?? []), name]);
      });
    }
    const lost = files
      .map(({ path }) => path)
      .filter((path) => /^test\/.+\/.+\.test\.ts$/.test(path) && !KINDS.has(path.split('/')[1] ?? ''))
      .filter((path) => {
        const folder = path.split('/').slice(1, -1).join('/');
        const test =
          path
            .split('/')
            .at(-1)
            ?.replace(/(\.property)?\.test\.ts$/, '') ?? '';
        return !(names.get(folder) ?? []).some((name) => test === name || test.startsWith(`${name}-`));
      });
    expect(lost).toEqual([]);
  });
});

describe('the repository', () => {
  it('declares every library that what is published uses', () => {
    const declared = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const named = new Set(Object.keys({ ...declared['dependencies'], ...declared['optionalDependencies'] }));
    // Builds what is published, and is not published itself.
    const shipped = productImports.filter(({ from }) => from !== 'console/build-page.ts');
    const missing = shipped.filter(
      ({ library }) => library !== null && !library.startsWith('node:') && !named.has(library),
    );
    expect([...new Set(missing.map(({ library }) => library))]).toEqual([]);
  });
});
