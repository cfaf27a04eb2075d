import * as units from '@grafana/grafana-foundation-sdk/units';
import { describe, expect, it } from 'vitest';
import { VIEWS } from '../../schemas/names.ts';
import { DASHBOARDS } from '../../dashboards/uids.ts';
import { panelId } from '../../dashboards/house/ids.ts';
import { sdkCheck } from '../support/grafana-schema.ts';
import { dashboardFiles, drawnPanels, generatedDashboards, linksOf, queriesOf } from './generated.ts';

const boards = generatedDashboards();
const named = boards.map((board) => [board.title, board] as const);
const panels = boards.flatMap((board) =>
  drawnPanels(board).map((panel) => [`${board.title}: ${panel.title}`, panel] as const),
);
/** Panels that Grafana fills by itself. */
const WITHOUT_QUERY = new Set(['alertlist']);
const asking = panels.filter(([, panel]) => !WITHOUT_QUERY.has(panel.type));
const knownUnits = new Set<unknown>(Object.values(units));

describe('the JSON of dashboards', () => {
  const check = sdkCheck('dashboard', 'Dashboard');

  it.each(dashboardFiles().map(({ name, json }) => [name, json] as const))(
    '%s fits the types of the SDK',
    (_, json) => {
      expect(check(json)).toEqual([]);
    },
  );

  it('is refused by that check when it is wrong', () => {
    const json = structuredClone(dashboardFiles()[0]?.json) as { timezone: unknown; panelz?: unknown };
    expect(check({ ...json, panelz: [] })).not.toEqual([]);
    expect(check({ ...json, timezone: 7 })).not.toEqual([]);
  });
});

describe.each(named)('dashboard %s', (_, board) => {
  it('has a uid from the list, a tag, UTC, a refresh and no editing', () => {
    expect(Object.values(DASHBOARDS)).toContainEqual(
      expect.objectContaining({ uid: board.uid, title: board.title }),
    );
    expect(board.uid.length).toBeLessThanOrEqual(40);
    expect(board).toMatchObject({ tags: ['gatewatch'], timezone: 'utc', editable: false, refresh: '1m' });
    expect(board.description).not.toBe('');
  });

  it('has panel ids that differ', () => {
    const ids = board.panels.map((panel) => panel.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.min(...ids)).toBeGreaterThan(0);
  });

  it('lays panels out in 24 columns without overlap', () => {
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_cell, n) => ({ x: x + (n % w), y: y + Math.floor(n / w) })),
    );
    expect(new Set(cells.map(({ x, y }) => `${x},${y}`)).size).toBe(cells.length);
    expect(Math.max(...cells.map(({ x }) => x))).toBeLessThan(24);
  });

  it('uses only variables that it has, quoted, and under $__conditionalAll where All can be chosen', () => {
    const used: string[] = [];
    const note = (_match: string, name: string): string => {
      used.push(name);
      return '';
    };
    const outside = queriesOf(board).map(({ sql }) =>
      sql
        .replaceAll(CHOICE, (match, value: string, name: string) => note(match, value) + note(match, name))
        .replaceAll(/\$\{(order_id):singlequote\}/g, note),
    );
    expect(outside.filter((sql) => /\$\{|\$(?!__)\w/.test(sql))).toEqual([]);
    expect(board.templating.list.map(({ name }) => name)).toEqual(expect.arrayContaining(used));
    expect(used).toContain('gateway');
  });

  it('offers no variable that none of its panels uses', () => {
    const sql = queriesOf(board)
      .map((query) => query.sql)
      .join();
    const unused = board.templating.list
      .filter(({ type }) => type !== 'datasource')
      .filter(({ name }) => !sql.includes(`\${${name}:singlequote}`));
    expect(unused.map(({ name }) => name)).toEqual([]);
  });

  it('limits every query by time or to one order, and every list by rows', () => {
    const queries = queriesOf(board);
    const limited = (sql: string): boolean =>
      sql.includes('$__fromTime') || sql.includes('CAST([${order_id:singlequote}]');
    expect(queries.filter(({ sql }) => !limited(sql)).map(({ where }) => where)).toEqual([]);
    const lists = queries.filter(
      ({ where, format }) => (format === 1 || format === 3) && !isStat(board, where),
    );
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.filter(({ sql }) => !/LIMIT \d+$/.test(sql)).map(({ where }) => where)).toEqual([]);
  });

  it('reads public views only', () => {
    for (const { sql } of queriesOf(board)) {
      const read = [...sql.matchAll(/(?<!ARRAY )\b(?:FROM|JOIN) (\w+\.\w+)/g)].map(([, table = '']) => table);
      const views = new Set(Object.values(VIEWS).map((name) => `gatewatch.${name}`));
      expect(read.filter((table) => table !== 'system.tables' && !views.has(table))).toEqual([]);
    }
  });

  it('shows an n beside every share', () => {
    const shares = drawnPanels(board).filter(
      ({ fieldConfig, targets }) => fieldConfig?.defaults.unit === 'percentunit' && targets !== undefined,
    );
    const alone = shares.filter(
      ({ targets }) => !/\bAS (\w*orders|polls)\b/.test(targets?.[0]?.rawSql ?? ''),
    );
    expect(alone.map(({ title }) => title)).toEqual([]);
  });

  it('leads to dashboards and variables that exist, with the time range and the data source', () => {
    for (const panel of drawnPanels(board))
      for (const { title, url } of linksOf(panel)) {
        expect(title).not.toBe('');
        const [, uid = '', query = ''] = /^\/d\/([\w-]+)\?(.*)$/.exec(url) ?? [];
        const target = boards.find((candidate) => candidate.uid === uid);
        expect(target?.uid).toBe(uid);
        const parts = query.split('&');
        expect(parts).toEqual(expect.arrayContaining(['${__url_time_range}', '${datasource:queryparam}']));
        const kept = [...query.matchAll(/\$\{(\w+):queryparam\}/g)].map(([, name]) => name);
        const own = board.templating.list.map(({ name }) => name);
        expect(own).toEqual(expect.arrayContaining(kept));
        const set = [...query.matchAll(/var-(\w+)=/g)].map(([, name]) => name);
        expect(target?.templating.list.map(({ name }) => name)).toEqual(expect.arrayContaining(set));
        const columns = [...query.matchAll(/__data\.fields\.(\w+)/g)].map(([, name]) => name ?? '');
        const sql = panel.targets?.[0]?.rawSql ?? '';
        expect(columns.filter((name) => !new RegExp(`\\b${name}\\b`).test(sql))).toEqual([]);
      }
  });

  it('fills its variables from the chosen data source, whenever the time range changes', () => {
    for (const variable of board.templating.list.filter(({ type }) => type === 'query'))
      expect(variable).toMatchObject({
        datasource: { uid: '${datasource}' },
        refresh: 2,
        includeAll: true,
        // A typed value would reach the SQL.
        allowCustomValue: false,
        label: expect.any(String),
      });
    expect(board.templating.list[0]).toMatchObject({ type: 'datasource', name: 'datasource' });
  });

  it('hides no link and no annotation in a menu', () => {
    expect(JSON.stringify([board.links, board.annotations])).not.toContain('inControlsMenu');
  });
});

describe.each(panels)('panel %s', (_, panel) => {
  const defaults = panel.fieldConfig?.defaults;

  it('says what it shows, in which unit, and what it means when there is nothing', () => {
    expect(panel.title).not.toBe('');
    expect(panel.description?.length ?? 0).toBeGreaterThan(80);
    expect(defaults?.noValue ?? '').not.toBe('');
    expect(defaults?.thresholds?.steps.length ?? 0).toBeGreaterThan(0);
    expect(defaults?.thresholds?.steps[0]?.value).toBeNull();
    expect(defaults?.color?.mode ?? '').not.toBe('');
    expect(panel.interval).toBe('1m');
  });

  it('uses units that Grafana knows', () => {
    const overrides = (panel.fieldConfig?.overrides ?? []).flatMap(({ properties }) => properties);
    const used = [defaults?.unit, ...overrides.filter(({ id }) => id === 'unit').map(({ value }) => value)];
    expect(used.filter((unit) => !knownUnits.has(unit))).toEqual([]);
  });

  it.skipIf(WITHOUT_QUERY.has(panel.type))('asks the chosen data source', () => {
    expect(panel.targets?.length).toBe(1);
    expect(panel.datasource?.uid).toBe('${datasource}');
    for (const target of panel.targets ?? []) {
      expect(target.datasource).toEqual({ type: 'grafana-clickhouse-datasource', uid: '${datasource}' });
      expect(target.queryType).toBe({ 0: 'timeseries', 1: 'table', 3: 'traces' }[target.format]);
      expect(target.format === 3).toBe(panel.type === 'traces');
    }
  });

  it('overrides only columns that its query has', () => {
    const sql = panel.targets?.[0]?.rawSql ?? '';
    const names = (panel.fieldConfig?.overrides ?? [])
      .filter(({ matcher }) => matcher.id === 'byName')
      .map(({ matcher }) => matcher.options);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(sql))).toEqual([]);
  });
});

describe.each(panels.filter(([, panel]) => panel.type === 'timeseries'))('time series %s', (_, panel) => {
  it('has a legend and a tooltip', () => {
    expect(panel.options?.legend?.showLegend).toBe(true);
    expect(panel.options?.tooltip?.mode).toBe('multi');
  });
});

describe('names of series', () => {
  it.each(asking)('%s: uses labels that its query has', (_, panel) => {
    const sql = panel.targets?.[0]?.rawSql ?? '';
    const labels = [...JSON.stringify(panel.fieldConfig).matchAll(/__field\.labels\.(\w+)/g)].map(
      ([, name]) => name,
    );
    expect(labels.filter((name) => !new RegExp(`\\b${name}\\b`).test(sql))).toEqual([]);
    expect(JSON.stringify(panel.fieldConfig)).not.toContain('undefined');
  });
});

describe('the dashboards together', () => {
  it('are those of the list, each with its own uid', () => {
    expect(boards.map(({ uid }) => uid).toSorted()).toEqual(
      Object.values(DASHBOARDS)
        .map(({ uid }) => uid)
        .toSorted(),
    );
  });

  it('lead from every dashboard that counts orders to single orders, and back', () => {
    const targets = (board: (typeof boards)[number]): Set<string> =>
      new Set(
        drawnPanels(board)
          .flatMap(linksOf)
          .map(({ url }) => url.replace(/^\/d\/|\?.*$/g, '')),
      );
    const reaches = (from: string, to: string): boolean => {
      const seen = new Set<string>();
      const next = [from];
      for (let uid = next.pop(); uid !== undefined; uid = next.pop()) {
        if (seen.has(uid)) continue;
        seen.add(uid);
        const board = boards.find((one) => one.uid === uid);
        if (board !== undefined) next.push(...targets(board));
      }
      return seen.has(to);
    };
    const apart = boards.filter(({ uid }) => !reaches(uid, DASHBOARDS.order.uid));
    expect(apart.map(({ uid }) => uid)).toEqual([DASHBOARDS.pipeline.uid]);
    expect(reaches(DASHBOARDS.order.uid, DASHBOARDS.failures.uid)).toBe(true);
  });

  it('link to each other with time range and variables', () => {
    for (const { links } of boards)
      expect(links).toContainEqual(
        expect.objectContaining({
          type: 'dashboards',
          tags: ['gatewatch'],
          keepTime: true,
          includeVars: true,
        }),
      );
  });

  it('give one meaning one colour', () => {
    const colours = new Map<string, Set<unknown>>();
    for (const [, panel] of panels)
      for (const { matcher, properties } of panel.fieldConfig?.overrides ?? []) {
        const colour = properties.find(({ id }) => id === 'color')?.value as
          { fixedColor?: string } | undefined;
        if (colour?.fixedColor !== undefined)
          colours.set(matcher.options, (colours.get(matcher.options) ?? new Set()).add(colour.fixedColor));
      }
    expect([...colours].filter(([, seen]) => seen.size > 1).map(([name]) => name)).toEqual([]);
    expect(colours.size).toBeGreaterThan(20);
  });
});

describe('panel ids', () => {
  it('are not shared by panels of different dashboards', () => {
    const ids = boards.flatMap((board) => board.panels.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('follow from the key alone', () => {
    expect(panelId('tech-timeouts')).toBe(5_183_212);
    expect(panelId('tech-timeouts')).not.toBe(panelId('authz-failures'));
  });
});

/** A choice of a variable that can be All. */
const CHOICE =
  /\$__conditionalAll\((?:\w+|leftPad\(toString\(\w+\), 2, '0'\)|arrayElement\(\[[^\]]*\], intDiv\(\w+, 10\) \+ 1\)) IN \(\$\{(\w+):singlequote\}\), \$(\w+)\)/g;

const isStat = (board: (typeof boards)[number], where: string): boolean =>
  board.panels.some((panel) => panel.type === 'stat' && where === `panel "${panel.title}"`);
