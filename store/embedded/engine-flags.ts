/** Of Node in the processes that load the engine: their own code makes few objects, and keeps fewer. */
export const ENGINE_FLAGS = ['--no-warnings', '--max-semi-space-size=4'];

/** Statements of writers that run at once; more wait their turn. */
export const MAX_WRITERS = 4;

/** Judging a reader's statement, ending one, and files that come and go meanwhile. */
const OTHER_CALLS = 6;

/**
 * Threads of the process that holds the data. The library is called on the pool that file access uses too:
 * one thread for every statement, and spare. Each keeps memory of the engine's at hand, so there are no more.
 */
export const engineThreads = (readers: number): number => MAX_WRITERS + readers + OTHER_CALLS;
