/** How windows end (see `withWatermarks` in measures.ts). */
export const WINDOWS = {
  /** Time given to items that are written or read late, beyond what the gateway's watermark covers. */
  lagSeconds: 30,
  /** A gateway that no collector has reported on for this long is forgotten: its rows and alerts end. */
  forgetGatewayAfterSeconds: 7 * 86_400,
  /**
   * A collector that has not reported for this long has nothing to say about now; each reports every 15 s.
   */
  reportsLastSeconds: 120,
} as const;
