import type { PollOutcome } from '../../schemas/rows.ts';
import type { Endpoint } from '../../schemas/polling.ts';

/**
 * Stops requests to a gateway that refuses us. A 401 concerns the credential, so it opens one circuit for all
 * endpoints of the gateway; a 403 concerns the credential on one kind of endpoint.
 */
export interface Circuits {
  /** While a circuit is open, one probe per interval passes. */
  readonly probeMs: number;
  readonly credential: Circuit;
  readonly perEndpoint: Map<Endpoint, Circuit>;
}

interface Circuit {
  readonly refusedOrders: Set<string>;
  open: boolean;
  nextProbeMs: number;
}

/**
 * Different orders that must be refused in a row: one order's own 401 or 403 is no statement about the
 * credential.
 */
const ORDERS_TO_OPEN = 3;

const closed = (): Circuit => ({ refusedOrders: new Set(), open: false, nextProbeMs: 0 });

export function createCircuits(probeMs: number): Circuits {
  return { probeMs, credential: closed(), perEndpoint: new Map() };
}

/** Milliseconds until a request to the endpoint is allowed; 0: now. */
export function circuitWaitMs(circuits: Circuits, endpoint: Endpoint, nowMs: number): number {
  return Math.max(
    0,
    ...both(circuits, endpoint).map(({ open, nextProbeMs }) => (open ? nextProbeMs - nowMs : 0)),
  );
}

export function isCircuitOpen(circuits: Circuits, endpoint: Endpoint): boolean {
  return both(circuits, endpoint).some(({ open }) => open);
}

/** Notes that a request to the endpoint starts: while a circuit is open it is the probe of its interval. */
export function noteProbe(circuits: Circuits, endpoint: Endpoint, nowMs: number): void {
  for (const circuit of both(circuits, endpoint))
    if (circuit.open) circuit.nextProbeMs = nowMs + circuits.probeMs;
}

/** Notes how a request ended; true when a circuit opened or closed by it. */
export function noteOutcome(
  circuits: Circuits,
  endpoint: Endpoint,
  outcome: PollOutcome,
  orderKey: string,
  nowMs: number,
): boolean {
  const nextProbeMs = nowMs + circuits.probeMs;
  if (outcome === 'unauthorized') return refuse(circuits.credential, orderKey, nextProbeMs);
  if (outcome === 'forbidden') {
    const hasClosed = reset(circuits.credential);
    return refuse(endpointCircuit(circuits, endpoint), orderKey, nextProbeMs) || hasClosed;
  }
  // No reply says nothing about our credential; any other reply says that it was accepted.
  if (outcome === 'unknown' || outcome === 'rate_limited') return false;
  return both(circuits, endpoint).map(reset).includes(true);
}

export function openCircuits({ credential, perEndpoint }: Circuits): number {
  return [credential, ...perEndpoint.values()].filter(({ open }) => open).length;
}

const both = (circuits: Circuits, endpoint: Endpoint): Circuit[] => [
  circuits.credential,
  endpointCircuit(circuits, endpoint),
];

function endpointCircuit({ perEndpoint }: Circuits, endpoint: Endpoint): Circuit {
  const found = perEndpoint.get(endpoint) ?? closed();
  perEndpoint.set(endpoint, found);
  return found;
}

function refuse(circuit: Circuit, orderKey: string, nextProbeMs: number): boolean {
  if (circuit.open) return false;
  circuit.refusedOrders.add(orderKey);
  if (circuit.refusedOrders.size < ORDERS_TO_OPEN) return false;
  circuit.open = true;
  circuit.nextProbeMs = nextProbeMs;
  return true;
}

function reset(circuit: Circuit): boolean {
  const wasOpen = circuit.open;
  circuit.refusedOrders.clear();
  circuit.open = false;
  return wasOpen;
}
