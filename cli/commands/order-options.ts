import { InvalidArgumentError, Option, type Command } from 'commander';
import { ORDER_TYPES, type OrderType } from '../../schemas/dictionary.ts';
import { ID_KINDS, type IdKind } from '../../schemas/watch.ts';
import type { GlobalOptions } from '../command-context.ts';

/** What says which order an id means. */
export interface OrderIdOptions extends GlobalOptions {
  readonly gateway?: string;
  readonly type?: OrderType;
  readonly by?: IdKind;
}

/** `--gateway --type --by`, with what holds when they are left out. */
export function addOrderIdOptions(
  command: Command,
  defaults: { gateway: string; type: string; by: string },
): Command {
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
