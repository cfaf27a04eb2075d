import type { ChosenValues } from '../../schemas/console.ts';
import { expandMacros, expandVariables, type MacroContext, type VariableValues } from '../../store/macros.ts';
import type { DashboardFile, VariableModel } from './dashboard-files.ts';

export const ALL = '$__all';

/**
 * The statement that runs: macros first, so that nothing within a chosen value is ever read as a macro, and
 * then the values, each as a quoted literal.
 */
export function statementOf(sql: string, context: MacroContext, values: VariableValues): string {
  return expandVariables(expandMacros(sql, context), values);
}

/**
 * Values for a dashboard's variables. What is not chosen is "All", or empty where one types.
 * @returns the reason when a name is not one of the dashboard's variables, or a value not among a fixed
 * list's
 */
export function chosenValues(
  board: DashboardFile,
  chosen: ChosenValues,
): { readonly values: VariableValues } | { readonly problem: string } {
  const variables = board.templating.list;
  const unknown = Object.keys(chosen).find((name) => !variables.some((variable) => variable.name === name));
  if (unknown !== undefined) return { problem: `${board.uid} has no variable ${unknown}` };
  const values: Record<string, readonly string[] | 'all'> = {};
  for (const variable of variables) {
    const wanted = chosen[variable.name] ?? [variable.type === 'textbox' ? '' : ALL];
    const all = wanted.includes(ALL) && variable.type !== 'textbox';
    const known = fixedValues(variable);
    const stranger = all ? undefined : wanted.find((value) => known !== null && !known.has(value));
    if (stranger !== undefined) return { problem: `variable ${variable.name} has no such value` };
    values[variable.name] = all ? 'all' : wanted;
  }
  return { values };
}

/** Values of a variable whose list stands in the file. */
function fixedValues(variable: VariableModel): ReadonlySet<string> | null {
  if (variable.type !== 'custom' || variable.options.length === 0) return null;
  return new Set(variable.options.flatMap(({ value }) => value));
}
