import { expect, test } from 'vitest';
import { CATALOGUE, REASONS, RESULTS, STAGES, STATES } from '../../schemas/dictionary.ts';
import { readDocument, tableRows } from './markdown.ts';

const named = (rows: readonly { code: number; name: string }[], digit: string | undefined) =>
  rows.find((row) => row.code === Number(digit))?.name;

const markdown = readDocument('docs/gateway-interface.md');

test('The reasons in the interface document are those of the dictionary, in order', () => {
  const documented = tableRows(markdown, /^\d\d$/);
  expect(documented).toEqual(
    REASONS.map((reason) => [String(reason.code).padStart(2, '0'), reason.group, reason.detail]),
  );
});

test('The catalogue in the interface document is that of the dictionary, spelt out segment by segment', () => {
  const expected = CATALOGUE.map(({ action }) => {
    const [a, c, b, rr] = action.split('.');
    const reason = REASONS.find((row) => row.code === Number(rr));
    return [
      action,
      named(STAGES, a),
      named(RESULTS, c),
      named(STATES, b),
      `${reason?.group}.${reason?.detail}`,
    ];
  });
  expect(tableRows(markdown, /^\d\.\d\.\d\.\d\d$/)).toEqual(expected);
});

test('The interface document keeps the section numbers that code cites', () => {
  const numbers = Array.from(markdown.matchAll(/^##+ (\d(?:\.\d)?)\.? /gm), (match) => match[1]);
  expect(numbers).toEqual(
    [
      '1',
      '2',
      '2.1',
      '2.2',
      '2.3',
      '2.4',
      '3',
      '4',
      '4.1',
      '4.2',
      '4.3',
      '4.4',
      '4.5',
      '4.6',
      '5',
      '6',
    ].concat(['6.1', '6.2', '6.3', '6.4', '7', '8', '9']),
  );
});
