import { expect, it } from 'vitest';
import { reduce } from '../../../../console/page/model/reduce.ts';
import { fieldOf } from './sample-fields.ts';

it.each([
  ['lastNotNull', 3],
  ['min', 1],
  ['max', 5],
  ['mean', 3],
  ['sum', 9],
  ['toString', null],
])('many values, by %s, are %s', (calc, expected) => {
  expect(reduce(fieldOf({}, 5, 1, 3, null), calc)).toBe(expected);
});
