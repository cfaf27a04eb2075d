import type { DecodedCode } from '../../schemas/code.ts';
import {
  ALL_REASONS,
  CATALOGUE,
  RESULTS,
  STAGES,
  STATES,
  type CodeFormat,
} from '../../schemas/dictionary.ts';

const LEGACY = /^[0-9]+(\.[0-9]+){3}$/;
/** With more, the dots could be a card number's. */
const LEGACY_DIGITS = 11;
const V2_SHAPE = /^[0-9]\.[0-9]\.[0-9]\.[0-9]{2}$/;

/**
 * Decodes a history code `A.C.B.RR` (interface document, section 2.4). Pure and total: any string gives a
 * value.
 *
 * - `v2`: the shape `9.9.9.99` with every segment allowed. A reason code inside a group's range that the
 *   dictionary lacks keeps its group, with the detail `UNKNOWN_<code>`.
 * - `legacy`: four dotted numbers of another shape, 11 digits in all at most. A legacy code that happens to
 *   have v2's shape cannot be distinguished.
 * - `unrecognized`: everything else, v2-shaped codes with a segment out of range included.
 */
export function decode(action: string): DecodedCode {
  return V2_CODES.get(action) ?? undecoded(action);
}

function undecoded(action: string): DecodedCode {
  const isLegacy = action.length <= LEGACY_DIGITS + 3 && LEGACY.test(action) && !V2_SHAPE.test(action);
  const format: CodeFormat = isLegacy ? 'legacy' : 'unrecognized';
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

/** Every v2 code there is (6 stages x 3 results x 5 states x 55 reasons), so that decoding is one look-up. */
const V2_CODES: ReadonlyMap<string, DecodedCode> = buildTable();

function buildTable(): Map<string, DecodedCode> {
  const table = new Map<string, DecodedCode>();
  const catalogue = new Map<string, string>(CATALOGUE.map((entry) => [entry.action, entry.description]));
  for (const stage of STAGES) {
    for (const result of RESULTS) {
      for (const state of STATES) {
        for (const reason of ALL_REASONS) {
          const action = `${stage.code}.${result.code}.${state.code}.${String(reason.code).padStart(2, '0')}`;
          const catalogued = catalogue.get(action);
          table.set(
            action,
            Object.freeze({
              action,
              format: 'v2',
              stage: stage.name,
              result: result.name,
              state: state.name,
              reasonCode: reason.code,
              reasonGroup: reason.group,
              reasonDetail: reason.detail,
              catalogued: catalogued !== undefined,
              description:
                catalogued ??
                `${capital(stage.label)} ${result.label}, payment ${state.label}` +
                  (reason.code === 0 ? '' : `: ${reason.label}`),
            }),
          );
        }
      }
    }
  }
  return table;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
