import { fail, ok, type Check } from './check.ts';

const OLDEST = 24;

/** The runtime has what the collector needs (design D1). */
export function nodeCheck(version: string): Check {
  return {
    name: 'node',
    async run() {
      const major = Number(version.split('.')[0]);
      if (major >= OLDEST) return [ok('node', `Node.js ${version}.`)];
      const advice = `Install Node.js ${OLDEST} or newer; in the repository 'npm ci' brings it, and npm scripts use it.`;
      return [fail('node', `Node.js ${version} is too old.`, advice)];
    },
  };
}
