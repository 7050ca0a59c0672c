// From the press of the panic button at the simulated board to the record in the vehicle's outbox, and to the record in the
// broker's database: real processes on ptys at 9600 baud. A time ends when a reader of the database sees the record.

import { setTimeout as sleep } from 'node:timers/promises';
import SqliteConnection from 'better-sqlite3';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type Figure, percentile, type Say } from './agent-figures.ts';
import { startRig } from './agent-rig.ts';

export interface PanicOptions {
  readonly presses: number;
}

const pressMs = 400;
/** Released, debounced and reported before the next one. */
const restMs = 1200;
const mostMs = 20_000;
/** Released long ago and in no outbox by now: the board was not heard while it was pressed. */
const unseenMs = 5000;
const lookMs = 2;
const goals = { durableMs: 100, brokerMs: 2000 } as const;

interface Press {
  readonly durableMs: number;
  readonly brokerMs: number;
}

interface Eyes {
  /** Highest row of the vehicle's most urgent class, and highest number of a panic at the broker. */
  /** The broker has stored something. */
  isReached(): boolean;
  look(): { readonly vehicle: number; readonly broker: number };
  close(): void;
}

function openEyes(outbox: string, database: string): Eyes {
  const options = { readonly: true, fileMustExist: true };
  const vehicle = new SqliteConnection(outbox, options);
  const broker = new SqliteConnection(database, options);
  const ofVehicle = vehicle.prepare<[], number | null>('SELECT max(id) FROM p0').pluck();
  const ofBroker = broker
    .prepare<[number], number | null>('SELECT max(event_no) FROM events WHERE status_code = ?')
    .pluck();
  const anything = broker.prepare<[], number>('SELECT count(*) FROM events').pluck();
  return {
    isReached: () => (anything.get() ?? 0) > 0,
    look: () => ({
      vehicle: ofVehicle.get() ?? 0,
      broker: ofBroker.get(statusCodes.PANIC_ON.code) ?? 0,
    }),
    close() {
      vehicle.close();
      broker.close();
    },
  };
}

/** Null when the agent never saw it. */
async function pressOnce(eyes: Eyes, press: () => Promise<void>): Promise<Press | null> {
  const before = eyes.look();
  const startMs = performance.now();
  // Counts from before the request: what the control port takes is in the figure.
  const pressed = press();
  let [durableMs, brokerMs] = [Number.NaN, Number.NaN];
  while (Number.isNaN(durableMs) || Number.isNaN(brokerMs)) {
    await sleep(lookMs);
    const now = eyes.look();
    const tookMs = performance.now() - startMs;
    // A record that was acknowledged may be deleted before we look: then the broker's is the latest it can be.
    if (Number.isNaN(durableMs) && (now.vehicle > before.vehicle || now.broker > before.broker))
      durableMs = tookMs;
    if (Number.isNaN(brokerMs) && now.broker > before.broker) brokerMs = tookMs;
    if (Number.isNaN(durableMs) && tookMs > unseenMs) return null;
    if (tookMs > mostMs)
      throw new Error(
        `a press was not at the broker within ${mostMs} ms; in the outbox after ${durableMs} ms`,
      );
  }
  await pressed;
  return { durableMs, brokerMs };
}

/** What this disk takes for one commit of one small record. */
function bareCommits(path: string, count: number): readonly number[] {
  const db = new SqliteConnection(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE p (id INTEGER PRIMARY KEY, body BLOB NOT NULL)');
  const insert = db.prepare('INSERT INTO p (body) VALUES (?)');
  const body = Buffer.alloc(60, 1);
  const times = Array.from({ length: count }, () => {
    const startMs = performance.now();
    insert.run(body);
    return performance.now() - startMs;
  });
  db.close();
  return times;
}

function figuresOf(seen: readonly (Press | null)[], commitMs: number): readonly Figure[] {
  const presses = seen.filter((press) => press !== null);
  const unseen: Figure = {
    section: 'panic',
    name: `of ${seen.length} presses of ${pressMs} ms not seen`,
    unit: 'presses',
    value: seen.length - presses.length,
    goal: 0,
  };
  const kinds = [
    ['to durable', 'durableMs'],
    ['to the broker', 'brokerMs'],
  ] as const;
  const times = kinds.flatMap(([name, key]): readonly Figure[] => {
    const values = presses.map((press) => press[key]);
    const common = { section: 'panic', unit: 'ms', goal: goals[key] };
    return [
      {
        ...common,
        name: `${name}, p50`,
        value: percentile(values, 0.5),
        baseline: { name: 'one bare commit on this disk', value: commitMs },
      },
      { ...common, name: `${name}, p95`, value: percentile(values, 0.95) },
      { ...common, name: `${name}, longest`, value: Math.max(...values) },
    ];
  });
  return [...times, unseen];
}

/** Measures presses. Needs socat. */
export async function benchPanic({ presses }: PanicOptions, say: Say): Promise<readonly Figure[]> {
  say(`panic: ${presses} presses, about ${Math.ceil((presses * (pressMs + restMs)) / 1000)} s`);
  const rig = await startRig();
  try {
    const agent = rig.startAgent();
    const isStarted = (): boolean => agent.lines.some(({ msg }) => msg === 'agent_started');
    await waitUntil('the agent', isStarted);
    const eyes = openEyes(rig.file.outbox, rig.database);
    try {
      await waitUntil('the first event at the broker', () => eyes.isReached());
      await sleep(5000);
      const times: (Press | null)[] = [];
      for (let turn = 0; turn < presses; turn++) {
        times.push(await pressOnce(eyes, () => rig.command(`panic press ${pressMs}`)));
        // At another moment of the bus's round each time.
        await sleep(pressMs + restMs + (turn % 10) * 13);
        if (turn % 10 === 9) say(`panic: ${turn + 1} of ${presses}`);
      }
      const bare = bareCommits(`${rig.folder}/bare.db`, 50);
      return figuresOf(times, percentile(bare, 0.5));
    } finally {
      eyes.close();
    }
  } finally {
    await rig.close();
  }
}
