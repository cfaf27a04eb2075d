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
    tests: [
      'test/contracts/code.test.ts',
      ...tests('callback', 'code', 'history', 'history-window', 'known-history', 'reduce.property'),
      ...tests('refused-items', 'time', 'watch-message'),
    ],
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
    tests: [
      'ast',
      'canonical-tokens',
      'function-rules',
      'judge',
      'judge-text',
      'statement-kinds',
      'statement-tail',
      'tree-rules',
    ].map((name) => `test/collector/embedded/reader/${name}.test.ts`),
  },
};
