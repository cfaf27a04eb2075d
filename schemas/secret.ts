const PRINTED = '[secret]';

/**
 * A value that must never be printed. Every usual way to turn it into text (template strings, JSON, the
 * inspector, error messages) shows `[secret]`; only `reveal()` gives the value, so a search for that word
 * finds every use.
 */
export class Secret {
  #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  /** The value itself. Never pass it to a log, error, row, span or metric. */
  reveal(): string {
    return this.#value;
  }
  /**
   * Whoever holds this one sees the other's value from now on: reveal it where it is used, and keep no copy.
   */
  renew(other: Secret): void {
    this.#value = other.#value;
  }
  toString(): string {
    return PRINTED;
  }
  toJSON(): string {
    return PRINTED;
  }
  [Symbol.toPrimitive](): string {
    return PRINTED;
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return PRINTED;
  }
}
