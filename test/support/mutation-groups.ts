/** What is mutated together, and the fast tests that must notice: no store, no broker, no process. */
export interface MutationGroup {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

const decode = (...names: string[]): string[] => names.map((name) => `collector/decode/${name}.ts`);
const read = (...names: string[]): string[] => names.map((name) => `collector/embedded/reader/${name}.ts`);
const tests = (...names: string[]): string[] => names.map((name) => `test/collector/decode/${name}.test.ts`);

export const GROUPS: Readonly<Record<string, MutationGroup>> = {
  verifier: {
    mutate: decode('signature'),
    tests: [...tests('callback', 'callback.property'), 'test/contracts/signature.test.ts'],
  },
  masking: {
    mutate: decode('card-search', 'fingerprint', 'grammar', 'redact'),
    tests: tests('card-search', 'grammar', 'redact'),
  },
  decoder: {
    mutate: decode('code', 'callback', 'history', 'reduce', 'time', 'watch-message', 'known-history'),
    tests: [...tests('*', '*.property'), 'test/contracts/code.test.ts'],
  },
  gate: {
    mutate: read(
      'judge',
      'function-rules',
      'statement-tail',
      'canonical-tokens',
      'tree-rules',
      'parameters',
      'statement-kinds',
      'ast',
    ),
    // On texts and trees that the engine made before.
    tests: ['judge', 'canonical-tokens', 'statement-tail', 'function-rules', 'tree-rules', 'ast'].map(
      (name) => `test/collector/embedded/reader/${name}.test.ts`,
    ),
  },
};
