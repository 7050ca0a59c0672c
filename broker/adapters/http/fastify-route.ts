// One operation as routes of the host: the order of checks (source, token, rate, Accept, role, content), the call, the
// answer. It must never let a request reach a handler before its token, its role and its content are checked.
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../../src/core/errors.ts';
import type { Admission, AdmissionLane } from '../../api/base/admission.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Caller, isLinkCaller } from '../../api/base/caller.ts';
import { parseKey, runOnce, takesKey } from '../../api/base/idempotency.ts';
import { acceptsType } from '../../api/base/negotiation.ts';
import { type Operation, servedPaths, type TextMediaType } from '../../api/base/operation.ts';
import { type Checker, composed, createChecker } from '../../api/base/request.ts';
import { needTokenRight } from '../../api/base/token-rights.ts';
import { roleCovers } from '../../core/accounts/session.ts';
import type { Owner } from '../../scheduling/slots.ts';
import { jsonText, type Pace, sendAnswer, sendJson } from './fastify-answer.ts';
import type { Exchange } from './fastify-compress.ts';
import { endOf } from './fastify-ending.ts';
import { parseJson } from './fastify-faults.ts';
import type { ConnectionOrder } from './fastify-order.ts';

/** What the routes of one host share. */
export interface RouteHost {
  readonly app: FastifyInstance;
  readonly services: ApiServices;
  readonly admission: Admission;
  /** How long a client may take nothing of an answer, in ms. */
  readonly stalledMs: number;
  /** An answer of so many bytes is a long one. */
  readonly gatherBytes: number;
  /** Most compressed bytes held for an answer with an ETag. */
  readonly heldBytes: number;
  /** The caller of a request by its header `authorization`. @throws AppError `unauthorized`. */
  readonly authenticate: (header: string | undefined) => Promise<Caller>;
  readonly order: ConnectionOrder;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once a token was checked; null for a request that needs none. */
    caller: Caller | null;
    /** When an order was taken up: before its token is looked up, so that no look-up changes the order; null for others. */
    arrivedUs: number | null;
  }
}

/** Prepares the requests of a host for its routes. */
export function prepareRequests(app: FastifyInstance): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('arrivedUs', null);
}

/** A body that is not JSON, distinguished from a JSON text. */
export class TextBody {
  readonly text: string;
  readonly mediaType: TextMediaType;

  constructor(text: string, mediaType: TextMediaType) {
    this.text = text;
    this.mediaType = mediaType;
  }
}

/** A share link reaches its own operations, and nothing else does. */
function needShare(caller: Caller, operation: Operation): void {
  const isHolder = isLinkCaller(caller);
  if (isHolder === (operation.access === 'share')) return;
  throw new AppError(
    'forbidden',
    isHolder ? `A share link may not call ${operation.id}` : `${operation.id} is for share links only`,
  );
}

function needRole(caller: Caller, operation: Operation): void {
  const { access } = operation;
  if (access === 'public' || access === 'share' || roleCovers(caller.role, access)) return;
  throw new AppError('forbidden', `${operation.id} needs the role ${access}; you are ${caller.role}`, {
    hint: 'Ask an administrator of the account.',
  });
}

/** The body as an object: a text of the further media type stands as its one member. */
function bodyOf(request: FastifyRequest, { textBody }: Operation): unknown {
  if (!(request.body instanceof TextBody)) return request.body;
  if (textBody?.mediaType !== request.body.mediaType) {
    throw new AppError('not_acceptable', 'The body is not declared as application/json', {
      hint: 'Send JSON with `Content-Type: application/json`.',
    });
  }
  return { [textBody.member]: request.body.text };
}

const headerOf = (request: FastifyRequest, name: string): string | null => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
};

/**
 * Finds out who calls.
 * @throws AppError `unauthorized`; `throttled` after too many wrong tokens from the address.
 */
export async function identify(
  { authenticate }: RouteHost,
  lane: AdmissionLane,
  request: FastifyRequest,
): Promise<Caller> {
  const { authorization } = request.headers;
  const caller = await lane.identify({ source: request.ip, authorization }, () =>
    authenticate(authorization),
  );
  request.caller = caller;
  return caller;
}

/** Authenticates the caller and checks its rate. */
async function admit(host: RouteHost, operation: Operation, { request, reply }: Exchange): Promise<void> {
  const { orders, intake } = host.admission;
  const lane = operation.isOrder === true ? orders : operation.isIntake === true ? intake : host.admission;
  const { tokenHash } = await identify(host, lane, request);
  try {
    lane.admit(tokenHash);
  } finally {
    void reply.headers(lane.headersOf(tokenHash));
  }
}

/** RFC 9110 section 12.5.3 asks for the header; the status of the interface for it is 406. */
function needPlainBody({ request, reply }: Exchange): void {
  const coding = headerOf(request, 'content-encoding');
  if (coding === null || coding.trim().toLowerCase() === 'identity') return;
  void reply.header('accept-encoding', 'identity');
  const message = `The body is encoded as ${JSON.stringify(coding.slice(0, 64))}; no content coding is taken`;
  throw new AppError('not_acceptable', message, {
    hint: 'Send the body as it is, without the header Content-Encoding.',
  });
}

interface Route extends RouteHost {
  readonly operation: Operation;
  /** Made for the first request: to compile the schemas of all operations takes a tenth of a start. */
  readonly checker: () => Checker;
}

/** Bytes that a client must take in the time after which it counts as stalled: what a poor mobile link carries in a minute. */
const stallBytes = 128 * 1024;

/** How answers share the service, for one of them. */
function paceOf(
  { services, stalledMs, gatherBytes, heldBytes }: Route,
  exchange: Exchange,
  owner: Owner,
): Pace {
  const { clock, pageLimit } = services;
  const { socket } = exchange.request.raw;
  // `inject` has no connection.
  const connection = socket instanceof Socket ? socket : null;
  return {
    until: () => endOf(exchange),
    gatherBytes,
    heldBytes,
    async inTurn(work) {
      // While a piece is made the connection is not idle, whether or not there is anything to send yet.
      connection?.setTimeout(0);
      try {
        return await pageLimit.run(owner, endOf(exchange), work);
      } finally {
        connection?.setTimeout(stalledMs);
      }
    },
    begin: () => pageLimit.begin(owner, endOf(exchange)),
    watchStall: (bytes) =>
      clock.after(stalledMs * Math.ceil((bytes + 1) / stallBytes), () => void connection?.destroy()),
  };
}

/** A request that waited for another one of its connection comes after it: that one may have ended its session. */
async function beginAnew(route: Route, request: FastifyRequest): Promise<void> {
  request.arrivedUs = route.services.ledger.arrived();
  if (route.operation.access === 'public') return;
  request.caller = await route.authenticate(request.headers.authorization);
}

const publicOwner: Owner = { accountID: '', userID: '', tokenHash: '' };

/** Long answers of share links take no places from the users of the account. */
const ownerOf = (caller: Caller): Owner =>
  isLinkCaller(caller) ? { ...caller, accountID: `${caller.accountID} shares` } : caller;

async function serve(route: Route, exchange: Exchange): Promise<unknown> {
  const { operation, services } = route;
  const { request, reply } = exchange;
  const turn = route.order.turn(request);
  if (turn !== null) {
    await turn;
    await beginAnew(route, request);
  }
  const { caller } = request;
  if (caller !== null) {
    needShare(caller, operation);
    needRole(caller, operation);
    if (operation.access !== 'share') needTokenRight(caller, operation);
  }
  const checker = route.checker();
  const params = composed(request.params);
  checker.checkParams(params);
  checker.checkQuery(request.query);
  if (operation.body !== null && request.body === undefined) parseJson(Buffer.alloc(0));
  const body = checker.readBody(bodyOf(request, operation));
  const { query, ip: source } = request;
  const arrivedUs = request.arrivedUs ?? services.ledger.arrived();
  const lastEventID = headerOf(request, 'last-event-id');
  const ifMatch = operation.takesIfMatch === true ? headerOf(request, 'if-match') : null;
  const userAgent = headerOf(request, 'user-agent');
  const until = (): AbortSignal => endOf(exchange);
  const input = {
    params,
    query,
    body,
    caller,
    source,
    arrivedUs,
    lastEventID,
    ifMatch,
    userAgent,
    until,
  };
  const header = headerOf(request, 'idempotency-key');
  if (header === null || caller === null || !takesKey(operation)) {
    const pace = paceOf(route, exchange, caller === null ? publicOwner : ownerOf(caller));
    return sendAnswer(exchange, operation, { result: await operation.run(input, services), pace });
  }
  const asked = { key: parseKey(header), operation, caller, asked: { params, query, body } };
  const answer = await runOnce(services, asked, async (watched) =>
    jsonText(await operation.run(input, watched)),
  );
  if (answer.isReplayed) void reply.header('idempotency-replayed', 'true');
  return sendJson(exchange, answer.text);
}

/** A path with its variables as fastify writes them. */
export const routeUrl = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

/** Adds the routes of an operation, one for each path that it is served at. */
export function addOperation(host: RouteHost, operation: Operation): void {
  let checker: Checker | null = null;
  const route: Route = {
    ...host,
    operation,
    checker: () => {
      checker ??= createChecker(operation);
      return checker;
    },
  };
  const type = operation.produces ?? 'application/json';
  for (const path of servedPaths(operation)) {
    host.app.route({
      method: operation.method,
      url: routeUrl(path),
      // A HEAD must never run a GET that changes something.
      exposeHeadRoute: !operation.effects,
      onRequest: async (request, reply) => {
        if (operation.isOrder === true) request.arrivedUs = host.services.ledger.arrived();
        void reply.header('cache-control', 'no-store');
        // GPSLogger names no type for its form, and older versions of Traccar Client send an empty one.
        if (operation.textBody?.mediaType === 'application/x-www-form-urlencoded')
          request.raw.headers['content-type'] ??= operation.textBody.mediaType;
        if (operation.access !== 'public') await admit(host, operation, { request, reply });
        if (operation.body !== null) needPlainBody({ request, reply });
        if (acceptsType(request.headers.accept, type)) return;
        throw new AppError('not_acceptable', `The Accept header excludes ${type}`, {
          hint: `Send \`Accept: ${type}\`, or none.`,
        });
      },
      handler: (request, reply) => serve(route, { request, reply }),
    });
  }
}
