import type { Mapping, MappingResult } from './types.ts';

/** What a value mapping makes of a value; null when none applies. The first that does wins. */
export function mapValue(mappings: readonly Mapping[] | undefined, value: unknown): MappingResult | null {
  for (const mapping of mappings ?? []) {
    const result = apply(mapping, value);
    if (result !== null) return result;
  }
  return null;
}

function apply(mapping: Mapping, value: unknown): MappingResult | null {
  switch (mapping.type) {
    case 'value': {
      const key = value === null ? 'null' : String(value);
      return Object.hasOwn(mapping.options, key) ? (mapping.options[key] ?? null) : null;
    }
    case 'range': {
      const { from, to, result } = mapping.options;
      const number = typeof value === 'string' && value !== '' ? Number(value) : value;
      if (typeof number !== 'number' || Number.isNaN(number)) return null;
      return number >= (from ?? -Infinity) && number <= (to ?? Infinity) ? result : null;
    }
    case 'regex': {
      const { pattern, result } = mapping.options;
      const regexp = toRegExp(pattern);
      if (value === null || !regexp.test(String(value))) return null;
      return result.text === undefined
        ? result
        : { ...result, text: String(value).replace(regexp, result.text) };
    }
    case 'special':
      return isSpecial(mapping.options.match, value) ? mapping.options.result : null;
  }
}

function isSpecial(match: string, value: unknown): boolean {
  switch (match) {
    case 'null':
      return value === null;
    case 'nan':
      return Number.isNaN(value);
    case 'null+nan':
      return value === null || Number.isNaN(value);
    case 'true':
      return value === true || value === 'true';
    case 'false':
      return value === false || value === 'false';
    case 'empty':
      return value === '';
    default:
      return false;
  }
}

/** `/pattern/flags` or a bare pattern, as Grafana writes them. */
export function toRegExp(text: string): RegExp {
  const [, pattern, flags] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? [];
  return new RegExp(pattern ?? text, (flags ?? '').replace(/[gy]/g, ''));
}
