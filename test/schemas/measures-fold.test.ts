import { describe, expect, it } from 'vitest';
import { decode } from '../../collector/decode/code.ts';
import { foldHistory } from '../../collector/decode/fold-order.ts';
import type { DecodedCode } from '../../schemas/code.ts';
import { CATALOGUE } from '../../schemas/dictionary.ts';
import { DECIDING, FAILING, IN_PROCESSING, outcome } from '../../schemas/measures.ts';
import { FORM_STEPS, furthestStep } from '../../schemas/payform.ts';
import type { Store } from '../../store/store.ts';
import { shareDatabase } from '../support/shared-database.ts';

let store: Store;
shareDatabase((opened) => (store = opened));

const REASON_CODES = ['00', '11', '16', '21', '29', '31', '41', '55', '56', '63', '69'];
/** The catalogue, every other code with one of these reasons, and two of other formats. */
const actions = [
  ...new Set([
    ...CATALOGUE.map(({ action }) => action),
    ...[1, 2, 3, 4, 5, 6].flatMap((stage) =>
      [0, 1, 2].flatMap((result) =>
        [0, 1, 2, 3, 4].flatMap((state) =>
          REASON_CODES.map((reason) => `${stage}.${result}.${state}.${reason}`),
        ),
      ),
    ),
    '1.2.3.4',
    '~0',
  ]),
];

const codes = actions.map(decode);

describe('measures in SQL', () => {
  it('say of every code what the fold of a history says of it', async () => {
    const values = codes
      .map(({ action, stage, result, state, reasonCode, reasonGroup }) =>
        JSON.stringify({
          action,
          stage,
          result,
          state,
          reason_code: reasonCode,
          reason_group: reasonGroup,
        }),
      )
      .join('\n');
    const rows = await store.query<Record<string, string | number | null>>(
      `SELECT action, ifNull(${DECIDING}, 0) AS deciding, if(deciding, ${outcome('state', 'reason_group')}, NULL) AS outcome,
  ifNull(${FAILING}, 0) AS failing, ifNull(${IN_PROCESSING}, 0) AS processing,
  [${FORM_STEPS.map(({ step, item }) => `if(ifNull(${item}, 0), '${step}', '')`).join(', ')}] AS steps,
  arrayElement(arrayFilter(step -> step != '', steps), -1) AS furthest_step
FROM format(JSONEachRow, 'action String, stage Nullable(String), result Nullable(String), state Nullable(String), reason_code Nullable(UInt8), reason_group Nullable(String)', {values:String})`,
      { values },
    );
    const inSql = rows.map(({ steps: _steps, ...row }) => row);
    expect(inSql).toEqual(codes.map(foldOne));
  });
});

/** What the fold says of an order that has this code alone. */
function foldOne(code: DecodedCode) {
  const folded = foldHistory([{ time: 1, code, occurrence: 0, position: 0 }]);
  return {
    action: code.action,
    deciding: Number(folded.deciding !== null),
    outcome: folded.outcome,
    failing: Number(folded.reasons.length > 0),
    processing: Number(folded.processingAt !== null),
    furthest_step: furthestStep([code]) ?? '',
  };
}
