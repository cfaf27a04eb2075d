import { defineConfig } from 'vitest/config';
import { partNamed } from './test/support/mutation-groups.ts';

const part = partNamed(process.env['GATEWATCH_MUTATE'] ?? '');
if (part === undefined)
  throw new TypeError('GATEWATCH_MUTATE: expected a group and a place in it, as decoder.0');

// The tests share no state, and most of a run's time would go into loading what they import anew.
export default defineConfig({ test: { include: [...part.tests], isolate: false, testTimeout: 60_000 } });
