/** One thing that a hostile reader sends, password and all. */
export interface Attack {
  readonly group: string;
  /** Shown when it succeeds. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly search: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** The engine reads it as something harmless, and may answer. */
  readonly mayAnswer?: true;
}

/** Files that the attacks are after. The texts below name them by these words. */
export const TARGETS = {
  /** A file outside of the store's folder, with a word in it that nothing else has. */
  secret: '{SECRET}',
  /** The password of the writer. */
  writer: '{WRITER}',
  /** A file that is not there, where one must not come to be. */
  out: '{OUT}',
} as const;

export function statement(group: string, sql: string, search: Readonly<Record<string, string>> = {}): Attack {
  return { group, name: sql.slice(0, 200), method: 'POST', search, headers: {}, body: Buffer.from(sql) };
}

export function inUrl(group: string, sql: string, search: Readonly<Record<string, string>> = {}): Attack {
  const named = `GET ${sql.slice(0, 200)}`;
  return { group, name: named, method: 'GET', search: { query: sql, ...search }, headers: {}, body: null };
}

/** The attack with real paths in the place of the words. */
export function aimed(attack: Attack, paths: Readonly<Record<keyof typeof TARGETS, string>>): Attack {
  const aim = (text: string): string =>
    Object.entries(TARGETS).reduce(
      (sum, [name, word]) => sum.replaceAll(word, paths[name as keyof typeof TARGETS]),
      text,
    );
  const aimAll = (all: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, aim(value)]));
  const isText = attack.headers['content-encoding'] === undefined;
  const body =
    attack.body === null || !isText
      ? attack.body
      : Buffer.from(aim(Buffer.from(attack.body).toString('utf8')));
  return { ...attack, search: aimAll(attack.search), headers: aimAll(attack.headers), body };
}
