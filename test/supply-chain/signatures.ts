/** What `npm audit signatures --json` came to. */
export interface Verdict {
  /**
   * `unanswered`: the registry, or the keys' home, could not be asked. That proves nothing, and is nobody's
   * fault here.
   */
  readonly kind: 'verified' | 'bad' | 'unanswered' | 'failed';
  readonly text: string;
}

/** Codes of npm's errors that say that nobody answered. Any other error is one. */
const UNANSWERED =
  /^(E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|HOSTUNREACH|NETUNREACH|SOCKETTIMEDOUT|5\d\d)|ERR_SOCKET_TIMEOUT)$/;

/** Judges what npm printed and the code that it ended with. Anything that is not understood has failed. */
export function judge(stdout: string, exitCode: number | null): Verdict {
  const said = parsed(stdout);
  if (said === null) return { kind: 'failed', text: `npm ended with ${exitCode} and printed no JSON` };
  const { error, invalid = [], missing = [] } = said;
  const bad = [
    ...invalid.map((one) => [one, 'invalid'] as const),
    ...missing.map((one) => [one, 'missing'] as const),
  ];
  if (bad.length > 0)
    return {
      kind: 'bad',
      text: bad.map(([{ name, version }, what]) => `${name}@${version}: ${what} signature`).join('\n'),
    };
  if (error !== undefined) {
    const kind = UNANSWERED.test(error.code ?? '') ? 'unanswered' : 'failed';
    return { kind, text: `${error.code}: ${error.summary}` };
  }
  return exitCode === 0
    ? { kind: 'verified', text: 'every signature that the registry has is valid' }
    : { kind: 'failed', text: `npm ended with ${exitCode}` };
}

interface Package {
  readonly name?: string;
  readonly version?: string;
}
interface Said {
  readonly error?: { readonly code?: string; readonly summary?: string };
  readonly invalid?: readonly Package[];
  readonly missing?: readonly Package[];
}

function parsed(text: string): Said | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
