import {
  CAUSE_SIDES,
  causeInWords,
  type CauseSide,
  SIGNATURE_CAUSES,
} from '../../schemas/signature-causes.ts';
import { code, GENERATED, page, table } from './markdown.ts';

const HEADINGS: Readonly<Record<CauseSide, string>> = {
  key: 'The key',
  header: 'The header',
  text: 'The signed text',
  amount: 'The amount in it',
  content: 'The content, changed after it was signed',
  nothing: 'Nothing found',
};

/** docs/reference/signature-causes.md: why signatures do not verify, and what to do. */
export function signatureCausesPage(): string {
  return page(
    '# Why a signature does not verify',
    GENERATED,
    'A callback whose signature does not match ([interface, section 6.3](../gateway-interface.md#63-signature)) is stored ' +
      'with the verdict `mismatch`. The collector then tries what senders get wrong, one thing at a time, and keeps in the column ' +
      '`signature_cause` of [`callbacks`](views.md#callbacks) what would make it verify. **Nothing is accepted for it**: the verdict stays, the ' +
      'order is not read sooner, and the sender is answered as always.',
    ...CAUSE_SIDES.flatMap((side) => [`## ${HEADINGS[side]}`, causesOf(side)]),
    '## What is signed',
    '`externalId`, `status`, `amount` and `orderType` are signed; `currency` and `externalParams` are not; the time is neither sent nor ' +
      'signed, so that a replay verifies. A status reply is what confirms status and amount: see the order.',
    '## Bounds',
    '- Callbacks with two things wrong at once are `unexplained`. Only the writing of the header may differ as well.\n' +
      '- The two newest keys of a gateway are tried in every way, and up to 20 keys of other gateways in one.\n' +
      '- 20 callbacks a second and gateway are examined, the others are `not_examined`: wrong signatures are cheap to send. ' +
      '`gatewatch_signature_causes_total` counts all of them.\n' +
      '- An intake that hands callbacks on to Kafka examines them itself, and hands on the cause in the header `signature-cause`, since it seals a ' +
      'signature that does not verify. Whoever may write to the topic can write that header, too.\n' +
      '- Letter case of the hash and white space around the header are accepted, and so are no cause.',
  );
}

const causesOf = (side: CauseSide): string =>
  table(
    ['`signature_cause`', 'In words', 'What to do'],
    SIGNATURE_CAUSES.filter((cause) => cause.side === side).map(({ name, step }) => [
      code(name),
      causeInWords(name),
      step,
    ]),
  );
