const UUID_WITH_LETTERS = /^(?=.*[a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** In which case a gateway is asked for an order whose id is a UUID. */
export interface UuidSpelling {
  of(externalId: string): string;
  /** How the request for what `of` gave has ended. */
  heard(asked: string, outcome: string): void;
}

/**
 * We know UUIDs in lower case (RFC 9562, section 4). A gateway that compares texts may know them in upper
 * case only: where nothing was found, the next request is in the other case, until one is proved right.
 */
export function createUuidSpelling(): UuidSpelling {
  let isUpper = false;
  let isProved = false;
  const spelled = (id: string): string => (isUpper ? id.toUpperCase() : id);
  return {
    of: (id) => (UUID_WITH_LETTERS.test(id) ? spelled(id) : id),
    heard(asked, outcome) {
      const id = asked.toLowerCase();
      if (isProved || !UUID_WITH_LETTERS.test(id) || asked !== spelled(id)) return;
      if (outcome === 'ok') isProved = true;
      if (outcome === 'not_found') isUpper = !isUpper;
    },
  };
}
