// Clients that must not notice an attack, a process of its own: the list of another tenant, its trackers, its webhooks, and the list of
// other users of the attacked account. Each request is due at a fixed time, and its latency counts from there.
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { serveOrders } from './measured-process.ts';
import { openTracker, type Tracker } from './neighbours-mqtt.ts';
import type { ClientsOrder, ClientsPlace, Samples, Taken, Watched } from './neighbours-orders.ts';

const host = '127.0.0.1';
/** Between two requests of a kind, ms. */
const everyMs = { list: 50, colleague: 100, puback: 20, webhook: 100 } as const;
const pendingMost = 100;
const limitMs = 60_000;
const panicCode = 63_553;

interface Due {
  done(): void;
  fail(): void;
}

function createMeter() {
  let ms: number[] = [];
  let failed = 0;
  const pending = new Set<number>();
  return {
    /** Null: too many wait already, and this one counts as failed. */
    begin(dueMs: number): Due | null {
      if (pending.size >= pendingMost) {
        failed += 1;
        return null;
      }
      pending.add(dueMs);
      return {
        done: () => void (pending.delete(dueMs) && ms.push(performance.now() - dueMs)),
        fail: () => void (pending.delete(dueMs) && (failed += 1)),
      };
    },
    take(): Samples {
      const nowMs = performance.now();
      const found = { ms: [...ms, ...[...pending].map((dueMs) => nowMs - dueMs)], failed };
      pending.clear();
      ms = [];
      failed = 0;
      return found;
    },
  };
}

const meters = {
  list: createMeter(),
  colleague: createMeter(),
  puback: createMeter(),
  webhook: createMeter(),
} satisfies Record<Watched, ReturnType<typeof createMeter>>;
const delay = monitorEventLoopDelay({ resolution: 2 });
delay.enable();
const agent = new Agent({ keepAlive: true, maxSockets: 2 * pendingMost });

function askList(port: number, token: string, due: Due): void {
  const path = '/api/v1/device/getalldevices/authorization';
  const headers = { authorization: token, 'accept-encoding': 'gzip' };
  request({ host, port, path, headers, agent, timeout: limitMs }, (answer) => {
    answer.resume();
    answer.once('end', () => (answer.statusCode === 200 ? due.done() : due.fail()));
    answer.once('error', due.fail);
  })
    .once('error', due.fail)
    .end();
}

/** Calls `run` at fixed times whatever became of the calls before. */
function repeat(ms: number, run: (dueMs: number, count: number) => void): void {
  const fromMs = performance.now();
  let count = 0;
  setInterval(
    () => {
      for (; fromMs + count * ms <= performance.now(); count++) run(fromMs + count * ms, count);
    },
    Math.min(10, ms / 2),
  );
}

/** Panics that wait for their webhook, by number. */
const panics = new Map<number, Due>();
const numberStep = 1e-5;
/** A webhook carries no number of the event: its latitude is the number. */
const latitudeOf = (number: number): number => Math.round((40 + number * numberStep) * 1e5) / 1e5;
const numberOf = (latitude: number): number => Math.round((latitude - 40) / numberStep);

const hook = createServer((incoming, answer) => {
  let body = '';
  incoming.setEncoding('utf8').on('data', (part: string) => {
    body += part;
  });
  incoming.on('end', () => {
    answer.end();
    const number = numberOf((JSON.parse(body) as { readonly latitude: number }).latitude);
    panics.get(number)?.done();
    panics.delete(number);
  });
});

type Publish = (count: number, more: object, onAck: () => void) => void;

/** Devices that report in turn. */
async function openTrackers(
  place: Pick<ClientsPlace, 'mqttPort' | 'secret' | 'accountID' | 'deviceIDs'>,
): Promise<Publish> {
  const trackers: Tracker[] = [];
  for (const deviceID of place.deviceIDs)
    trackers.push(await openTracker({ ...place, deviceID, from: host }));
  const boot = `n${Date.now()}`;
  let seq = 0;
  return (count, more, onAck) => {
    const event = { seq: ++seq, timestamp: Date.now(), longitude: -79, speed: 40, heading: 90, ...more };
    trackers[count % trackers.length]?.publish({ boot, events: [event] }, onAck);
  };
}

const position = { statusCode: 61_472, latitude: 43 };

async function begin(place: ClientsPlace): Promise<void> {
  const { httpPort, tokens, colleagues } = place;
  const publish = await openTrackers(place);
  const publishBeside = await openTrackers({ ...place, ...colleagues });
  repeat(everyMs.list, (dueMs, count) => {
    const due = meters.list.begin(dueMs);
    if (due !== null) askList(httpPort, tokens[count % tokens.length] ?? '', due);
  });
  repeat(everyMs.colleague, (dueMs, count) => {
    const due = meters.colleague.begin(dueMs);
    if (due !== null) askList(httpPort, colleagues.tokens[count % colleagues.tokens.length] ?? '', due);
  });
  repeat(everyMs.puback, (dueMs, count) => {
    const due = meters.puback.begin(dueMs);
    if (due !== null) publish(count, position, due.done);
    publishBeside(count, position, () => undefined);
  });
  repeat(everyMs.webhook, (dueMs, count) => {
    const due = meters.webhook.begin(dueMs);
    if (due !== null) panics.set(count, due);
    publish(count, { statusCode: panicCode, latitude: latitudeOf(count) }, () => undefined);
  });
}

function take(): Taken {
  const loopP99Ms = Math.max(0, delay.percentile(99) / 1e6 - 2);
  delay.reset();
  const samples = {
    list: meters.list.take(),
    colleague: meters.colleague.take(),
    puback: meters.puback.take(),
    webhook: meters.webhook.take(),
  };
  return { samples, loopP99Ms };
}

serveOrders(async (order: ClientsOrder) => {
  switch (order.kind) {
    case 'hook':
      await new Promise<void>((resolve) => void hook.listen(0, host, resolve));
      return (hook.address() as AddressInfo).port;
    case 'begin':
      return begin(order.place);
    case 'take':
      return take();
  }
});
