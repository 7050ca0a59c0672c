// A process full of raw MQTT clients, led over its IPC channel (`fleet-orders.ts`): opens thousands of connections, drops
// them, publishes, freezes. It must never do what a vehicle would not, but where an order says so.
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type {
  FleetAnswers,
  FleetOrder,
  FreezeOrder,
  OpenOrder,
  OpenResult,
  PublishOrder,
  PublishResult,
} from './fleet-orders.ts';
import { type ClientPlace, openFleetClient, type RawFleetClient } from './raw-fleet-client.ts';

/** The agent's own (full jitter, base 1 s, at most 120 s). */
const backoff = { baseMs: 1000, mostMs: 120_000 } as const;
const latenciesMost = 200_000;
const slowReadMs = 100;
const slowReadBytes = 1024;

const clients = new Map<number, RawFleetClient>();
const tickets = new Map<number, Buffer>();
let latencies: number[] = [];
let acknowledged = 0;
/** Ends what `freeze` began. */
let thaw: () => { dropped: number; sent: number } = () => ({ dropped: 0, sent: 0 });

interface Opening {
  readonly order: OpenOrder;
  readonly beganMs: number;
  readonly secureContext: SecureContext | null;
  readonly refused: Record<string, number>;
  readonly inAfterMs: number[];
  attempts: number;
  resumed: number;
  isOver: boolean;
}

/** Resolves when the client is in, or the order is over. */
async function bringIn(opening: Opening, index: number): Promise<void> {
  const { order, secureContext, refused, inAfterMs, beganMs } = opening;
  await sleep(Math.random() * order.spreadMs);
  for (let round = 0; !opening.isOver; round++) {
    const place: ClientPlace = {
      port: order.target.port,
      from: order.from[index % order.from.length] ?? '127.0.0.1',
      secureContext,
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
    await sleep(Math.random() * Math.min(backoff.mostMs, backoff.baseMs * 2 ** round));
  }
}

async function open(order: OpenOrder): Promise<OpenResult> {
  const { target, first, count, limitMs } = order;
  const opening: Opening = {
    order,
    beganMs: performance.now(),
    secureContext: target.ca === null ? null : createSecureContext({ ca: target.ca, minVersion: 'TLSv1.3' }),
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

function freeze({ frozen, slow }: FreezeOrder): null {
  const chosen = [...clients.values()].slice(0, frozen + slow);
  let [dropped, sent] = [0, 0];
  for (const client of chosen) {
    clients.delete(client.index);
    client.socket.pause();
    client.socket.once('close', () => void (dropped += 1));
  }
  const timer = setInterval(() => {
    for (const [at, { socket, publish: send }] of chosen.entries()) {
      if (socket.destroyed) continue;
      if (at >= frozen) socket.read(slowReadBytes);
      for (let count = 0; count < 50 && socket.writableLength < 65_536; count++) {
        send();
        sent += 1;
      }
    }
  }, slowReadMs);
  thaw = () => {
    clearInterval(timer);
    for (const client of chosen) client.end();
    return { dropped, sent };
  };
  return null;
}

async function obey(order: FleetOrder): Promise<FleetAnswers[FleetOrder['kind']]> {
  switch (order.kind) {
    case 'open':
      return open(order);
    case 'publish':
      return publish(order);
    case 'freeze':
      return freeze(order);
    case 'thaw':
      return thaw();
    case 'drop':
      for (const client of clients.values()) client.end();
      return null;
    case 'count':
      return { connected: [...clients.values()].filter((client) => client.isReady()).length };
  }
}

process.on('message', ({ id, order }: { readonly id: number; readonly order: FleetOrder }) => {
  obey(order).then(
    (answer) => process.send?.({ id, answer }),
    (thrown: unknown) => process.send?.({ id, fault: String(thrown) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ id: 0, answer: null });
