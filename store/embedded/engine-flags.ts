/** Of Node in the processes that load the engine: their own code makes few objects, and keeps fewer. */
export const ENGINE_FLAGS = ['--no-warnings', '--max-semi-space-size=4'];
