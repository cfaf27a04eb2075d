import { defineConfig } from 'vitest/config';
import { partNamed } from './test/support/mutation-groups.ts';

const part = partNamed(process.env['GATEWATCH_MUTATE'] ?? '');
if (part === undefined)
  throw new TypeError('GATEWATCH_MUTATE: expected a group and a place in it, as decoder.0');

export default defineConfig({
  // Hundreds of changes, each with its own run: properties are tried with fewer examples, which can only make
  // the result worse.
  plugins: [
    {
      name: 'fewer-runs',
      // Before types are stripped: numbers are written in another way then.
      enforce: 'pre',
      transform: (code, id) =>
        id.endsWith('.test.ts') ? code.replace(/numRuns: [\d_]+/g, 'numRuns: 200') : null,
    },
  ],
  // The tests share no state, and most of a run's time would go into loading what they import anew.
  test: { include: [...part.tests], isolate: false, testTimeout: 60_000 },
});
