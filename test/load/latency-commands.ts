// Commands of the latency bench as an app gives them: over an open HTTP connection, at intended moments whatever became of those
// before, and what was seen of each until the vehicle's word of it could be read over HTTP. No command is sent twice.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeatureName, FeatureState } from '../../src/core/events/event.ts';
import { type FleetNews, machineMs } from './latency-types.ts';

/** One after the other at each vehicle. */
export const orders = [
  { name: 'engine cut', feature: 'enginecutoff', state: '1' },
  { name: 'engine restored', feature: 'enginecutoff', state: '0' },
  { name: 'cargo unlocked', feature: 'cargoaccess', state: '1' },
  { name: 'cargo locked', feature: 'cargoaccess', state: '0' },
] as const satisfies readonly {
  readonly name: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
}[];
type Order = (typeof orders)[number];

/** What was seen of one command, ms from the moment at which its request was written; null: it never was. */
export interface SeenCommand {
  readonly order: Order['name'];
  readonly answerMs: number;
  /** The message came out of the vehicle's socket. */
  readonly messageMs: number | null;
  /** The contact on the board moved. */
  readonly relayMs: number | null;
  /** An answer over HTTP said `confirmed`. */
  readonly confirmedMs: number | null;
  /** The last state over HTTP, with the vehicle's words. */
  readonly ended: string;
}

export interface Caller {
  readonly deviceID: string;
  readonly token: string;
}

/** A vehicle confirms within this or counts as failed. */
const patienceMs = 10_000;
const lookMs = 10;
/** Between two commands of one vehicle: its relay changes at most every 10 s (`interlockLimits.betweenChangesMs`). */
const turnMs = 4250;
/** A vehicle changes each of its relays six times within an hour (`interlockLimits.changesPerHour`). */
export const commandsEach = 12;
export const secondsOfCommands = (commandsEach * turnMs) / 1000;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Service {
  ask(call: { readonly path: string; readonly token: string; readonly body?: object }): Promise<Answer>;
  close(): void;
}

/** Connections stay open between requests, as an app's do. */
export function openService(port: number): Service {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  return {
    ask: ({ path, token, body }) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const outgoing = request(
          {
            agent,
            host: '127.0.0.1',
            port,
            path: `/api/v1${path}`,
            method: text === undefined ? 'GET' : 'POST',
            headers: {
              ...(token === '' ? {} : { authorization: token }),
              ...(text === undefined
                ? {}
                : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            },
            timeout: patienceMs,
          },
          (answer) => {
            let said = '';
            answer.setEncoding('utf8').on('data', (piece: string) => void (said += piece));
            answer.once('error', reject);
            answer.once('end', () => {
              resolve({ status: answer.statusCode ?? 0, body: JSON.parse(said) as Answer['body'] });
            });
          },
        );
        outgoing.once('error', reject);
        outgoing.once('timeout', () => outgoing.destroy(new Error(`${path} was not answered`)));
        outgoing.end(text);
      }),
    close: () => agent.destroy(),
  };
}

/** News of the vehicles, kept for who waits for them. */
export function createWitness() {
  const seen: Exclude<FleetNews, { readonly kind: 'up' | 'truth' }>[] = [];
  return {
    note(news: FleetNews): void {
      if (news.kind === 'message' || news.kind === 'contact') seen.push(news);
    },
    /** The first message to the vehicle, and the first change of that contact to that state, since then. */
    since(fromMs: number, { deviceID, order }: { readonly deviceID: string; readonly order: Order }) {
      const after = seen.filter((news) => news.deviceID === deviceID && news.atMs >= fromMs);
      const message = after.find(({ kind }) => kind === 'message');
      const contact = after.find(
        (news) =>
          news.kind === 'contact' &&
          news.feature === order.feature &&
          news.energised === (order.state === '1'),
      );
      return { messageAtMs: message?.atMs ?? null, relayAtMs: contact?.atMs ?? null };
    },
  };
}
export type Witness = ReturnType<typeof createWitness>;

interface Stage {
  readonly service: Service;
  readonly witness: Witness;
}

async function giveOne(
  { service, witness }: Stage,
  { deviceID, token }: Caller,
  order: Order,
): Promise<SeenCommand> {
  const { feature, state } = order;
  const path = '/command/feature/authorization';
  const fromMs = machineMs();
  const answer = await service.ask({ path, token, body: { deviceID, feature, state, reason: 'bench' } });
  const answerMs = machineMs() - fromMs;
  const { commandID } = answer.body;
  if (answer.status !== 200 || typeof commandID !== 'string') {
    throw new Error(`${order.name}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
  }
  let ended = '';
  let confirmedMs: number | null = null;
  while (confirmedMs === null && machineMs() - fromMs < patienceMs) {
    const { body } = await service.ask({ path: `/command/get/${commandID}/authorization`, token });
    const { commandState, detail } = body;
    ended = [commandState, detail].filter((words) => typeof words === 'string').join(' ');
    if (commandState === 'confirmed') confirmedMs = machineMs() - fromMs;
    else if (body['hasEnded'] === true) break;
    else await sleep(lookMs);
  }
  const { messageAtMs, relayAtMs } = witness.since(fromMs, { deviceID, order });
  const after = (atMs: number | null): number | null => (atMs === null ? null : atMs - fromMs);
  return {
    order: order.name,
    answerMs,
    messageMs: after(messageAtMs),
    relayMs: after(relayAtMs),
    confirmedMs,
    ended,
  };
}

/** Gives so many commands to the vehicles in turn. Rejects when the service refuses one. */
export async function giveCommands(
  stage: Stage,
  callers: readonly Caller[],
  count: number,
): Promise<readonly SeenCommand[]> {
  const gapMs = turnMs / callers.length;
  const fromMs = performance.now();
  const given: Promise<SeenCommand>[] = [];
  for (let at = 0; at < Math.min(count, callers.length * commandsEach); at++) {
    const caller = callers[at % callers.length];
    const order = orders[Math.floor(at / callers.length) % orders.length];
    if (caller === undefined || order === undefined) break;
    // At another moment of the bus's round each time.
    const dueMs = fromMs + at * gapMs + Math.random() * gapMs * 0.8;
    await sleep(Math.max(0, dueMs - performance.now()));
    const one = giveOne(stage, caller, order);
    one.catch(() => undefined);
    given.push(one);
  }
  return Promise.all(given);
}
