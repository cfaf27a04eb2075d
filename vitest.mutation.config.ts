import { defineConfig } from 'vitest/config';
import { GROUPS } from './test/support/mutation-groups.ts';

const group = GROUPS[process.env['GATEWATCH_MUTATE'] ?? ''];
if (group === undefined) throw new TypeError('GATEWATCH_MUTATE: expected the name of a group');

export default defineConfig({ test: { include: [...group.tests], isolate: false, testTimeout: 60_000 } });
