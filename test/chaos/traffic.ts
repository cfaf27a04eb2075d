import type { Arm } from './arm.ts';

/**
 * Lets orders come until as many events were accepted as are wanted by now, and waits while the collector is
 * far behind.
 */
export interface Traffic {
  /** While they come. */
  ordersPerSecond: number;
  /** Events wanted by now. */
  wanted: number;
  readonly events: () => number;
  /** Orders that the main collector watches. */
  readonly watched: () => number;
  /** Resolves when as many events were accepted. */
  reach(events: number): Promise<void>;
  stop(): void;
}

const LOOK_MS = 500;
const MOST_WATCHED = 5000;

export function startTraffic(arm: Arm): Traffic {
  let rate = 0;
  let events = 0;
  let watched = 0;
  let stopped = false;
  const setRate = (wanted: number): void => {
    if (wanted === rate) return;
    rate = wanted;
    arm.sandbox.setRate(wanted);
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS / 2));
  const look = async (): Promise<void> => {
    events = arm.sandbox.stats().itemsVisible + arm.bridge.produced();
    watched = (await arm.collectors[0]?.watched()) ?? watched;
    if (!stopped) setRate(events < traffic.wanted && watched < MOST_WATCHED ? traffic.ordersPerSecond : 0);
  };
  const traffic: Traffic = {
    ordersPerSecond: 1,
    wanted: 0,
    events: () => events,
    watched: () => watched,
    async reach(target) {
      for (; traffic.events() < target; await pause());
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      setRate(0);
    },
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return traffic;
}
