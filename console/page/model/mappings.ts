import type { Mapping, MappingResult } from './types.ts';

/** What a value mapping makes of a value; null when none applies. The first that does wins. */
export function mapValue(mappings: readonly Mapping[] | undefined, value: unknown): MappingResult | null {
  const key = String(value);
  return mappings?.find(({ options }) => Object.hasOwn(options, key))?.options[key] ?? null;
}
