import type { Random } from '../../../sandbox/random.ts';
import type { Arm } from '../arm.ts';
import type { Collector } from '../processes/collector.ts';

/** Everything that a fault may touch. */
export interface Scene {
  readonly arm: Arm;
  /** The collector that always runs. */
  readonly main: Collector;
  readonly random: Random;
  readonly record: Recorder;
}

/** What happened, counted from evidence and never from intent. */
export interface Recorder {
  /** `happened` is what was seen to happen, `evidence` says where it was seen. */
  happened(fault: string, evidence: string, times?: number): void;
  /** A fault that was set up and did not come about. */
  missed(fault: string, why: string): void;
  /** From the start of a process to its first acknowledged progress. */
  recovered(fault: string, ms: number): void;
  /** Something that must not be. */
  failed(what: string): void;
  /** For the one who watches. */
  say(line: string): void;
}

export interface Fault {
  readonly name: string;
  /** How long it takes, roughly, in seconds: its share of the traffic. */
  readonly weightS: number;
  readonly run: (scene: Scene) => Promise<void>;
}

export const RECOVERY_LIMIT_MS = 90_000;

/**
 * Waits for the collector's first acknowledged progress, and records how long it took since its process
 * started.
 */
export async function recover(scene: Scene, fault: string, collector: Collector): Promise<void> {
  try {
    scene.record.recovered(fault, await collector.progress(RECOVERY_LIMIT_MS));
  } catch (error) {
    scene.record.failed(`after ${fault}: ${(error as Error).message}`);
  }
}
