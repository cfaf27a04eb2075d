/** The macros and variables of Grafana, as the collector expands them: tests run the very same text. */
export { expandMacros, expandVariables, type MacroContext, type VariableValues } from '../../store/macros.ts';
import { expandMacros, expandVariables, type MacroContext, type VariableValues } from '../../store/macros.ts';

/** Both passes: what the engine is asked for a panel. */
export const expandPanelSql = (sql: string, context: MacroContext, variables: VariableValues = {}): string =>
  expandMacros(expandVariables(sql, variables), context);
