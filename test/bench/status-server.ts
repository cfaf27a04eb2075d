import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Items that each read of an order finds more than the one before, and how many there are in the end. */
const STEP = 3;
const ITEMS = 9;
/** When histories begin. An order whose history is a day old is not read again once it is final. */
const BEGIN = Date.now() - ITEMS * 1000;

/** Orders that have failed begin so; by the merchant's id, with `m-` before that. */
const FAILED = /^(?:m-)?failed-/;

/**
 * A gateway that only answers status requests, as fast as it can, or after a delay: in a process of its own,
 * so that it takes no time from who asks. Sends its port over the channel to its parent.
 */
function serve(delayMs: number): void {
  const reads = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = request.url?.split('/').at(-2) ?? '';
    const answer = (body: Buffer): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.byteLength });
      response.end(body);
    };
    if (FAILED.test(id)) return void setTimeout(answer, delayMs, failedReply(id.replace(/^m-/, '')));
    const read = (reads.get(id) ?? 0) + 1;
    reads.set(id, read);
    const isFinal = read * STEP >= ITEMS;
    const body = Buffer.from(
      JSON.stringify({
        externalId: id,
        orderStatus: isFinal ? 'Success' : 'Processing',
        amount: 100,
        currency: 'EUR',
        orderType: 'Deposit',
        orderHistory: Array.from({ length: Math.min(read * STEP, ITEMS) }, (_, item) => ({
          time: new Date(BEGIN + item * 1000).toISOString(),
          action: item === ITEMS - 1 ? '4.1.3.00' : '4.2.2.13',
        })),
      }),
    );
    if (delayMs > 0) setTimeout(answer, delayMs, body);
    else answer(body);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit());
}

function failedReply(externalId: string): Buffer {
  const reply = {
    externalId,
    externalTransactionId: `m-${externalId}`,
    orderStatus: 'Failed',
    orderType: 'Deposit',
    orderHistory: [{ time: '2026-11-21T10:15:30Z', action: '4.1.4.63' }],
  };
  return Buffer.from(JSON.stringify(reply));
}

if (import.meta.main) serve(Number(process.argv[2] ?? 0));
