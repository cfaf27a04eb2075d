import type { EngineSession } from '../engine.ts';
import type { FunctionCatalog } from './function-rules.ts';

/** Asks the engine which functions it has. */
export async function readCatalog(session: Pick<EngineSession, 'query'>): Promise<FunctionCatalog> {
  const sql = `
    SELECT lower(name), if(alias_to = '', name, alias_to) FROM system.functions
    UNION ALL SELECT lower(name), '' FROM system.table_functions`;
  const functions = new Map<string, string>();
  const tableFunctions = new Set<string>();
  for (const line of (await session.query(sql, 'TSVRaw')).text().trimEnd().split('\n')) {
    const [name = '', meant = ''] = line.split('\t');
    if (meant === '') tableFunctions.add(name);
    else functions.set(name, meant);
  }
  return { functions, tableFunctions };
}
