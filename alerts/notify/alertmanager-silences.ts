import { z } from 'zod';
import type { Silence } from '../../schemas/silence.ts';
import { RULES } from '../rules/all.ts';
import { isHeartbeat, labelOf } from '../rules/rule.ts';
import { isActive } from '../silences/silence.ts';

/** A condition on a label, as Alertmanager has it. */
export interface Matcher {
  readonly name: string;
  readonly value: string;
  readonly isRegex: false;
  readonly isEqual: boolean;
}

/** Its name for a silence of ours ends its comment: that is how we find it again. */
const marked = (id: string): string => `[gatewatch ${id}]`;
const MARK = /\[gatewatch ([\w-]+)\]$/;
const TIMEOUT_MS = 10_000;

/** What an alert must have to be silenced. Signs of life are never. */
export function matchersOf({ rule, gateway, slice, label }: Silence): Matcher[] {
  const known = RULES.find(({ name }) => name === rule);
  const labelName = known === undefined ? null : labelOf(known);
  const heartbeat = RULES.find(isHeartbeat)?.name ?? '';
  const equal = (name: string | null, value: string): Matcher[] =>
    name === null || value === '' ? [] : [{ name, value, isRegex: false, isEqual: true }];
  return [
    ...equal('service', 'gatewatch'),
    ...(rule === ''
      ? [{ name: 'alertname', value: heartbeat, isRegex: false, isEqual: false } as const]
      : equal('alertname', rule)),
    ...equal('gateway', gateway),
    ...equal('slice', slice),
    ...equal(labelName, label),
  ];
}

/** The command that does the same by hand, e.g. for an acknowledgement, which Alertmanager does not know. */
export const amtoolCommand = (silence: Silence, url: string): string =>
  [
    `amtool silence add --alertmanager.url=${url} --duration=2h`,
    `--comment=${quoted(silence.reason)}`,
    ...matchersOf(silence).map(({ name, value, isEqual }) =>
      quoted(`${name}${isEqual ? '=' : '!='}${value}`),
    ),
  ].join(' ');

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const heldSchema = z.array(
  z.object({ id: z.string(), comment: z.string(), status: z.object({ state: z.string() }) }),
);

/**
 * Keeps the silences of an Alertmanager in step with ours: adds those that it lacks, and ends those that
 * were taken back since this process passed them on. Those of others stay as they are.
 */
export function createAlertmanagerSilences(url: string, authorization: () => string | undefined) {
  let passedOn: ReadonlySet<string> = new Set();

  async function ask(method: string, path: string, body?: object): Promise<unknown> {
    const auth = authorization();
    const reply = await fetch(`${url}/api/v2/${path}`, {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...(auth === undefined ? {} : { authorization: auth }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!reply.ok) throw new Error(`it answered ${reply.status} to ${method} silences`);
    return method === 'GET' ? reply.json() : reply.body?.cancel();
  }

  /** @throws Error when it does not take them; the next call tries again */
  return async (silences: readonly Silence[], nowMs: number): Promise<void> => {
    const wanted = silences.filter((one) => one.kind === 'silenced' && isActive(one, nowMs));
    if (wanted.length === 0 && passedOn.size === 0) return;
    const held = new Map(
      heldSchema
        .parse(await ask('GET', 'silences'))
        .filter(({ status }) => status.state !== 'expired')
        .flatMap(({ id, comment }) => {
          const ours = MARK.exec(comment)?.[1];
          return ours === undefined ? [] : [[ours, id] as const];
        }),
    );
    for (const silence of wanted)
      if (!held.has(silence.id)) await ask('POST', 'silences', bodyOf(silence, nowMs));
    const ids = new Set(wanted.map(({ id }) => id));
    for (const id of passedOn) {
      const theirs = held.get(id);
      if (!ids.has(id) && theirs !== undefined) await ask('DELETE', `silence/${encodeURIComponent(theirs)}`);
    }
    passedOn = ids;
  };
}

const bodyOf = (silence: Silence, nowMs: number): object => ({
  matchers: matchersOf(silence),
  startsAt: new Date(nowMs),
  endsAt: new Date(silence.until ?? nowMs),
  createdBy: silence.by === '' ? 'gatewatch' : silence.by,
  comment: `${silence.reason} ${marked(silence.id)}`,
});
