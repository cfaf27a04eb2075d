import { deepStrictEqual } from 'node:assert/strict';
import { decode } from '../../collector/decode/code.ts';
import type { DecodedCode } from '../../schemas/code.ts';
import { CATALOGUE, REASON_GROUPS, REASONS, RESULTS, STAGES, STATES } from '../../schemas/dictionary.ts';
import { randomFrom } from '../support/random.ts';
import { compareRates } from './rate.ts';
import type { BenchResult } from './result.ts';

const CODES = 50_000;

/** Decoding history codes, against a decoder that reads each code with a regular expression. */
export async function run(): Promise<BenchResult> {
  const actions = realisticActions(CODES);
  for (const action of new Set(actions)) deepStrictEqual({ ...decode(action) }, decodeByRegex(action));
  const rates = compareRates(
    () => decodeAll(actions),
    () => decodeAllByRegex(actions),
    { units: actions.length },
  );
  return {
    name: 'decode history codes',
    unit: 'codes/s',
    ...rates,
    aim: 4,
    note: `${CODES} codes of a realistic mix`,
  };
}

/** Decoded codes are kept, as history items keep them: else the compiler leaves out what nobody reads. */
const kept: DecodedCode[] = Array.from({ length: CODES }, () => decode(''));

// Two loops of the same shape: one loop for both would teach the compiler to expect either decoder in either.
function decodeAll(actions: readonly string[]): void {
  for (let i = 0; i < actions.length; i++) kept[i] = decode(actions[i] ?? '');
}

function decodeAllByRegex(actions: readonly string[]): void {
  for (let i = 0; i < actions.length; i++) kept[i] = decodeByRegex(actions[i] ?? '');
}

/**
 * Codes as a collector meets them: most payments go well, some fail; a code in a hundred is unknown to the
 * dictionary or the catalogue, two in a hundred are legacy, one in two hundred is none. They come out of a
 * JSON text, as in production.
 */
function realisticActions(count: number): string[] {
  const usual = [
    '1.0.0.00',
    '1.1.1.00',
    '2.1.1.00',
    '3.0.1.00',
    '3.0.1.51',
    '3.0.1.53',
    '3.1.1.55',
    '4.1.3.00',
    '5.1.3.00',
    '6.1.1.00',
  ];
  const random = randomFrom(20_261_121);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const digit = () => Math.floor(random() * 10);
  const actions = Array.from({ length: count }, () => {
    const chance = random();
    if (chance < 0.7) return pick(usual);
    if (chance < 0.965) return pick(CATALOGUE).action;
    if (chance < 0.975)
      return `${pick(STAGES).code}.${pick(RESULTS).code}.${pick(STATES).code}.6${1 + Math.floor(random() * 9)}`;
    if (chance < 0.995) return `${digit()}${digit()}.${digit()}.${digit()}.${digit()}`;
    return pick(['', 'DECLINED', '4.1.4.63 ', '9.9.9.99', '4.1.4.10', 'A.C.B.RR']);
  });
  return JSON.parse(JSON.stringify(actions)) as string[];
}

const V2 = /^([0-9])\.([0-9])\.([0-9])\.([0-9]{2})$/;
const LEGACY = /^[0-9]+(\.[0-9]+){3}$/;
const stages = new Map(STAGES.map((stage) => [String(stage.code), stage]));
const results = new Map(RESULTS.map((result) => [String(result.code), result]));
const states = new Map(STATES.map((state) => [String(state.code), state]));
const reasons = new Map<number, (typeof REASONS)[number]>(REASONS.map((reason) => [reason.code, reason]));
const catalogue = new Map<string, string>(CATALOGUE.map((entry) => [entry.action, entry.description]));

/** What one would write first: match, look each segment up, compose. Gives what `decode` gives. */
function decodeByRegex(action: string): DecodedCode {
  const match = V2.exec(action);
  if (match === null) return undecoded(action, LEGACY.test(action) ? 'legacy' : 'unrecognized');
  const [, a = '', c = '', b = '', digits = ''] = match;
  const [stage, result, state] = [stages.get(a), results.get(c), states.get(b)];
  const code = Number(digits);
  const group = REASON_GROUPS.find(({ from, to }) => code >= from && code <= to);
  if (!stage || !result || !state || !group) return undecoded(action, 'unrecognized');
  const reason = reasons.get(code);
  const described = catalogue.get(action);
  const label = reason?.label ?? `${group.label} ${code}, which the dictionary does not know`;
  return {
    action,
    format: 'v2',
    stage: stage.name,
    result: result.name,
    state: state.name,
    reasonCode: code,
    reasonGroup: group.name,
    reasonDetail: reason?.detail ?? `UNKNOWN_${code}`,
    catalogued: described !== undefined,
    description:
      described ??
      `${stage.label.charAt(0).toUpperCase()}${stage.label.slice(1)} ${result.label}, payment ${state.label}` +
        (code === 0 ? '' : `: ${label}`),
  };
}

function undecoded(action: string, format: 'legacy' | 'unrecognized'): DecodedCode {
  return {
    action,
    format,
    stage: null,
    result: null,
    state: null,
    reasonCode: null,
    reasonGroup: null,
    reasonDetail: null,
    catalogued: false,
    description: null,
  };
}
