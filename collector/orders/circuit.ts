import type { PollOutcome } from '../../schemas/rows.ts';
import type { Endpoint } from '../../schemas/polling.ts';

export interface Circuits {
  /**
   * Milliseconds until a request to the endpoint is allowed; 0: now. While open, one probe per interval
   * passes.
   */
  waitMs(endpoint: Endpoint, nowMs: number): number;
  isOpen(endpoint: Endpoint): boolean;
  /** A probe is on its way. */
  probing(endpoint: Endpoint, nowMs: number): void;
  /** Notes an answer; true when a circuit opened or closed by it. */
  note(endpoint: Endpoint, outcome: PollOutcome, orderKey: string, nowMs: number): boolean;
  openCount(): number;
}

/**
 * So many different orders must be refused in a row: one order's own 401 or 403 is no statement about the
 * credential.
 */
const ORDERS_TO_OPEN = 3;

interface Circuit {
  refusedOrders: Set<string>;
  open: boolean;
  nextProbeMs: number;
}

/**
 * Stops hammering a gateway that refuses us (design: poll policy): a 401 concerns the credential, so one
 * circuit for all endpoints of the gateway; a 403 concerns the credential on one kind of endpoint.
 */
export function createCircuits(probeMs: number): Circuits {
  const fresh = (): Circuit => ({ refusedOrders: new Set(), open: false, nextProbeMs: 0 });
  const credential = fresh();
  const perEndpoint = new Map<Endpoint, Circuit>();
  const endpointCircuit = (endpoint: Endpoint): Circuit => {
    const found = perEndpoint.get(endpoint) ?? fresh();
    perEndpoint.set(endpoint, found);
    return found;
  };
  const both = (endpoint: Endpoint) => [credential, endpointCircuit(endpoint)];

  function refuse(circuit: Circuit, orderKey: string, nowMs: number): boolean {
    if (circuit.open) return false;
    circuit.refusedOrders.add(orderKey);
    if (circuit.refusedOrders.size < ORDERS_TO_OPEN) return false;
    circuit.open = true;
    circuit.nextProbeMs = nowMs + probeMs;
    return true;
  }
  function reset(circuit: Circuit): boolean {
    const was = circuit.open;
    circuit.refusedOrders.clear();
    circuit.open = false;
    return was;
  }

  return {
    waitMs: (endpoint, nowMs) =>
      Math.max(0, ...both(endpoint).map((circuit) => (circuit.open ? circuit.nextProbeMs - nowMs : 0))),
    isOpen: (endpoint) => both(endpoint).some((circuit) => circuit.open),
    probing(endpoint, nowMs) {
      for (const circuit of both(endpoint)) if (circuit.open) circuit.nextProbeMs = nowMs + probeMs;
    },
    note(endpoint, outcome, orderKey, nowMs) {
      if (outcome === 'unauthorized') return refuse(credential, orderKey, nowMs);
      if (outcome === 'forbidden') {
        const closed = reset(credential);
        return refuse(endpointCircuit(endpoint), orderKey, nowMs) || closed;
      }
      // No answer says nothing about our credential; any other answer says that it was accepted.
      if (outcome === 'unknown' || outcome === 'rate_limited') return false;
      return both(endpoint).map(reset).includes(true);
    },
    openCount: () => [credential, ...perEndpoint.values()].filter((circuit) => circuit.open).length,
  };
}
