/** How a trace came to be among those that are exported. */
export interface Sampling {
  /** In (0, 1]: one order that is exported stands for 1 / rate. */
  readonly rate: number;
  /** The same as the member `ot` of W3C's `tracestate`, which other samplers understand. */
  readonly traceState: string;
}
