import { FINDING_KINDS } from '../../schemas/findings.ts';
import { VIEWS } from '../../schemas/names.ts';
import { REJECT_REASONS } from '../../schemas/rows.ts';
import { code, GENERATED, page, table } from './markdown.ts';
import { CALLED_VIEW_DOCS, type CalledViewDoc } from './called-view-docs.ts';
import { readViewDocs, type ViewDoc } from './view-docs.ts';

/** docs/reference/views.md: the public views with grain, columns and units. */
export function viewsPage(): string {
  return page(
    '# Views',
    GENERATED,
    'The views of the database `gatewatch` are the public interface for dashboards, alerts and analysts. They show each thing ' +
      'exactly once, and they change only with a note in the CHANGELOG. Tables whose names end in `_store`, ' +
      '`order_watch` and `ingest_ledger` are internal.',
    "Type `Time` stands for `DateTime64(6, 'UTC')`: an instant with microseconds. All times are UTC.",
    ...documented().map(viewSection),
    ...CALLED_VIEW_DOCS.map(calledViewSection),
    '## Kinds of findings',
    table(
      ['Kind', 'Side', 'Meaning'],
      Object.entries(FINDING_KINDS).map(([kind, { sides, meaning }]) => [
        code(kind),
        sides.join(', '),
        meaning,
      ]),
    ),
    '## Reasons of rejects',
    `${REJECT_REASONS.map(code).join(', ')}`,
  );
}

/** In the order in which the names stand. */
function documented(): readonly ViewDoc[] {
  const names: readonly string[] = Object.values(VIEWS);
  return readViewDocs().toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
}

function viewSection(view: ViewDoc): string {
  const rows = view.columns.map((column) => [code(column.name), code(column.type), column.text]);
  return [
    `## ${view.name}`,
    `Grain: ${view.grain}.`,
    view.notes.map((note) => `- ${note}`).join('\n'),
    table(['Column', 'Type', 'Meaning'], rows),
  ].join('\n\n');
}

function calledViewSection({ name, grain, text, columns }: CalledViewDoc): string {
  const how = `Called with an evaluation: \`${name}(rule='...', gateway='...', from='...', to='...', as_of='...')\`, the times those of \`window_from\`, \`window_to\` and \`as_of\`. Rules over a number have no rows.`;
  const rows = columns.map((column) => [code(column.name), code(column.type), column.text]);
  return [
    `## ${name}`,
    `Grain: ${grain}.`,
    `- ${text}\n- ${how}`,
    table(['Column', 'Type', 'Meaning'], rows),
  ].join('\n\n');
}
