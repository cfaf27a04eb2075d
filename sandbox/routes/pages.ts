import type { FastifyInstance } from 'fastify';
import { errorReply } from '../create-deposit.ts';
import type { OrderStore } from '../orders.ts';
import { statusAt } from '../reply.ts';

/**
 * What the links in create replies lead to. The payer's steps are part of the seeded history: nothing to fill
 * in.
 */
export function registerPages(app: FastifyInstance, orders: OrderStore, now: () => number): void {
  for (const [path, title] of PAGES) {
    app.get<{ Params: { id: string } }>(`/${path}/:id`, (request, reply) => {
      const order = orders.byExternalId('Deposit', request.params.id);
      const { status, body } = errorReply('NOT_FOUND');
      if (!order) return reply.code(status).send(body);
      return reply
        .type('text/html; charset=utf-8')
        .send(page(title, order.externalId, statusAt(order, now())));
    });
  }
}

const PAGES = [
  ['form', 'Payment form'],
  ['3ds', '3-D Secure'],
] as const;

const safe = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

function page(title: string, id: string, status: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title>
<h1>${title}</h1>
<p>Order ${safe(id)} is ${safe(status)}.</p>
<p>This is a sandbox: the payer's visit is already part of the order's history.</p>
</html>
`;
}
