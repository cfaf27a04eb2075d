import { readRequest } from './judge-request.ts';
import type { ReaderPolicy } from './policy-client.ts';

/**
 * Lets every statement through as it came: for attacks of the project's own on the walls behind the gate. No
 * configuration takes the gate away.
 */
export function createNoPolicy(): ReaderPolicy {
  return {
    async judge(request) {
      const { text, params } = await readRequest(request);
      // What is not called a SELECT is run as it stands, whatever clauses it ends with.
      const statement = { kind: 'explain', sql: text, format: null, settings: [] } as const;
      return { params: params.filter(([name]) => name !== 'query'), statement };
    },
    close: () => undefined,
  };
}
