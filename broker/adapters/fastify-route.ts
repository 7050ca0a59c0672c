// One operation as routes of the host: the order of checks (source, token, rate, Accept, role, content), the call, the
// answer. It must never let a request reach a handler before its token, its role and its content are checked.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../src/core/errors.ts';
import type { Admission } from '../api/admission.ts';
import { parseKey, runOnce, takesKey } from '../api/idempotency.ts';
import { acceptsType } from '../api/negotiation.ts';
import { type ApiServices, type Caller, type Operation, servedPaths } from '../api/operation.ts';
import { type Checker, createChecker } from '../api/request.ts';
import { roleCovers, tokenOf } from '../core/session.ts';
import type { PageTurns } from '../work/page-turns.ts';
import { jsonText, type Pace, sendAnswer, sendJson } from './fastify-answer.ts';
import { parseJson } from './fastify-faults.ts';

/** What the routes of one host share. */
export interface RouteHost {
  readonly app: FastifyInstance;
  readonly services: ApiServices;
  readonly admission: Admission;
  readonly turns: PageTurns;
  /** The caller of a request by its header `authorization`. @throws AppError `unauthorized`. */
  readonly authenticate: (header: string | undefined) => Promise<Caller>;
  /** Set once a token was checked; a request that needs none has no entry. */
  readonly callers: WeakMap<FastifyRequest, Caller>;
}

/** A body that is not JSON, told apart from one that is a JSON text. */
export class TextBody {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
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

const headerOf = (request: FastifyRequest, name: string): string | null => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
};

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Who calls, and whether he may call now. */
async function admit(host: RouteHost, operation: Operation, { request, reply }: Exchange): Promise<void> {
  const { callers } = host;
  const admission = operation.isOrder === true ? host.admission.orders : host.admission;
  const { authorization } = request.headers;
  admission.checkSource(request.ip, authorization);
  try {
    callers.set(request, await host.authenticate(authorization));
  } catch (thrown) {
    // What has not even the shape of a token costs nothing and is no guess.
    const isGuess = thrown instanceof AppError && thrown.code === 'unauthorized';
    if (isGuess && tokenOf(authorization) !== null) admission.noteFailure(request.ip);
    throw thrown;
  }
  const tokenHash = callers.get(request)?.tokenHash ?? '';
  try {
    admission.admit(tokenHash);
  } finally {
    void reply.headers(admission.headersOf(tokenHash));
  }
}

interface Route extends RouteHost {
  readonly operation: Operation;
  readonly checker: Checker;
}

async function serve(route: Route, exchange: Exchange): Promise<unknown> {
  const { operation, checker, services } = route;
  const { request, reply } = exchange;
  const caller = route.callers.get(request) ?? null;
  if (caller !== null) needRole(caller, operation);
  checker.checkParams(request.params);
  checker.checkQuery(request.query);
  if (operation.body !== null && request.body === undefined) parseJson(Buffer.alloc(0));
  const body = checker.readBody(bodyOf(request, operation));
  const { params, query, ip: source } = request;
  const input = { params, query, body, caller, source, lastEventID: headerOf(request, 'last-event-id') };
  const header = headerOf(request, 'idempotency-key');
  if (header === null || caller === null || !takesKey(operation)) {
    const accountID = caller?.accountID ?? '';
    const pace: Pace = {
      inTurn: (work) => route.turns.take(accountID, work),
      begin: () => route.turns.begin(accountID),
    };
    return sendAnswer(exchange, operation, { result: await operation.run(input, services), pace });
  }
  const asked = { key: parseKey(header), operation, caller, asked: { params, query, body } };
  const answer = await runOnce(services, asked, async (watched) =>
    jsonText(await operation.run(input, watched)),
  );
  if (answer.isReplayed) void reply.header('idempotency-replayed', 'true');
  return sendJson(exchange, answer.text);
}

/** Adds the routes of an operation, one for each path that it is served at. */
export function addOperation(host: RouteHost, operation: Operation): void {
  const route: Route = { ...host, operation, checker: createChecker(operation) };
  const type = operation.produces ?? 'application/json';
  for (const path of servedPaths(operation)) {
    host.app.route({
      method: operation.method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      // A HEAD must never run a GET that changes something.
      exposeHeadRoute: !operation.effects,
      onRequest: async (request, reply) => {
        void reply.header('cache-control', 'no-store');
        if (operation.access !== 'public') await admit(host, operation, { request, reply });
        if (acceptsType(request.headers.accept, type)) return;
        throw new AppError('not_acceptable', `the Accept header excludes ${type}`, {
          hint: `Send \`Accept: ${type}\`, or none.`,
        });
      },
      handler: (request, reply) => serve(route, { request, reply }),
    });
  }
}
