import { registerHooks } from 'node:module';

/**
 * Loaded into a collector before its own code (`node --import`): turns the order around in which a batch of
 * records is stored and its offset committed. A kill in between must then lose records, or the harness sees
 * nothing.
 */
const FILE = '/collector/sources/kafka/handle-batch.ts';
const HANDLE = 'const running = runHandler(slice, payload, ticket, context);';
const COMMIT = 'await commitOffset(payload, ticket, slice.next, context);';

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(FILE)) return loaded;
    const source = String(loaded.source);
    if (!source.includes(HANDLE) || !source.includes(COMMIT))
      throw new Error(
        `the control arm does not know ${FILE} any more: adapt test/chaos/control/early-commit.ts`,
      );
    return { ...loaded, source: source.replace(HANDLE, `${COMMIT}\n      ${HANDLE}`) };
  },
});
