import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { errorReply, type GatewayReply } from './create-deposit.ts';
import type { SandboxConfig } from './options.ts';

/** The HTTP server without its routes: trailing slashes are optional, errors have the gateway's shape. */
export function createApp(config: SandboxConfig): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: 256 * 1024,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    // A wrong admin body is refused, never repaired.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true } },
  });
  // A body that is no JSON is the create method's to judge, after the caller's rights: a "Validation error".
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
    const parsed = parseJson(text as string);
    if (parsed === undefined && text !== '' && isAdmin(request.url))
      return done(Object.assign(new Error('body is not JSON'), { statusCode: 400 }));
    return done(
      null,
      /^application\/json\b/i.test(request.headers['content-type'] ?? '') ? parsed : undefined,
    );
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (isAdmin(request.url)) {
      return reply.code(error.statusCode ?? 500).send({ code: 'ADMIN', message: error.message });
    }
    const { status, body } = gatewayErrorOf(error);
    if (status === 500) config.log(`internal error: ${error.code} ${error.name}`);
    return reply.code(status).send(body);
  });
  app.setNotFoundHandler((_request, reply) => {
    const { status, body } = errorReply('NOT_FOUND');
    return reply.code(status).send(body);
  });
  app.get('/healthz', () => ({ status: 'ok' }));
  return app;
}

const isAdmin = (url: string) => url === '/admin' || url.startsWith('/admin/');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function gatewayErrorOf(error: FastifyError): GatewayReply {
  if (error.statusCode === 413) return errorReply('TOO_LARGE');
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return errorReply('VALIDATION_ERROR', [{ field: '(body)', problem: 'must be JSON' }]);
  }
  return errorReply('INTERNAL_ERROR');
}
