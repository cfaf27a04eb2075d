import { registerHooks } from 'node:module';

/**
 * Loaded into a collector before its own code (`node --import`): turns the order around in which a batch of
 * records is stored and its offset committed, and has the group believed, whatever the store knows. A kill in
 * between must then lose records, or the harness sees nothing.
 */
const HANDLE = 'const running = runHandler(slice, payload, ticket, context);';
const COMMIT = 'await commitOffset(payload, ticket, slice.next, context);';

/** What is put in the place of what, by file. */
const CHANGES: Readonly<Record<string, readonly [before: string, after: string]>> = {
  '/collector/sources/kafka/handle-batch.ts': [HANDLE, `${COMMIT}\n      ${HANDLE}`],
  '/collector/sources/kafka/input.ts': ['storedEnds: handlers.storedEnds,', ''],
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const change = Object.entries(CHANGES).find(([file]) => url.endsWith(file));
    if (change === undefined) return loaded;
    const [file, [before, after]] = change;
    const source = String(loaded.source);
    if (!source.includes(before))
      throw new Error(
        `the control arm does not know ${file} any more: adapt test/chaos/control/early-commit.ts`,
      );
    return { ...loaded, source: source.replace(before, after) };
  },
});
