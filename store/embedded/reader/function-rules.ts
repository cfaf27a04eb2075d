import type { EngineSession } from '../engine.ts';
import { aggregateCombinators, allowedFunctions, type AllowedNames } from './allowed-functions.ts';
import { allowedTableFunctions } from './allowed-tables.ts';

/**
 * What the engine knows: every name in lower case, with the function that it stands for (itself, unless it is
 * an alias).
 */
export interface FunctionCatalog {
  readonly functions: ReadonlyMap<string, string>;
  readonly tableFunctions: ReadonlySet<string>;
}

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

/**
 * Decides by name which functions a reader may use. Names are compared in lower case, as some of them are to
 * the engine.
 */
export interface FunctionRules {
  /** The function that a name stands for, in lower case: itself, unless it is an alias. */
  readonly meant: (name: string) => string;
  /** May a function of this name be called? Names that the engine does not know are its own to refuse. */
  readonly mayCall: (name: string) => boolean;
  /**
   * May the name stand by itself? A function's name can be handed to another: `arrayMap(file,
   * ['/etc/passwd'])`.
   */
  readonly mayName: (name: string) => boolean;
  readonly mayCallAsTable: (name: string) => boolean;
}

export function createFunctionRules(catalog: FunctionCatalog): FunctionRules {
  const allowed = lowerNames(allowedFunctions);
  const tables = lowerNames(allowedTableFunctions);
  const combinators = aggregateCombinators.map((suffix) => suffix.toLowerCase());

  function mayCall(name: string): boolean {
    const lower = name.toLowerCase();
    const meant = catalog.functions.get(lower);
    if (meant !== undefined) return allowed.has(meant.toLowerCase());
    // A few helpers that the formatter itself writes are in no list of the engine's.
    if (allowed.has(lower)) return true;
    if (lower.startsWith('__') || catalog.tableFunctions.has(lower)) return false;
    return combinators.every((suffix) => !lower.endsWith(suffix) || mayCall(lower.slice(0, -suffix.length)));
  }

  return {
    meant: (name) => (catalog.functions.get(name.toLowerCase()) ?? name).toLowerCase(),
    mayCall,
    mayName: (name) => !catalog.functions.has(name.toLowerCase()) || mayCall(name),
    mayCallAsTable: (name) => tables.has(name.toLowerCase()),
  };
}

function lowerNames(groups: readonly AllowedNames[]): ReadonlySet<string> {
  return new Set(groups.flatMap(({ names }) => names.map((name) => name.toLowerCase())));
}
