import { InvalidArgumentError } from 'commander';

/** Reads a whole number above 0, for commander. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number above 0.');
}
