/** What is mutated together, and the fast tests that must notice: no store, no broker, no process. */
export interface MutationPart {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

const decode = (...names: string[]): string[] => names.map((name) => `collector/decode/${name}.ts`);
const read = (...names: string[]): string[] => names.map((name) => `store/embedded/reader/${name}.ts`);
const tested = (...names: string[]): string[] => names.map((name) => `test/collector/decode/${name}.test.ts`);
const judged = (...names: string[]): string[] =>
  names.map((name) => `test/store/embedded/reader/${name}.test.ts`);

/** Files of the judge of readers' statements that have tests of their own name. */
const JUDGE = [
  'ast',
  'canonical-tokens',
  'function-rules',
  'judge',
  'statement-kinds',
  'statement-tail',
  'tree-rules',
] as const;

/** Each part by itself: a change to a constant runs all tests of its part. */
export const GROUPS: Readonly<Record<string, readonly MutationPart[]>> = {
  verifier: [
    {
      mutate: decode('signature'),
      tests: [...tested('callback', 'callback.property'), 'test/contracts/signature.test.ts'],
    },
  ],
  masking: [
    {
      mutate: ['schemas/card-search.ts', 'schemas/redact.ts'],
      tests: ['test/schemas/card-search.test.ts', 'test/schemas/redact.test.ts'],
    },
    { mutate: [...decode('fingerprint', 'grammar'), 'schemas/shape.ts'], tests: tested('grammar') },
  ],
  decoder: [
    { mutate: decode('code'), tests: [...tested('code'), 'test/contracts/code.test.ts'] },
    { mutate: decode('time'), tests: tested('time') },
    {
      mutate: decode('history', 'known-history', 'fold-order'),
      tests: tested(
        'history',
        'history-window',
        'known-history',
        'status-reply-refused-items',
        'fold-order',
        'status-reply.property',
      ),
    },
    {
      mutate: [...decode('callback', 'reduce'), 'schemas/watch-message.ts'],
      tests: [...tested('callback', 'reduce.property'), 'test/schemas/watch-message.test.ts'],
    },
  ],
  // Its tests read texts and trees that the engine made before.
  gate: [
    {
      mutate: read(...JUDGE),
      tests: judged(...JUDGE, 'judge-text'),
    },
  ],
};

/** A part by the name of its group and its place in it: `decoder.0`. */
export function partNamed(name: string): MutationPart | undefined {
  const [group = '', index] = name.split('.');
  return GROUPS[group]?.[Number(index)];
}
