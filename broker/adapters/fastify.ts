// The HTTP host: the list of operations on fastify 5. It translates and nothing more: paths, order of checks, error
// envelope, httpLimits. It must never let the framework convert a value, drop a member, or word an answer of its own, and
// never log a token, a body or a query.
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type InjectOptions,
  type LightMyRequestResponse,
} from 'fastify';
import { AppError, errorKinds, messageOf } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import { authenticate } from '../api/caller.ts';
import { acceptsType, createPathTable } from '../api/negotiation.ts';
import { createOpenapi } from '../api/openapi.ts';
import { type ApiServices, type Caller, type Operation, servedPaths } from '../api/operation.ts';
import { publicError, viewError } from '../api/problem.ts';
import { createChecker } from '../api/request.ts';
import { roleCovers } from '../core/session.ts';
import { sendAnswer } from './fastify-answer.ts';
import {
  httpLimits,
  listenError,
  parseJson,
  parseText,
  translateFault,
  wireFaults,
} from './fastify-faults.ts';
import { registerDocs } from './swagger.ts';

const probePaths = ['/', '/livez', '/readyz', '/openapi.json'] as const;

/** One part of the program that must work before it is ready, and what is wrong with it (null: nothing). */
export interface ReadyCheck {
  readonly name: string;
  readonly fault: string | null;
}

export interface HttpOptions {
  readonly services: ApiServices;
  readonly operations: readonly Operation[];
  readonly version: string;
  readonly readiness: () => Promise<readonly ReadyCheck[]>;
  /** Addresses whose `X-Forwarded-For` is believed; nobody's by default. */
  readonly trustedProxies?: readonly string[];
}

export interface HttpServer {
  /** @throws AppError `port_in_use` or `config`. Gives the port, which matters when 0 was asked for. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** A request without a socket, for tests. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>;
  /** Takes no more requests, lets the running ones end for up to 3 s, then drops them. */
  close(): Promise<void>;
}

interface Host {
  readonly app: FastifyInstance;
  readonly options: HttpOptions;
  /** Set once a token was checked; a request that needs none has no entry. */
  readonly callers: WeakMap<FastifyRequest, Caller>;
}

const pathOf = (request: FastifyRequest): string => (request.url.split('?', 1)[0] ?? '').slice(0, 512);

/** The only place that answers with an error. */
function answerError(
  host: Host,
  call: { request: FastifyRequest; reply: FastifyReply; thrown: unknown },
): void {
  const { request, reply, thrown } = call;
  const shown = publicError(translateFault(thrown));
  const { status } = errorKinds[shown.code];
  if (status === 500 || shown.code === 'unavailable') {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    host.options.services.log.error('http-failure', {
      requestId: request.id,
      reason: messageOf(thrown),
      stack,
    });
  }
  if (status === 401) void reply.header('www-authenticate', 'Bearer realm="fleetward"');
  if (status === 503) void reply.header('retry-after', String(shown.retryAfterS ?? 1));
  void reply
    .header('cache-control', 'no-store')
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(viewError(shown, { path: pathOf(request), id: request.id })));
}

const jsonHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

function createApp(options: HttpOptions): FastifyInstance {
  const { entropy } = options.services;
  return fastify({
    logger: false,
    bodyLimit: httpLimits.bodyBytes,
    requestTimeout: httpLimits.requestMs,
    keepAliveTimeout: httpLimits.keepAliveMs,
    maxRequestsPerSocket: httpLimits.requestsPerSocket,
    // A missing Host is refused below, in our own words.
    http: {
      maxHeaderSize: httpLimits.headerBytes,
      headersTimeout: httpLimits.requestMs,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: httpLimits.paramLength },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: () => hexId(entropy.bytes(8)),
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    frameworkErrors: (error, request, reply) => {
      // Typed by the framework for its bare server only.
      const call = { request: request as FastifyRequest, reply: reply as FastifyReply, thrown: error };
      void call.reply.headers({ ...jsonHeaders, 'x-request-id': request.id });
      answerError({ app: call.reply.server, options, callers: new WeakMap() }, call);
    },
    clientErrorHandler: (fault, socket) => {
      if (!socket.writable) return void socket.destroy();
      const error = new AppError(
        'malformed_request',
        wireFaults[fault.code] ?? 'the request is not HTTP/1.1',
      );
      const body = JSON.stringify(viewError(error, { path: '', id: hexId(entropy.bytes(8)) }));
      const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n`;
      socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
    },
  });
}

/** 404 and 405, for every verb that the parser lets through; before the body is looked at. */
function addUnknownPaths({ app, options }: Host): void {
  const table = createPathTable(options.operations, probePaths);
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({ ...jsonHeaders, 'x-request-id': request.id });
    // RFC 9112 section 3.2.
    if (request.raw.httpVersion === '1.1' && request.raw.headers.host === undefined) {
      throw new AppError('malformed_request', 'the request has no Host header');
    }
    if (!request.is404) return;
    const path = pathOf(request);
    const allowed = table.allowed(path);
    // A known verb that found no route has a variable that is too long: no such object.
    if (allowed.length === 0 || allowed.includes(request.method)) {
      throw new AppError('not_found', `there is nothing at ${path}`, {
        hint: 'The paths are listed at /docs.',
      });
    }
    void reply.header('allow', allowed.join(', '));
    throw new AppError('method_not_allowed', `${path} knows ${allowed.join(', ')}, not ${request.method}`);
  });
}

/** Structured, one line a request; the route instead of the path, and no query, because people paste tokens. */
function addRequestLog({ app, options, callers }: Host): void {
  app.addHook('onResponse', async (request, reply) => {
    const caller = callers.get(request);
    options.services.log.info('http', {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
      source: request.ip,
      ...(caller === undefined ? {} : { accountID: caller.accountID, userID: caller.userID }),
    });
  });
}

function needRole(caller: Caller, operation: Operation): void {
  if (operation.access === 'public' || roleCovers(caller.role, operation.access)) return;
  throw new AppError(
    'forbidden',
    `${operation.id} needs the role ${operation.access}; you are ${caller.role}`,
    {
      hint: 'Ask an administrator of the account.',
    },
  );
}

/** A body that is not JSON, told apart from one that is a JSON text. */
class TextBody {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The body as an object: a text of the further media type stands as its one member. */
function bodyOf(request: FastifyRequest, { textBody }: Operation): unknown {
  if (!(request.body instanceof TextBody)) return request.body;
  if (textBody === undefined) {
    throw new AppError('not_acceptable', 'the body is not declared as application/json', {
      hint: 'Send JSON with `Content-Type: application/json`.',
    });
  }
  return { [textBody.member]: request.body.text };
}

function addOperation({ app, options, callers }: Host, operation: Operation): void {
  const { services } = options;
  const checker = createChecker(operation);
  for (const path of servedPaths(operation)) {
    app.route({
      method: operation.method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      // A HEAD must never run a GET that changes something.
      exposeHeadRoute: !operation.effects,
      onRequest: async (request, reply) => {
        void reply.header('cache-control', 'no-store');
        if (operation.access !== 'public') {
          callers.set(request, await authenticate(request.headers.authorization, services));
        }
        const type = operation.produces ?? 'application/json';
        if (!acceptsType(request.headers.accept, type)) {
          throw new AppError('not_acceptable', `the Accept header excludes ${type}`, {
            hint: `Send \`Accept: ${type}\`, or none.`,
          });
        }
      },
      handler: async (request, reply) => {
        const caller = callers.get(request) ?? null;
        if (caller !== null) needRole(caller, operation);
        checker.checkParams(request.params);
        checker.checkQuery(request.query);
        if (operation.body !== null && request.body === undefined) parseJson(Buffer.alloc(0));
        const body = checker.readBody(bodyOf(request, operation));
        const { params, query, ip: source } = request;
        const result = await operation.run({ params, query, body, caller, source }, services);
        return sendAnswer({ request, reply }, operation, result);
      },
    });
  }
}

function addProbes({ app, options }: Host): void {
  const document = JSON.stringify(createOpenapi(options.operations, options.version));
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(document));
  app.get('/', (_request, reply) => reply.redirect('/docs/'));
  app.get('/livez', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await options.readiness();
    const broken = checks.filter((check) => check.fault !== null);
    if (broken.length > 0) {
      throw new AppError('unavailable', `not ready: ${broken.map(({ name }) => name).join(', ')}`, {
        details: broken.map(({ name, fault }) => ({ pointer: `/${name}`, message: fault ?? '' })),
        retryAfterS: 1,
      });
    }
    return reply
      .header('cache-control', 'no-store')
      .send({ status: 'ok', checks: checks.map(({ name }) => name) });
  });
}

/** Builds the host; nothing listens until `listen`. */
export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const app = createApp(options);
  const host: Host = { app, options, callers: new WeakMap() };
  let isClosing = false;
  app.setErrorHandler((thrown, request, reply) => answerError(host, { request, reply, thrown }));
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'there is nothing here');
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJson(body),
  );
  app.addContentTypeParser(
    'text/csv',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => new TextBody(parseText(body)),
  );
  addUnknownPaths(host);
  app.addHook('onRequest', async (_request, reply) => {
    if (!isClosing) return;
    void reply.header('connection', 'close');
    throw new AppError('unavailable', 'the service is stopping', { retryAfterS: 5 });
  });
  addRequestLog(host);
  for (const operation of options.operations) addOperation(host, operation);
  addProbes(host);
  await registerDocs(app, createOpenapi(options.operations, options.version));
  await app.ready();
  app.server.maxConnections = httpLimits.connections;
  // An expectation that is not known is none (RFC 9110 section 10.1.1): 417 is not one of this interface's codes.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  return {
    async listen({ host: address, port }) {
      try {
        await app.listen({ host: address, port });
      } catch (thrown) {
        throw listenError(thrown, { host: address, port });
      }
      const bound = app.server.address();
      return typeof bound === 'object' && bound !== null ? bound.port : port;
    },
    inject: async (request) => app.inject(request),
    async close() {
      isClosing = true;
      const cancel = options.services.clock.after(httpLimits.closeMs, () => app.server.closeAllConnections());
      await app.close();
      cancel();
    },
  };
}
