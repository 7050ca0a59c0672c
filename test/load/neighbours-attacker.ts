// The attackers of the bench of neighbours, a process of its own that runs at the lowest priority: what one cheap caller of another
// account sends, as fast as it is answered but never faster than its pace.
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listedDevice } from '../../broker/api/base/shapes.ts';
import { serveOrders } from './measured-process.ts';
import { openTracker } from './neighbours-mqtt.ts';
import type { AttackName, AttackOrder, AttackPlace } from './neighbours-orders.ts';

interface Ask {
  readonly path: string;
  readonly token?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
  /** The client leaves after so many ms. */
  readonly leavesMs?: number;
}

/** One attack under way. */
interface Attack {
  readonly place: AttackPlace;
  readonly until: AbortSignal;
  count(what: string): void;
}

const host = '127.0.0.1';
const source = '127.0.0.2';
const limitMs = 60_000;
const agents = new Map<string, Agent>();
const v1 = (path: string): string => `/api/v1/${path}/authorization`;

/** Resolves when it was answered, or the attack has ended. */
function send({ place, until, count }: Attack, ask: Ask): Promise<void> {
  const { path, token, body, leavesMs, from = source } = ask;
  const agent = agents.get(from) ?? new Agent({ keepAlive: true, maxSockets: 190 });
  agents.set(from, agent);
  return new Promise((resolve) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: token }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...ask.headers,
    };
    const method = body === undefined ? 'GET' : 'POST';
    const shared = { agent, timeout: limitMs, signal: until, localAddress: from };
    const call = request({ host, port: place.httpPort, path, method, headers, ...shared }, (answer) => {
      answer.resume();
      answer.once('close', () => {
        count(String(answer.statusCode));
        resolve();
      });
    });
    call.once('error', () => {
      count(leavesMs === undefined ? 'broken' : 'left');
      resolve();
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    if (leavesMs !== undefined) setTimeout(() => call.destroy(), leavesMs);
  });
}

interface Pace {
  readonly perS: number;
  readonly inFlight: number;
}

/** Sends at this pace, with at most so many unanswered. */
async function flood(attack: Attack, { perS, inFlight }: Pace, askOf: (count: number) => Ask): Promise<void> {
  const fromMs = performance.now();
  let [sent, open] = [0, 0];
  while (!attack.until.aborted) {
    const due = Math.floor(((performance.now() - fromMs) * perS) / 1000) + 1;
    for (; sent < due && open < inFlight; sent++) {
      open += 1;
      void send(attack, askOf(sent)).then(() => void (open -= 1));
    }
    // What could not be sent in time is not made up for.
    sent = due;
    await sleep(5);
  }
}

const turn = (of: readonly string[], count: number): string => of[count % of.length] ?? '';

const names = Object.keys(listedDevice.properties);
/** A choice of members that hardly comes twice. */
const randomFields = (): string => names.filter(() => Math.random() < 0.5).join() || 'deviceID';

const history = ({ busyDevices, dayS }: AttackPlace, count: number): string =>
  v1(`eventdata/devicedata/${turn(busyDevices, count)}/${dayS.from}/${dayS.to}`);

const slowReaders = 16;
const slowBytes = 400;
const slowMs = 100;

/** Readers of 4 kB/s. */
async function readSlowly({ place, until, count }: Attack, askOf: (at: number) => Ask): Promise<void> {
  const sockets = Array.from({ length: slowReaders }, (_unused, at) => {
    const { path, token } = askOf(at);
    const socket = connect({ port: place.httpPort, host, localAddress: source });
    socket.on('error', () => undefined);
    socket.on('close', () => count('closed'));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${token}\r\n\r\n`);
    return socket;
  });
  while (!until.aborted) {
    for (const socket of sockets) socket.read(slowBytes);
    await sleep(slowMs);
  }
  for (const socket of sockets) socket.destroy();
}

/** One tracker, one message of a hundred panics after the other. */
async function panic({ place, until, count }: Attack): Promise<void> {
  const tracker = await openTracker({ ...place, deviceID: place.tracker, from: source });
  const boot = `a${randomBytes(4).toString('hex')}`;
  let seq = 0;
  for (let message = 0; !until.aborted; message++) {
    const one = () => ({ seq: ++seq, timestamp: Date.now() - 1000 + (seq % 1000), statusCode: 63_553 });
    const events = Array.from({ length: 100 }, one);
    if (tracker.waiting() < 4) tracker.publish({ boot, events }, () => count('puback'));
    await sleep(50);
  }
  tracker.end();
}

const cutPath = v1('command/feature');

const attacks: Readonly<Record<AttackName, (attack: Attack) => Promise<unknown>>> = {
  'random fields, two vehicles': (attack) =>
    flood(attack, { perS: 250, inFlight: 64 }, (count) => ({
      path: `${v1('device/getalldevices')}?limit=1&fields=${randomFields()}`,
      token: turn(attack.place.narrowTokens, count),
    })),
  'random fields, all vehicles': (attack) =>
    flood(attack, { perS: 250, inFlight: 64 }, (count) => ({
      path: `${v1('device/getalldevices')}?fields=${randomFields()}`,
      token: turn(attack.place.wideTokens, count),
    })),
  'random fields, clients leave': (attack) =>
    flood(attack, { perS: 250, inFlight: 250 }, (count) => ({
      path: `${v1('device/getalldevices')}?${count % 2 === 0 ? 'limit=1&' : ''}fields=${randomFields()}`,
      token: turn(attack.place.wideTokens, count),
      leavesMs: 20,
    })),
  'slow readers': (attack) =>
    readSlowly(attack, (at) => ({
      path: v1('device/getalldevices'),
      token: turn(attack.place.wideTokens, at),
    })),
  'queued reads': (attack) =>
    flood(attack, { perS: 250, inFlight: 120 }, (count) => ({
      path: history(attack.place, count),
      token: turn(attack.place.wideTokens, count),
    })),
  'slow readers of a link': (attack) => {
    const ask = { path: v1('share/track'), token: attack.place.shareToken };
    return Promise.all([
      readSlowly(attack, () => ask),
      flood(attack, { perS: 250, inFlight: 120 }, () => ask),
    ]);
  },
  'idempotency keys': (attack) =>
    flood(attack, { perS: 250, inFlight: 64 }, (count) => ({
      path: v1('user/savepreferences'),
      token: turn(attack.place.narrowTokens, count),
      headers: { 'idempotency-key': randomBytes(12).toString('hex') },
      body: { preferences: { count } },
    })),
  'cuts and approvals': (attack) =>
    flood(attack, { perS: 250, inFlight: 64 }, (count) => {
      const { orderTokens, orderDevice: deviceID } = attack.place;
      const token = turn(orderTokens, count);
      if (count % 3 === 2)
        return { path: v1('command/approve'), token, body: { approvalID: randomBytes(16).toString('hex') } };
      const body = { deviceID, feature: 'enginecutoff', state: count % 3 === 0 ? '1' : '0' };
      return { path: cutPath, token, body };
    }),
  'panics of one tracker': panic,
  'wrong passwords, eight addresses': (attack) =>
    flood(attack, { perS: 250, inFlight: 64 }, (count) => ({
      path: '/api/v1/auth/login',
      from: `127.0.1.${1 + (count % 8)}`,
      body: { accountID: attack.place.accountID, userID: `user-${count}`, password: 'a wrong password' },
    })),
};

const hook = createServer((incoming, answer) => {
  incoming.resume();
  incoming.on('end', () => answer.end());
});

let running: { readonly end: AbortController; readonly over: Promise<unknown> } | null = null;
let counts: Record<string, number> = {};

serveOrders(async (order: AttackOrder) => {
  if (order.kind === 'hook') {
    await new Promise<void>((resolve) => void hook.listen(0, host, resolve));
    return (hook.address() as AddressInfo).port;
  }
  if (order.kind === 'begin') {
    const end = new AbortController();
    counts = {};
    const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1);
    setMaxListeners(0, end.signal);
    const over = attacks[order.name]({ place: order.place, until: end.signal, count });
    over.catch((thrown: unknown) => void process.stderr.write(`${order.name}: ${String(thrown)}\n`));
    running = { end, over };
    return null;
  }
  const found = { ...counts };
  running?.end.abort();
  await running?.over;
  for (const agent of agents.values()) agent.destroy();
  agents.clear();
  return found;
});
