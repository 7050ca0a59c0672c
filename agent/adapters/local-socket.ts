// The local socket of a running agent: HTTP/1.1 with JSON over a Unix socket, for people and displays in the vehicle.
// It must never listen on a network, never replace another listener, never log a code, and never stop the agent when
// it cannot be opened. Access is controlled by the socket's group (mode 0660) and the folder that systemd makes.
import { hintFrom, messageOf } from '../../src/core/errors.ts';
import { messageTextMost } from '../../src/core/wire/wire.ts';
import type { Clock, Log } from '../../src/ports.ts';
import type { Agent } from '../agent.ts';
import type { AgentFacts, ProcessFacts } from '../core/status/agent-facts.ts';
import { conditionsOf } from '../core/status/health.ts';
import { formatMetrics, metricsContentType } from '../core/status/metrics-text.ts';

export const socketLimits = {
  bodyBytes: 4096,
  connections: 16,
  /** For a whole request, and for an answer to be made. */
  requestMs: 5000,
  /** Messages of the driver, and tries of a code, at once and per minute. */
  perMinute: 10,
} as const;

export interface LocalRequest {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  /** What was sent; never longer than `bodyBytes`. */
  readonly body: string;
}

export interface LocalAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** Methods that the path has, on 405. */
  readonly allow?: string;
}

/** The listener; its adapter enforces all connection limits, and calls `answer` for whole requests only. */
export interface LocalListener {
  close(): Promise<void>;
}
export type ListenLocally = (
  path: string,
  answer: (request: LocalRequest) => Promise<LocalAnswer>,
) => Promise<LocalListener>;

interface SocketParts {
  readonly agent: Pick<Agent, 'status' | 'sendMessage' | 'enterServiceCode'>;
  readonly clock: Clock;
  /** What only the process knows. */
  readonly process: () => ProcessFacts;
}

const json = (status: number, value: unknown): LocalAnswer => ({
  status,
  contentType: 'application/json',
  body: `${JSON.stringify(value)}\n`,
});
const fault = (status: number, detail: string, hint?: string): LocalAnswer =>
  json(status, { error: { detail, ...(hint === undefined ? {} : { hint }) } });

/** So many at once, and again as many in a minute. */
function createAllowance(clock: Clock, perMinute: number): () => boolean {
  let left: number = perMinute;
  let atMs = clock.monoMs();
  return () => {
    const nowMs = clock.monoMs();
    left = Math.min(perMinute, left + ((nowMs - atMs) / 60_000) * perMinute);
    atMs = nowMs;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** The member `name` of a JSON object with nothing else in it; null for anything else. */
function onlyMember(body: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const keys = Object.keys(value);
    return keys.length === 1 && keys[0] === name ? (value as Record<string, unknown>)[name] : null;
  } catch {
    return null;
  }
}

/** A typed text: not empty, of one line or several, without control characters. */
function isMessage(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= messageTextMost &&
    !/[^\P{Cc}\n]/u.test(value)
  );
}

type Handler = (request: LocalRequest) => Promise<LocalAnswer>;

/** The operations by path and method. */
function createLocalOperations({ agent, clock, process }: SocketParts): Handler {
  const factsNow = async (): Promise<AgentFacts> => ({ ...(await agent.status()), process: process() });
  const mayWrite = createAllowance(clock, socketLimits.perMinute);
  const mayTry = createAllowance(clock, socketLimits.perMinute);
  const slower = fault(503, 'too often', `At most ${socketLimits.perMinute} a minute.`);

  const healthz: Handler = async () => {
    const facts = await factsNow();
    const conditions = conditionsOf(facts);
    const isHealthy = conditions.every(({ isGood }) => isGood);
    const reasons = conditions.flatMap(({ isGood, seen }) => (isGood ? [] : [seen]));
    return json(isHealthy ? 200 : 503, { healthy: isHealthy, reasons, conditions });
  };
  const say: Handler = async ({ body }) => {
    const text = onlyMember(body, 'text');
    if (!isMessage(text))
      return fault(
        422,
        `send {"text": "..."} with 1 to ${messageTextMost} characters, no control characters`,
      );
    if (!mayWrite()) return slower;
    return (await agent.sendMessage(text))
      ? json(200, { stored: true })
      : fault(
          503,
          'the disk does not take it now',
          'It is kept in memory and tried again; do not send it twice.',
        );
  };
  const enterCode: Handler = async ({ body }) => {
    const code = onlyMember(body, 'code');
    // The text is the same for every fault: it reveals nothing about the code.
    if (typeof code !== 'string' || !/^\d{1,32}$/.test(code))
      return fault(422, 'send {"code": "..."} with digits only');
    if (!mayTry()) return slower;
    const { isRight, words } = agent.enterServiceCode(code);
    return json(200, { right: isRight, words });
  };
  const paths: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
    '/healthz': { GET: healthz },
    '/status': { GET: async () => json(200, await factsNow()) },
    '/metrics': {
      GET: async () => ({
        status: 200,
        contentType: metricsContentType,
        body: formatMetrics(await factsNow()),
      }),
    },
    '/messages': {
      GET: async () => json(200, { messages: (await agent.status()).messages }),
      POST: say,
    },
    '/service-code': { POST: enterCode },
  };
  return async (request) => {
    const methods = Object.hasOwn(paths, request.path) ? paths[request.path] : undefined;
    if (methods === undefined)
      return fault(404, 'there is no such path', `Paths: ${Object.keys(paths).join(', ')}`);
    const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
    if (handler !== undefined) return handler(request);
    const allow = Object.keys(methods).join(', ');
    return { ...fault(405, `the methods of ${request.path} are ${allow}`), allow };
  };
}

/**
 * Opens the socket, or logs why there is none; the agent works without it as well.
 * @param path absolute; '' opens none.
 */
export async function openLocalSocket(
  path: string,
  parts: SocketParts & { readonly log: Log; readonly listen: ListenLocally },
): Promise<LocalListener> {
  const none: LocalListener = { close: async () => undefined };
  if (path === '') return none;
  try {
    const listener = await parts.listen(path, createLocalOperations(parts));
    parts.log.info('local_socket_open', { path });
    return listener;
  } catch (thrown) {
    const hint = hintFrom(thrown);
    // At a desk there is no such folder, and nothing is missing.
    parts.log.info('local_socket_failed', {
      path,
      reason: messageOf(thrown),
      ...(hint === undefined ? {} : { hint }),
    });
    return none;
  }
}
