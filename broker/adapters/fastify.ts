// The HTTP host: the list of operations on fastify 5. It translates and nothing more: paths, order of checks, error
// envelope, httpLimits. It must never let the framework convert a value, drop a member, or word an answer of its own, and
// never log a token, a body or a query.
import { Server as TlsServer } from 'node:tls';
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
import { createAdmission, defaultRequestRates, type RequestRates } from '../api/admission.ts';
import { authenticate } from '../api/caller.ts';
import { createPathTable } from '../api/negotiation.ts';
import { createOpenapi } from '../api/openapi.ts';
import { type ApiServices, type Caller, type Operation, servedPaths } from '../api/operation.ts';
import { publicError, viewError } from '../api/problem.ts';
import type { TlsMaterial } from '../mqtt-server.ts';
import { createPageTurns } from '../work/page-turns.ts';
import { createFixedText } from './fastify-compress.ts';
import { httpLimits, parseJson, parseText, translateFault, wireFaults } from './fastify-faults.ts';
import { addOperation, TextBody } from './fastify-route.ts';
import { type ListenAddress, listenError } from './listen.ts';
import { localhost, openTwin } from './localhost-twin.ts';
import { registerDocs } from './swagger.ts';
import { serverOptions } from './tls-options.ts';

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
  readonly rates?: RequestRates;
  /** How long a request may take to arrive, in ms. */
  readonly requestMs?: number;
  /** How long a client may take nothing of an answer, in ms. */
  readonly stalledMs?: number;
  /** Who calls; by the sessions of the users unless given. */
  readonly authenticate?: (header: string | undefined) => Promise<Caller>;
  /** Told of every answer after its last byte; must not throw. `operation`: its id, or the path of what is none. */
  readonly onAnswered?: (answered: {
    readonly operation: string;
    readonly status: number;
    readonly durationMs: number;
  }) => void;
  /** Opens the document of the interface, Markdown; the one for users unless given. */
  readonly introduction?: string;
  /** Null or absent: without TLS. */
  readonly tls?: TlsMaterial | null;
}

export interface HttpServer {
  /** @throws AppError `port_in_use` or `config`. Gives the port, which matters when 0 was asked for. */
  listen(address: ListenAddress): Promise<number>;
  /** New connections get the new certificate. @throws Error when OpenSSL refuses it. */
  renewTls(material: TlsMaterial): void;
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

/** RFC 6797: for a year browsers ask for nothing of this host without TLS. */
const tlsHeaders = { 'strict-transport-security': 'max-age=31536000' } as const;

const headersOf = ({ tls = null }: HttpOptions) =>
  tls === null ? jsonHeaders : { ...jsonHeaders, ...tlsHeaders };

function createApp(options: HttpOptions): FastifyInstance {
  const { entropy } = options.services;
  const { requestMs = httpLimits.requestMs, stalledMs = httpLimits.stalledMs, tls = null } = options;
  const wire = {
    maxHeaderSize: httpLimits.headerBytes,
    headersTimeout: requestMs,
    // How often the server looks for those that are over their time.
    connectionsCheckingInterval: Math.ceil(requestMs / 10),
    requireHostHeader: false,
  };
  return fastify({
    logger: false,
    bodyLimit: httpLimits.bodyBytes,
    requestTimeout: requestMs,
    // Who asks and never reads would keep his answer in memory, and his place among the exports, for ever.
    connectionTimeout: stalledMs,
    keepAliveTimeout: httpLimits.keepAliveMs,
    maxRequestsPerSocket: httpLimits.requestsPerSocket,
    // A missing Host is refused below, in our own words.
    ...(tls === null
      ? { http: wire }
      : { https: { ...wire, ...serverOptions({ material: tls, clientCert: 'none' }) } }),
    routerOptions: { maxParamLength: httpLimits.paramLength },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: () => hexId(entropy.bytes(8)),
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    frameworkErrors: (error, request, reply) => {
      // Typed by the framework for its bare server only.
      const call = { request: request as FastifyRequest, reply: reply as FastifyReply, thrown: error };
      void call.reply.headers({ ...headersOf(options), 'x-request-id': request.id });
      answerError({ app: call.reply.server, options, callers: new WeakMap() }, call);
    },
    clientErrorHandler: (fault, socket) => {
      // A handshake that failed: there is nothing to answer through.
      if (!socket.writable || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(fault.code)) return void socket.destroy();
      const error = new AppError(
        'malformed_request',
        wireFaults[fault.code] ?? 'the request is not HTTP/1.1',
      );
      const body = JSON.stringify(viewError(error, { path: '', id: hexId(entropy.bytes(8)) }));
      const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n`;
      socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
      // Who leaves his side open would keep the connection, and with some thousands of them keep everybody out.
      options.services.clock.after(httpLimits.lingerMs, () => void socket.destroy());
    },
  });
}

/** How often a header stands in the request, as it was sent: names and values in turn. */
const countOf = (rawHeaders: readonly string[], name: string): number =>
  rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;

/** 404 and 405, for every verb that the parser lets through; before the body is looked at. */
function addUnknownPaths({ app, options }: Host): void {
  const table = createPathTable(options.operations, probePaths);
  const headers = headersOf(options);
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({ ...headers, 'x-request-id': request.id });
    // RFC 9112 section 3.2. Of two tokens a proxy may have looked at the other one.
    const { rawHeaders, httpVersion } = request.raw;
    if (httpVersion === '1.1' && countOf(rawHeaders, 'host') === 0) {
      throw new AppError('malformed_request', 'the request has no Host header');
    }
    if (countOf(rawHeaders, 'host') > 1 || countOf(rawHeaders, 'authorization') > 1) {
      throw new AppError('malformed_request', 'the request has two headers of which there may be one');
    }
    if (!request.is404) return;
    const path = pathOf(request);
    const allowed = table.allowed(path);
    // A known verb that found no route has a variable that is too long: no such object.
    if (allowed.length === 0 || allowed.includes(request.method)) {
      throw new AppError('not_found', `there is nothing at ${path}`, {
        hint: 'The paths are listed at /docs; all but login and logout end in /authorization.',
      });
    }
    void reply.header('allow', allowed.join(', '));
    throw new AppError('method_not_allowed', `${path} knows ${allowed.join(', ')}, not ${request.method}`);
  });
}

/** Of an operation by its path, or of a request by the route that it took. */
const routeOf = (method: string, path: string): string =>
  `${method === 'HEAD' ? 'GET' : method} ${path.replace(/\{(\w+)\}/g, ':$1')}`;

/** Structured, one line a request; the route instead of the path, and no query, because people paste tokens. */
function addRequestLog({ app, options, callers }: Host): void {
  const { operations, onAnswered } = options;
  const ids = new Map(
    operations.flatMap((one) => servedPaths(one).map((path) => [routeOf(one.method, path), one.id])),
  );
  app.addHook('onResponse', async (request, reply) => {
    const caller = callers.get(request);
    const { url } = request.routeOptions;
    // The route of /docs is the same for all its files; what is no route at all has no name.
    const operation = url === undefined ? 'none' : (ids.get(routeOf(request.method, url)) ?? url);
    onAnswered?.({ operation, status: reply.statusCode, durationMs: reply.elapsedTime });
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

function addProbes({ app, options }: Host): void {
  const { operations, version, introduction } = options;
  const sendDocument = createFixedText(JSON.stringify(createOpenapi(operations, version, introduction)));
  app.get('/openapi.json', (request, reply) => {
    void reply.type('application/json; charset=utf-8');
    return sendDocument({ request, reply });
  });
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
  let stopTwin: (() => void) | null = null;
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
  const { services, rates = defaultRequestRates } = options;
  const bySession = (header: string | undefined) => authenticate(header, services);
  const admission = createAdmission(rates, services);
  const turns = createPageTurns();
  const routes = { ...host, services, admission, turns, authenticate: options.authenticate ?? bySession };
  for (const operation of options.operations) addOperation(routes, operation);
  addProbes(host);
  await registerDocs(app, createOpenapi(options.operations, options.version, options.introduction));
  await app.ready();
  app.server.maxConnections = httpLimits.connections;
  // An expectation that is not known is none (RFC 9110 section 10.1.1): 417 is not one of this interface's codes.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  return {
    async listen({ host: address, port, setting }) {
      const isBoth = address === 'localhost';
      try {
        // Never the name: fastify would make a second server, which nobody could give a new certificate.
        await app.listen({ host: isBoth ? localhost.first : address, port });
        const bound = app.server.address();
        const taken = typeof bound === 'object' && bound !== null ? bound.port : port;
        if (isBoth) stopTwin = await openTwin(app.server, taken);
        return taken;
      } catch (thrown) {
        throw listenError(thrown, { host: address, port, setting });
      }
    },
    renewTls(material) {
      if (app.server instanceof TlsServer)
        app.server.setSecureContext(serverOptions({ material, clientCert: 'none' }));
    },
    inject: async (request) => app.inject(request),
    async close() {
      isClosing = true;
      stopTwin?.();
      const cancel = options.services.clock.after(httpLimits.closeMs, () => app.server.closeAllConnections());
      await app.close();
      cancel();
    },
  };
}
