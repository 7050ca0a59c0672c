// A process full of raw MQTT clients, led over its IPC channel (`fleet-orders.ts`): opens thousands of connections, drops
// them, publishes. It must never do what a vehicle would not, but where an order says so.
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { deliveryLimits } from '../../agent/core/link/delivery.ts';
import { retryDelayMs } from '../../src/core/retry-delay.ts';
import type {
  FleetAnswers,
  FleetOrder,
  OpenOrder,
  OpenResult,
  PublishOrder,
  PublishResult,
} from './fleet-orders.ts';
import { serveOrders } from './measured-process.ts';
import { type ClientPlace, openFleetClient, type RawFleetClient } from './raw-fleet-client.ts';

const latenciesMost = 200_000;

const clients = new Map<number, RawFleetClient>();
const tickets = new Map<number, Buffer>();
let latencies: number[] = [];
let acknowledged = 0;
let pongs = 0;

interface Opening {
  readonly order: OpenOrder;
  readonly beganMs: number;
  readonly contextOf: (index: number) => SecureContext | null;
  readonly refused: Record<string, number>;
  readonly inAfterMs: number[];
  attempts: number;
  resumed: number;
  isOver: boolean;
}

/** Resolves when the client is in, or the order is over. */
async function bringIn(opening: Opening, index: number): Promise<void> {
  const { order, contextOf, refused, inAfterMs, beganMs } = opening;
  await sleep(Math.random() * order.spreadMs);
  for (let round = 0; !opening.isOver; round++) {
    const place: ClientPlace = {
      port: order.target.port,
      from: order.from[index % order.from.length] ?? '127.0.0.1',
      secureContext: contextOf(index),
      session: order.resumes ? (tickets.get(index) ?? null) : null,
    };
    opening.attempts += 1;
    const why = await new Promise<string | null>((resolve) => {
      const client = openFleetClient(index, place, {
        onReady: () => resolve(null),
        onEnd: (reason) => {
          if (clients.get(index) === client) clients.delete(index);
          resolve(reason);
        },
        onLatency(ms) {
          acknowledged += 1;
          if (latencies.length < latenciesMost) latencies.push(ms);
        },
        onPong: () => void (pongs += 1),
        onTicket: (session) => void tickets.set(index, session),
      });
      clients.set(index, client);
    });
    if (why === null) {
      inAfterMs.push(performance.now() - beganMs);
      if (clients.get(index)?.isResumed() === true) opening.resumed += 1;
      return;
    }
    refused[why] = (refused[why] ?? 0) + 1;
    // The agent's own rule.
    await sleep(retryDelayMs(deliveryLimits.backoff, { attempt: round, fraction: Math.random() }));
  }
}

/** One context for all, or one each where each shows a certificate; made before anything is measured. */
function contextsFor({ target, first, count }: OpenOrder): Opening['contextOf'] {
  const { ca, certificates } = target;
  if (ca === null) return () => null;
  const common = { ca, minVersion: 'TLSv1.3' } as const;
  if (certificates === undefined) {
    const context = createSecureContext(common);
    return () => context;
  }
  const { key, certs } = certificates;
  const own = Array.from({ length: count }, (_unused, at) =>
    createSecureContext({ ...common, key, cert: certs[first + at] }),
  );
  return (index) => own[index - first] ?? null;
}

async function open(order: OpenOrder): Promise<OpenResult> {
  const { first, count, limitMs } = order;
  const contextOf = contextsFor(order);
  const opening: Opening = {
    order,
    beganMs: performance.now(),
    contextOf,
    refused: {},
    inAfterMs: [],
    attempts: 0,
    resumed: 0,
    isOver: false,
  };
  const timer = setTimeout(() => void (opening.isOver = true), limitMs);
  const all = Array.from({ length: count }, (_unused, at) => bringIn(opening, first + at));
  await Promise.race([Promise.all(all), sleep(limitMs + 1000, undefined, { ref: false })]);
  clearTimeout(timer);
  opening.isOver = true;
  const { attempts, resumed, refused, inAfterMs } = opening;
  return {
    connected: inAfterMs.length,
    attempts,
    resumed,
    refused,
    inAfterMs,
    tookMs: inAfterMs.at(-1) ?? 0,
  };
}

/** In steps of a few ms, as many as are due; who has a full window is passed over. */
async function publish({ perS, ms, window }: PublishOrder): Promise<PublishResult> {
  const ready = [...clients.values()].filter((client) => client.isReady());
  latencies = [];
  acknowledged = 0;
  let [sent, skipped, turn] = [0, 0, 0];
  const beganMs = performance.now();
  for (;;) {
    const tookMs = performance.now() - beganMs;
    if (tookMs >= ms) break;
    const due = perS === null ? sent + ready.length * window : Math.floor((tookMs / 1000) * perS);
    for (let tries = due - sent - skipped; tries > 0; tries--) {
      const client = ready[turn++ % ready.length];
      if (client === undefined || !client.isReady() || client.waiting() >= window) {
        if (perS !== null) skipped += 1;
        continue;
      }
      client.publish();
      sent += 1;
    }
    await sleep(perS === null ? 1 : 4);
  }
  // What is on its way counts too.
  const total = sent;
  const isWaiting = (): boolean => acknowledged < total;
  for (let rest = 0; rest < 100 && isWaiting(); rest++) await sleep(20);
  return { sent, skipped, acknowledged, latenciesMs: latencies };
}

/** Every connection says that it is there, over so much time; the number of answers. */
async function ping(ms: number): Promise<number> {
  const ready = [...clients.values()].filter((client) => client.isReady());
  pongs = 0;
  const beganMs = performance.now();
  for (let sent = 0; sent < ready.length; ) {
    const due = Math.min(ready.length, Math.ceil(((performance.now() - beganMs) / ms) * ready.length));
    for (; sent < due; sent++) ready[sent]?.ping();
    await sleep(10);
  }
  for (let rest = 0; rest < 100 && pongs < ready.length; rest++) await sleep(20);
  return pongs;
}

async function obey(order: FleetOrder): Promise<FleetAnswers[FleetOrder['kind']]> {
  switch (order.kind) {
    case 'open':
      return open(order);
    case 'publish':
      return publish(order);
    case 'drop':
      for (const client of clients.values()) client.end();
      return null;
    case 'ping':
      return { answered: await ping(order.ms) };
    case 'count':
      return { connected: [...clients.values()].filter((client) => client.isReady()).length };
  }
}

serveOrders(obey);
