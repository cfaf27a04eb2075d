/**
 * Panel ids that never change while a panel keeps its key: links, alert rules and repeats hang on them.
 * FNV-1a over the key, folded to 24 bits so that ids stay readable in URLs; the linter refuses collisions.
 */
export function panelId(key: string): number {
  let hash = 0x811c9dc5;
  for (const char of key) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return (hash >>> 24) ^ (hash & 0xffffff) || 1;
}
