import { InvalidArgumentError, Option, type Command } from 'commander';
import { ORDER_TYPES, type OrderType } from '../schemas/dictionary.ts';
import { ID_KINDS, type IdKind } from '../schemas/watch.ts';
import type { OrderQuery } from '../schemas/order-timeline.ts';
import { usageError, type GlobalOptions } from './command-context.ts';

/** What says which order an id means. */
export interface OrderIdOptions extends GlobalOptions {
  readonly gateway?: string;
  readonly type?: OrderType;
  readonly by?: IdKind;
}

/**
 * Ids may begin with a dash: a word with one dash that is none of the options is an id. One with two dashes
 * is a mistyped option, and needs `--` before it, as does an id that begins as an option does.
 */
function takeDashedIds(command: Command): void {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (args) => {
    const { operands, unknown } = parse(args);
    const end = unknown.indexOf('--');
    const words = end === -1 ? unknown : unknown.slice(0, end);
    const ids = words.filter((word) => !word.startsWith('--'));
    const behind = end === -1 ? [] : unknown.slice(end + 1);
    return {
      operands: [...operands, ...ids, ...behind],
      unknown: words.filter((word) => word.startsWith('--')),
    };
  };
}

/** `--gateway --type --by`, with what holds when they are left out; and ids that begin with a dash. */
export function addOrderIdOptions(
  command: Command,
  defaults: { gateway: string; type: string; by: string },
): Command {
  takeDashedIds(command);
  return command
    .option('-g, --gateway <name>', `name of the gateway (default: ${defaults.gateway})`)
    .addOption(
      new Option('-t, --type <type>', `Deposit or Withdrawal (default: ${defaults.type})`).argParser(
        parseOneOf(ORDER_TYPES),
      ),
    )
    .addOption(
      new Option(
        '-b, --by <kind>',
        `the id is the service's (external-id) or the merchant's (transaction-id) (default: ${defaults.by})`,
      ).argParser(parseOneOf(ID_KINDS)),
    );
}

/** The id as the last word of a shell's command line, quoted where a shell would read it otherwise. */
export function idInShell(id: string): string {
  const word = /^[\w.:/+=-]+$/.test(id) ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`;
  return id.startsWith('-') ? `-- ${word}` : word;
}

/**
 * The order that a command's arguments mean.
 * @throws UsageError for an id that none can be
 */
export function orderQueryOf(id: string, { gateway, type, by }: OrderIdOptions): OrderQuery {
  if (id === '' || id.length > 200) throw usageError('the id: expected 1 to 200 characters');
  return {
    id,
    ...(gateway === undefined ? {} : { gateway }),
    ...(type === undefined ? {} : { type }),
    ...(by === undefined ? {} : { by }),
  };
}

/** `--type` alone. */
export function addOrderTypeOption(command: Command, description: string): Command {
  return command.addOption(new Option('-t, --type <type>', description).argParser(parseOneOf(ORDER_TYPES)));
}

function parseOneOf<T extends string>(allowed: readonly T[]): (text: string) => T {
  return (text) => {
    const found = allowed.find((one) => one.toLowerCase() === text.toLowerCase());
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`Allowed: ${allowed.join(', ')}.`);
  };
}

/** Reads a whole number above 0, for commander. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number above 0.');
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Reads `90m`, `36h`, `7d` as seconds, for commander. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS[unit ?? ''] ?? NaN);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('Expected a number and s, m, h, d or w, such as 90m or 7d.');
}
