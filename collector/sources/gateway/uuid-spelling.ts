const UUID_WITH_LETTERS = /^(?=.*[a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** In which case a gateway is asked for an order whose id is a UUID. */
export interface UuidSpelling {
  of(externalId: string): string;
  /** How the request for what `of` gave has ended. */
  heard(asked: string, outcome: string): void;
}

/** Ids that were not found and may be asked for again: more are asked for in lower case alone. */
const MOST_UNFOUND = 1_000;

/**
 * We know UUIDs in lower case (RFC 9562, section 4). A gateway that compares texts may know them in upper
 * case only: an order that was not found is asked for in the other case next time, in turns, until the first
 * order that is found proves one. Orders that do not exist change nothing for the others.
 */
export function createUuidSpelling(): UuidSpelling {
  let proved: 'lower' | 'upper' | null = null;
  const unfound = new Set<string>();
  return {
    of(id) {
      if (!UUID_WITH_LETTERS.test(id)) return id;
      return proved === 'upper' || (proved === null && unfound.has(id)) ? id.toUpperCase() : id;
    },
    heard(asked, outcome) {
      const id = asked.toLowerCase();
      if (proved !== null || !UUID_WITH_LETTERS.test(id)) return;
      if (outcome === 'ok') {
        proved = asked === id ? 'lower' : 'upper';
        unfound.clear();
      } else if (outcome === 'not_found') {
        if (asked !== id) unfound.delete(id);
        else if (unfound.size < MOST_UNFOUND) unfound.add(id);
      }
    },
  };
}
