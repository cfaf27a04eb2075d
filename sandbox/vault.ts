import { createRandom } from './random.ts';
import { drawPayer, type Payer } from './payers.ts';

/** Stored cards (section 1): a token stands for a payer's card and is good from the first success on. */
export interface Vault {
  /** The token that this payer's card has or will have. */
  tokenFor(payer: Payer, fresh: string): string;
  /** The token is issued at `fromMs`; before that it is not accepted. */
  issue(token: string, payer: Payer, fromMs: number): void;
  /** The payer behind a token, or undefined when it is not known (yet). */
  lookUp(token: string, nowMs: number): Payer | undefined;
  /** Payers whose cards were stored before the sandbox began: the sandbox's own token orders are theirs. */
  readonly returning: readonly { readonly token: string; readonly payer: Payer }[];
}

const RETURNING_PAYERS = 50;
/** Beyond this the oldest tokens are forgotten. */
const MAX_TOKENS = 50_000;

export function createVault(seed: string): Vault {
  const cards = new Map<string, { payer: Payer; fromMs: number }>();
  const tokens = new Map<string, string>();
  const vault: Vault = {
    tokenFor: (payer, fresh) => tokens.get(keyOf(payer)) ?? fresh,
    issue(token, payer, fromMs) {
      const known = cards.get(token);
      if (known && known.fromMs <= fromMs) return;
      cards.set(token, { payer, fromMs });
      tokens.set(keyOf(payer), token);
      const oldest = cards.entries().next().value;
      if (cards.size <= MAX_TOKENS || !oldest) return;
      cards.delete(oldest[0]);
      tokens.delete(keyOf(oldest[1].payer));
    },
    lookUp(token, nowMs) {
      const card = cards.get(token);
      return card && card.fromMs <= nowMs ? card.payer : undefined;
    },
    returning: Array.from({ length: RETURNING_PAYERS }, (_, i) => {
      const random = createRandom(seed, 'returning payer', i);
      return { token: `cst_${random.hex(32)}`, payer: drawPayer(random) };
    }),
  };
  for (const { token, payer } of vault.returning) vault.issue(token, payer, -Infinity);
  return vault;
}

const keyOf = (payer: Payer) => `${payer.identifier}|${payer.cardMask}`;
