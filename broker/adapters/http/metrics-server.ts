// The listener of /metrics, apart from the interface for users: one path, small answers, few connections. Where it has a
// token, every request must bring it. It must never hold up the broker, nor reveal anything to unauthenticated clients.
import type { IncomingMessage } from 'node:http';
import type { Clock, Log } from '../../../src/ports.ts';
import { tokenOf } from '../../core/accounts/session.ts';
import { isSecret } from '../../store/devices/device-secret.ts';
import type { ListenAddress } from '../listen.ts';
import type { MetricsText } from './prometheus.ts';
import { type Answer, openSmallHttp, type SmallHttp } from './small-http.ts';

/** Scrapers of one broker; more are a mistake or an attack. */
const connectionsMost = 32;
/** Answers within so many ms of each other are one answer. */
const holdMs = 1000;

export interface MetricsServerOptions {
  readonly metrics: MetricsText;
  readonly clock: Clock;
  readonly log: Log;
  /** SHA-256 of the token that a request must bring; null: none is asked for. */
  readonly tokenHash: string | null;
}

function isAllowed(request: IncomingMessage, tokenHash: string | null): boolean {
  if (tokenHash === null) return true;
  const token = tokenOf(request.headers.authorization);
  if (token === null) return false;
  return isSecret(Buffer.from(token), tokenHash);
}

function refuse(request: IncomingMessage, tokenHash: string | null): Answer | null {
  if ((request.url ?? '').split('?', 1)[0] !== '/metrics')
    return { status: 404, body: 'There is /metrics and nothing else.\n' };
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { status: 405, body: 'GET it.\n', headers: { allow: 'GET, HEAD' } };
  if (isAllowed(request, tokenHash)) return null;
  const headers = { 'www-authenticate': 'Bearer realm="fleetward metrics"' };
  return { status: 401, body: 'The token is missing or wrong.\n', headers };
}

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export function openMetricsServer(
  { metrics, clock, log, tokenHash }: MetricsServerOptions,
  address: ListenAddress,
): Promise<SmallHttp> {
  let held: { readonly text: Promise<string>; readonly atMs: number } | null = null;
  const current = (): Promise<string> => {
    const nowMs = clock.monoMs();
    if (held === null || nowMs - held.atMs >= holdMs) held = { text: metrics.text(), atMs: nowMs };
    return held.text;
  };
  const serve = async (request: IncomingMessage): Promise<Answer> => {
    request.resume();
    const refusal = refuse(request, tokenHash);
    if (refusal !== null) return refusal;
    return { status: 200, body: await current(), headers: { 'content-type': metrics.contentType } };
  };
  const faulty = { status: 500, body: 'The figures could not be shown.\n' };
  const server = { name: 'metrics', log, tls: null, connectionsMost, keepAliveMs: 75_000, serve, faulty };
  return openSmallHttp(server, address);
}
