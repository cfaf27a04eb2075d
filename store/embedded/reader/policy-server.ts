import type { Duplex } from 'node:stream';
import { fromEngineError } from '../clickhouse-error.ts';
import type { EngineSession } from '../engine.ts';
import { createFunctionRules, type FunctionCatalog } from './function-rules.ts';
import { judgeRequest } from './judge-request.ts';
import { receive, send, type PolicyQuestion } from './messages.ts';

export interface PolicyServerOptions {
  readonly channel: Duplex;
  readonly open: () => EngineSession;
  readonly catalog: FunctionCatalog;
  /** Ends the process at once. */
  readonly end: () => void;
  /** A statement that is not judged by then ends the process. @default 5000 */
  readonly deadlineMs?: number;
}

/** Statements judged at once. */
const SESSIONS = 2;
/** Bounds of the parser. Memory is that of one statement; a bomb of a few kilobytes needs more. */
export const PARSER_SETTINGS = {
  max_query_size: 16_777_216,
  max_parser_depth: 600,
  max_parser_backtracks: 200_000,
  max_ast_depth: 600,
  max_ast_elements: 50_000,
  max_memory_usage: 268_435_456,
  max_threads: 1,
  implicit_select: 0,
} as const;

/** Answers questions one after the other on each of a few sessions. */
export function servePolicy({ channel, open, catalog, end, deadlineMs = 5_000 }: PolicyServerOptions): void {
  const rules = createFunctionRules(catalog);
  const waiting: PolicyQuestion[] = [];
  const idle: EngineSession[] = [];
  for (let i = 0; i < SESSIONS; i++) idle.push(open());
  const settings = Object.entries(PARSER_SETTINGS).map(([name, value]) => `${name} = ${value}`);
  const isReady = Promise.all(idle.map((session) => session.query(`SET ${settings.join(', ')}`, 'TSVRaw')));

  async function answer({ id, request }: PolicyQuestion, session: EngineSession): Promise<void> {
    const timer = setTimeout(() => {
      send(channel, { id, stuck: true });
      // The engine works on and cannot be interrupted. What is written is on its way when the next turn
      // begins.
      setImmediate(end);
    }, deadlineMs);
    try {
      await isReady;
      const ask = async (sql: string) => (await session.query(sql, 'TSVRaw')).text();
      const verdict = await judgeRequest(request, ask, rules);
      send(channel, { id, verdict });
    } catch (error) {
      const { clickhouseCode, message } = fromEngineError(error);
      send(channel, { id, code: clickhouseCode, message });
    } finally {
      clearTimeout(timer);
    }
  }

  function pump(): void {
    for (let session = idle.pop(); session !== undefined; session = idle.pop()) {
      const next = waiting.shift();
      if (next === undefined) return void idle.push(session);
      const used = session;
      void answer(next, used).then(() => {
        idle.push(used);
        pump();
      });
    }
  }

  receive<PolicyQuestion>(channel, (question) => {
    waiting.push(question);
    pump();
  });
}
