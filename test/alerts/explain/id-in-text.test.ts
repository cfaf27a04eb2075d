import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { idInText } from '../../../alerts/explain/id-in-text.ts';

it.each([
  ['7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d', '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d'],
  ['order_1', 'order_1'],
  ['SO 12', '"SO 12"'],
  ['#1001', '"#1001"'],
  ['Заказ-15', '"Заказ-15"'],
  ['https://evil.example/login/g6', '"https%3A%2F%2Fevil%2Eexample%2Flogin%2Fg6"'],
  ['<https://evil.example|click>', '"%3Chttps%3A%2F%2Fevil%2Eexample%7Cclick%3E"'],
  ['[click](//evil)', '"%5Bclick%5D%28%2F%2Fevil%29"'],
  ['50%', '"50%25"'],
])('%s is shown as %s', (id, text) => {
  expect(idInText(id)).toBe(text);
});

it('holds nothing that chat or mail makes a link or markup of, and can be read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), (id) => {
      const text = idInText(id);
      expect(text).not.toMatch(/[.:/@<>&*`~|()[\]\\]/);
      const quoted = /^"(.*)"$/su.exec(text)?.[1];
      expect(quoted === undefined ? text : decodeURIComponent(quoted)).toBe(id);
    }),
  );
});
