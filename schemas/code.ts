import type { CodeFormat, ReasonGroup, Result, Stage, State } from './dictionary.ts';

/**
 * A decoded history code (interface document, section 2.4).
 * For `legacy` and `unrecognized` every decoded field is null and `action` is the text as it came.
 */
export interface DecodedCode {
  readonly action: string;
  readonly format: CodeFormat;
  readonly stage: Stage | null;
  readonly result: Result | null;
  readonly state: State | null;
  /** 0-99, or null when not decoded. */
  readonly reasonCode: number | null;
  readonly reasonGroup: ReasonGroup | null;
  /** The dictionary's detail, or `UNKNOWN_18` for a code inside a range that the dictionary lacks. */
  readonly reasonDetail: string | null;
  /** Is the full code in the interface's catalogue? */
  readonly catalogued: boolean;
  /**
   * One sentence for people. Composed from the segments when the code is not catalogued; null when not
   * decoded.
   */
  readonly description: string | null;
}
