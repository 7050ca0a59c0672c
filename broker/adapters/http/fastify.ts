// The HTTP host: the list of operations on fastify 5. It translates and nothing more: paths, order of checks, error
// envelope, httpLimits. It must never let the framework convert a value, drop a member, or write an answer of its own, and
// never log a token, a body or a query.
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type InjectOptions,
  type LightMyRequestResponse,
} from 'fastify';
import { AppError, errorKinds, messageOf } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import { createAdmission } from '../../api/base/admission.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { authenticate, type Caller } from '../../api/base/caller.ts';
import { createPathTable } from '../../api/base/negotiation.ts';
import { type Operation, textMediaTypes } from '../../api/base/operation.ts';
import { publicError, viewError } from '../../api/base/problem.ts';
import { createSuggest } from '../../api/base/suggestion.ts';
import { createOpenapi } from '../../api/openapi.ts';
import { defaultRequestRates, type RequestRates } from '../../core/scheduling/request-rates.ts';
import type { ConsoleFiles } from '../../ports/console-files.ts';
import type { MapFolder } from '../../ports/map-folder.ts';
import type { MapStyle } from '../../ports/map-style.ts';
import type { TlsMaterial } from '../../ports/tls.ts';
import { serverOptions } from '../keys/tls-options.ts';
import { type ListenAddress, listenError } from '../listen.ts';
import { addDocs } from './docs.ts';
import { createFixedText, type Exchange } from './fastify-compress.ts';
import { addConsole } from './fastify-console.ts';
import { addCorsHeaders, addPreflights } from './fastify-cors.ts';
import { addEndings, hasLeft } from './fastify-ending.ts';
import { httpLimits, parseJson, parseText, translateFault, wireFaults } from './fastify-faults.ts';
import { addHostCheck } from './fastify-hosts.ts';
import { type AnswerObserver, addRequestLog } from './fastify-log.ts';
import { addMaps } from './fastify-maps.ts';
import { addConnectionOrder } from './fastify-order.ts';
import { addOperation, prepareRequests, TextBody } from './fastify-route.ts';
import { addSourceChecks, endBehindLongBody, pathOf } from './fastify-sources.ts';
import {
  type BoundConnections,
  boundConnections,
  type ConnectionLimits,
  createAddressList,
} from './http-connections.ts';
import { localhost, openTwin } from './localhost-twin.ts';

const probePaths = ['/', '/livez', '/readyz', '/openapi.json'] as const;

/** One part of the program that must work before it is ready, and what is wrong with it (null: nothing). */
export interface ReadyCheck {
  readonly name: string;
  readonly fault: string | null;
}

export interface HttpOptions extends AnswerObserver {
  readonly services: ApiServices;
  readonly operations: readonly Operation[];
  readonly version: string;
  readonly readiness: () => Promise<readonly ReadyCheck[]>;
  /** Addresses whose `X-Forwarded-For` is trusted; none by default. */
  readonly trustedProxies?: readonly string[];
  /** Exact origins of web pages that may read answers; none by default. */
  readonly origins?: readonly string[];
  readonly rates?: RequestRates;
  /** How long a request may take to arrive, in ms. */
  readonly requestMs?: number;
  /** How long a client may take nothing of an answer, in ms. */
  readonly stalledMs?: number;
  readonly connections?: ConnectionLimits;
  /** An answer of so many bytes is a long one, which flows and takes one of few places. */
  readonly gatherBytes?: number;
  /** Most compressed bytes held for an answer with an ETag; a longer one has none. */
  readonly heldBytes?: number;
  /** Who calls; by the sessions of the users unless given. */
  readonly authenticate?: (header: string | undefined) => Promise<Caller>;
  /** Opens the document of the interface, Markdown; the one for users unless given. */
  readonly introduction?: string;
  /** The web console; null: none is installed; absent: this host has no such path. */
  readonly console?: ConsoleFiles | null;
  /** Map files; null or absent: none are served. */
  readonly maps?: MapFolder | null;
  /** A map of another host that the console may ask; null or absent: none. */
  readonly mapStyle?: MapStyle | null;
  /** Account of a practice fleet, which every answer names so that the console can mark it; null or absent: there is none. */
  readonly practiceAccount?: string | null;
  /** Names by which requests may ask for this host, beside IP addresses and `localhost`; null or absent: any. */
  readonly names?: readonly string[] | null;
  /** Null or absent: without TLS. */
  readonly tls?: TlsMaterial | null;
}

export interface HttpServer {
  /** @throws AppError `port_in_use` or `config`. Gives the port, which matters when 0 was asked for. */
  listen(address: ListenAddress): Promise<number>;
  /** New connections get the new certificate. @throws Error when OpenSSL refuses it. */
  renewTls(material: TlsMaterial): void;
  /** Open connections of clients. */
  connections(): number;
  /** A request without a socket, for tests. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>;
  /** Takes no more requests, lets the running ones end for up to 3 s, then drops them. */
  close(): Promise<void>;
}

interface Host {
  readonly app: FastifyInstance;
  readonly options: HttpOptions;
}

/**
 * Logs what this service failed to do. What it refuses by a limit of its own, or as it stops, is no failure and has no stack. An
 * answer whose client has left may fail; the log records that it left.
 */
function logFailure(
  { options }: Host,
  { exchange, thrown }: { readonly exchange: Exchange; readonly thrown: unknown },
): void {
  if (hasLeft(exchange)) return;
  const { log } = options.services;
  const failed = { requestId: exchange.request.id, reason: messageOf(thrown) };
  if (thrown instanceof AppError && thrown.code === 'unavailable')
    return log.warn('http_unavailable', failed);
  log.error('http_failure', { ...failed, stack: thrown instanceof Error ? thrown.stack : undefined });
}

/** The only place that answers with an error. */
function answerError(
  host: Host,
  call: { request: FastifyRequest; reply: FastifyReply; thrown: unknown },
): void {
  const { request, reply, thrown } = call;
  const shown = publicError(translateFault(thrown));
  const { status } = errorKinds[shown.code];
  endBehindLongBody({ request, reply }, host.options.services.clock);
  if (status === 500 || shown.code === 'unavailable')
    logFailure(host, { exchange: { request, reply }, thrown });
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

/** The framework converts nothing. Its own compilers of schemas would load 200 files at the start. */
function refuseSchema(): never {
  throw new Error('a route gave the framework a schema');
}

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
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    bodyLimit: httpLimits.bodyBytes,
    requestTimeout: requestMs,
    // Without it a client that never reads would hold its answer in memory, and its export slot, for ever.
    connectionTimeout: stalledMs,
    keepAliveTimeout: httpLimits.keepAliveMs,
    maxRequestsPerSocket: httpLimits.requestsPerSocket,
    // A missing Host is refused below, with our own message.
    ...(tls === null
      ? { http: wire }
      : { https: { ...wire, ...serverOptions({ material: tls, clientCert: 'none' }) } }),
    // Fixed segments of a path match in any letter case; variables keep theirs.
    routerOptions: { maxParamLength: httpLimits.paramLength, caseSensitive: false },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: () => hexId(entropy.bytes(8)),
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    frameworkErrors: (error, request, reply) => {
      // Typed by the framework for its bare server only.
      const call = { request: request as FastifyRequest, reply: reply as FastifyReply, thrown: error };
      void call.reply.headers({ ...headersOf(options), 'x-request-id': request.id });
      answerError({ app: call.reply.server, options }, call);
    },
    clientErrorHandler: (fault, socket) => {
      // A handshake that failed: there is nothing to answer through.
      const isHandshake = /^(ERR_SSL|ERR_TLS|EPROTO)/.test(fault.code);
      // Nor where nothing was asked: a browser opens connections ahead, would take this for the answer to what it sends meanwhile, and sends
      // that again on another connection when this one just ends (RFC 9110, 9.2.2 and 15.5.9).
      if (!socket.writable || isHandshake || socket.bytesRead === 0) return void socket.destroy();
      const error = new AppError(
        'malformed_request',
        wireFaults[fault.code] ?? 'The request is not HTTP/1.1',
      );
      const body = JSON.stringify(viewError(error, { path: '', id: hexId(entropy.bytes(8)) }));
      const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n`;
      socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
      // Closes half-open connections; thousands of them would block new ones.
      options.services.clock.after(httpLimits.lingerMs, () => void socket.destroy());
    },
  });
}

/** How often a header stands in the request, as it was sent: names and values in turn. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const text = rawHeaders[at] ?? '';
    if (text.length === name.length && text.toLowerCase() === name) count += 1;
  }
  return count;
}

/** 404 and 405, for every verb that the parser lets through; before the body is looked at. */
function addUnknownPaths({ app, options }: Host): void {
  const table = createPathTable(options.operations, probePaths);
  const suggest = createSuggest(options.operations);
  app.addHook('onRequest', (request, reply, done) => {
    // RFC 9112 section 3.2. Of two tokens a proxy may have looked at the other one.
    const { rawHeaders, httpVersion } = request.raw;
    if (httpVersion === '1.1' && countOf(rawHeaders, 'host') === 0) {
      throw new AppError('malformed_request', 'The request has no Host header');
    }
    if (countOf(rawHeaders, 'host') > 1 || countOf(rawHeaders, 'authorization') > 1) {
      throw new AppError('malformed_request', 'The request has two headers of which there may be one');
    }
    if (!request.is404) return done();
    const path = pathOf(request);
    const allowed = table.allowed(path);
    // A known verb that found no route has a variable that is too long: no such object.
    if (allowed.length === 0 || allowed.includes(request.method)) {
      const meant = suggest(request.method, path);
      throw new AppError('not_found', `There is nothing at ${path}`, {
        hint: `${meant === null ? '' : `Did you mean ${meant}? `}The paths are listed at /docs; all but login, logout and statuscodes end in /authorization.`,
      });
    }
    void reply.header('allow', allowed.join(', '));
    throw new AppError('method_not_allowed', `${path} allows ${allowed.join(', ')}, not ${request.method}`);
  });
}

function addProbes({ app, options }: Host): void {
  let document: string | null = null;
  const sendDocument = createFixedText(() => {
    document ??= JSON.stringify(createOpenapi(options.operations, options.version, options.introduction));
    return document;
  });
  app.get('/openapi.json', (request, reply) => {
    void reply.type('application/json; charset=utf-8');
    return sendDocument({ request, reply });
  });
  app.get('/', (_request, reply) => reply.redirect(options.console == null ? '/docs/' : '/console/'));
  app.get('/livez', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await options.readiness();
    const broken = checks.filter((check) => check.fault !== null);
    if (broken.length > 0) {
      throw new AppError('unavailable', `Not ready: ${broken.map(({ name }) => name).join(', ')}`, {
        details: broken.map(({ name, fault }) => ({ pointer: `/${name}`, message: fault ?? '' })),
        retryAfterS: 1,
      });
    }
    return reply
      .header('cache-control', 'no-store')
      .send({ status: 'ok', checks: checks.map(({ name }) => name) });
  });
}

/** What comes before all else of a request: its headers, its origin and its source. */
function addEntrance(
  { app, options }: Host,
  sources: Omit<Parameters<typeof addSourceChecks>[1], 'log' | 'clock'>,
): void {
  const { practiceAccount = null } = options;
  const fixed = {
    ...headersOf(options),
    'fleetward-version': options.version,
    ...(practiceAccount === null ? {} : { 'fleetward-practice': practiceAccount }),
  };
  addEndings(app);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(fixed).header('x-request-id', request.id);
    done();
  });
  const cors = { origins: options.origins ?? [], operations: options.operations };
  addCorsHeaders(app, cors);
  const { clock, log } = options.services;
  addSourceChecks(app, { clock, log, ...sources });
  addPreflights(app, cors);
}

/** Builds the host; nothing listens until `listen`. */
export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const app = createApp(options);
  const host: Host = { app, options };
  let isClosing = false;
  let stopTwin: (() => void) | null = null;
  app.setErrorHandler((thrown, request, reply) => answerError(host, { request, reply, thrown }));
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing here');
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJson(body),
  );
  for (const type of textMediaTypes)
    app.addContentTypeParser(
      type,
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => new TextBody(parseText(body), type),
    );
  const isTrusted = createAddressList(options.trustedProxies ?? []);
  let connections: BoundConnections | null = null;
  const isReserved = (socket: Socket): boolean => connections?.isReserved(socket) === true;
  prepareRequests(app);
  addEntrance(host, { isTrusted, isReserved });
  const order = addConnectionOrder(app);
  if (options.names != null) addHostCheck(app, options.names);
  addUnknownPaths(host);
  app.addHook('onRequest', (_request, reply, done) => {
    if (!isClosing) return done();
    void reply.header('connection', 'close');
    throw new AppError('unavailable', 'The service is stopping', { retryAfterS: 5 });
  });
  addRequestLog(app, options);
  const { services, rates = defaultRequestRates } = options;
  const bySession = (header: string | undefined) => authenticate(header, services);
  const admission = createAdmission(rates, services);
  const checks = { admission, order, authenticate: options.authenticate ?? bySession };
  const { stalledMs, gatherBytes, heldBytes } = { ...httpLimits, ...options };
  const routes = { ...host, ...checks, services, stalledMs, gatherBytes, heldBytes };
  for (const operation of options.operations) addOperation(routes, operation);
  addProbes(host);
  addDocs(app);
  if (options.console !== undefined) addConsole(app, options.console, options.mapStyle ?? null);
  if (options.maps != null) addMaps(routes, options.maps);
  await app.ready();
  const { clock, log } = services;
  const limits = options.connections ?? httpLimits.connections;
  connections = boundConnections(app.server, { limits, isTrusted, clock, log });
  // An expectation that is not known is none (RFC 9110 section 10.1.1): 417 is not one of this interface's codes.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  return {
    async listen({ host: address, port, setting }) {
      const isBoth = address === 'localhost';
      try {
        // Never the name: fastify would make a second server, which could not get a new certificate.
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
    connections: () => connections?.open() ?? 0,
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
