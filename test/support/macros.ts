import { statementOf } from '../../console/server/statement.ts';
import type { MacroContext, VariableValues } from '../../store/macros.ts';

/** What the engine is asked for a panel: tests run the very text that the console runs. */
export const expandPanelSql = (sql: string, context: MacroContext, variables: VariableValues = {}): string =>
  statementOf(sql, context, variables);
