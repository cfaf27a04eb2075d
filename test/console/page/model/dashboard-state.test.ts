import { describe, expect, it } from 'vitest';
import {
  atTime,
  draggedRange,
  hrefWith,
  keptVariables,
  openDashboard,
  scopeOf,
  sectionsOf,
  withLoaded,
} from '../../../../console/page/model/dashboard-state.ts';
import type { Dashboard, Panel } from '../../../../console/page/model/types.ts';
import { readUrl } from '../../../../console/page/model/url-state.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const board: Dashboard = {
  uid: 'one',
  title: 'One',
  time: { from: 'now-3h', to: 'now' },
  refresh: '1m',
  panels: [],
  templating: { list: [{ name: 'gateway', type: 'query', includeAll: true }] },
};
const opened = (search = '', file: Dashboard = board) => openDashboard(file, readUrl('/d/one', search), NOW);

describe('an opened dashboard', () => {
  it('takes what the address says, then what its file says, then six hours', () => {
    expect(opened('?from=now-1h&to=now&refresh=5s&var-gateway=acme&viewPanel=7').address).toEqual({
      uid: 'one',
      range: { from: 'now-1h', to: 'now' },
      refresh: '5s',
      variables: { gateway: ['acme'] },
      viewPanel: 7,
    });
    expect(opened().address).toMatchObject({
      range: board.time,
      refresh: '1m',
      variables: { gateway: ['$__all'] },
    });
    expect(opened('', { uid: 'one', title: 'One', refresh: false, panels: [] }).address).toMatchObject({
      range: { from: 'now-6h', to: 'now' },
      refresh: '',
    });
  });

  it('shows the last six hours where its range is none', () => {
    expect(opened('?from=nonsense&to=now').times).toEqual({ from: NOW - 21_600_000, to: NOW });
  });

  it('moves on with the clock where its range is relative, and keeps its last range otherwise', () => {
    expect(atTime(opened(), NOW + 5_000).times).toEqual({ from: NOW - 10_795_000, to: NOW + 5_000 });
    const broken = opened('?from=nonsense&to=now');
    expect(atTime(broken, NOW + 5_000).times).toEqual(broken.times);
  });

  it('asks within its range and its chosen values', () => {
    expect(scopeOf(opened('?var-gateway=acme'))).toEqual({
      dashboard: 'one',
      from: NOW - 10_800_000,
      to: NOW,
      variables: { gateway: ['acme'] },
    });
  });

  it('keeps what it had where loading fails', () => {
    const option = { value: 'acme', text: 'Acme' };
    const note = { time: 1, timeEnd: null, title: 'a', text: '', tags: [], colour: 'blue' };
    const loaded = withLoaded(
      opened(),
      { options: { gateway: [option] }, errors: {} },
      { annotations: [note], errors: [] },
    );
    expect(loaded).toMatchObject({ options: { gateway: [option] }, annotations: [note] });
    expect(withLoaded(loaded, null, null)).toEqual(loaded);
  });

  it('has an address with one thing changed', () => {
    const state = opened('?var-gateway=acme');
    expect(hrefWith(state, { viewPanel: 7 })).toBe(
      '/d/one?var-gateway=acme&from=now-3h&to=now&refresh=1m&viewPanel=7',
    );
    expect(hrefWith(state, { range: draggedRange(1_000.4, 1_000.6), refresh: '' })).toBe(
      '/d/one?var-gateway=acme&from=1000&to=2000',
    );
  });
});

it('a link to another dashboard keeps what is chosen, not what is left open', () => {
  expect(keptVariables({ gateway: ['acme'], channel: ['$__all'], order_id: [''] })).toEqual({
    gateway: ['acme'],
  });
});

describe('the rows of a dashboard', () => {
  const panel = (id: number, y: number, type = 'stat', more: Partial<Panel> = {}): Panel => ({
    id,
    type,
    gridPos: { x: 0, y, w: 6, h: 4 },
    ...more,
  });
  const shown = (panels: readonly Panel[]) =>
    sectionsOf(panels).map(({ title, collapsed, panels: inner }) => [
      title,
      collapsed,
      inner.map(({ id }) => id),
    ]);

  it('hold the panels below them; a collapsed one carries its own', () => {
    expect(
      shown([
        panel(4, 9, 'row', { title: 'Closed', collapsed: true, panels: [panel(5, 10)] }),
        panel(3, 5),
        panel(2, 4, 'row', { title: 'Open' }),
        panel(1, 0),
      ]),
    ).toEqual([
      ['', false, [1]],
      ['Open', false, [3]],
      ['Closed', true, [5]],
    ]);
  });

  it('without a title are left out when they are empty', () => {
    expect(shown([panel(1, 0, 'row', { title: '' }), panel(2, 1, 'row', { title: 'Two' })])).toEqual([
      ['Two', false, []],
    ]);
  });
});
