// What vehicles wait for their acknowledgements while people read much and while retention takes a slice away: a real broker on
// a copy of a database with history, single events at a fixed rate, and beside it over HTTP what an operator may do. The floor
// is the same load beside a process that only spins: on a machine with few cores anything that computes costs as much.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/adapters/database/database.ts';
import { dayS } from '../../src/core/durations.ts';
import { sql } from '../../src/sql.ts';
import { busyDevice } from './fleet-database.ts';
import { copyDatabase } from './history-drop.ts';
import { logIn } from './http-bench.ts';
import {
  furnish,
  ingestAccount,
  type Measured,
  measure,
  type Server,
  startBroker,
  stop,
} from './ingest-servers.ts';

export interface BesideFigure {
  readonly while: string;
  readonly eventsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly highestMs: number;
  readonly failures: number;
  /** To the p99 with nothing beside, which ran just before. */
  readonly ratio: number | null;
  /** To the p99 beside a process that only spins, in the same round: what want of cores alone costs. */
  readonly toFloor: number | null;
  /** Answers that were read to their end meanwhile. */
  readonly answers: number;
}

export interface BesideOptions {
  /** A database with history, which is copied. */
  readonly path: string;
  /** The end of its history. */
  readonly nowMs: number;
  readonly ratePerS: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly say: (text: string) => void;
}

/** Of the broker: its first run after a start (`broker/upkeep/retention.ts`). */
const firstRetentionS = 60;

interface Stage {
  readonly broker: Server;
  readonly token: string;
  readonly options: BesideOptions;
}

/** Asks for it again and again, `atOnce` at a time, until `isOver`. Counts the answers. */
async function ask(
  { broker, token }: Stage,
  path: string,
  of: { readonly atOnce: number; readonly isOver: () => boolean },
): Promise<number> {
  let answers = 0;
  const one = async (): Promise<void> => {
    while (!of.isOver()) {
      const answer = await fetch(`http://127.0.0.1:${broker.httpPort}/api/v1/${path}/authorization`, {
        headers: { authorization: token },
        signal: AbortSignal.timeout(60_000),
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: of.atOnce }, one));
  return answers;
}

const load = ({ ratePerS, seconds }: BesideOptions) => {
  const { accountID, secret } = ingestAccount;
  const shape = { accountID, secret, clients: 500, window: 1000, form: 'json', batch: 1 } as const;
  return { ...shape, warmupS: 1.5, seconds, ratePerS };
};

interface Beside {
  /** Null: it is that itself. */
  readonly alone: Measured | null;
  readonly floor: Measured | null;
  readonly answers: number;
}

function figureOf(name: string, measured: Measured, { alone, floor, answers }: Beside): BesideFigure {
  const { eventsPerS, p50Ms, p99Ms, highestMs, failures } = measured;
  const ratio = alone === null ? null : p99Ms / alone.p99Ms;
  const toFloor = floor === null ? null : p99Ms / floor.p99Ms;
  return { while: name, eventsPerS, p50Ms, p99Ms, highestMs, failures, ratio, toFloor, answers };
}

const nothing: Beside = { alone: null, floor: null, answers: 0 };

/** The load beside a process that does nothing but take a core, as important as the broker. */
async function besideSpinning(work: () => Promise<Measured>): Promise<Measured> {
  const spinning = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  const ended = new Promise((resolve) => void spinning.once('exit', resolve));
  try {
    return await work();
  } finally {
    spinning.kill('SIGKILL');
    await ended;
  }
}

/** Of the whole fleet, so that an answer has some 17,000 records. */
const hours = 3;

/** What people ask, with how many of them at once. */
function questionsAt(nowMs: number) {
  const endS = nowMs / 1000;
  return [
    {
      name: 'a long query of the fleet',
      path: `eventdata/fleetdata/${endS - dayS - hours * 3600}/${endS - dayS}`,
      atOnce: 2,
    },
    { name: 'exports of a day of 8,640', path: `export/csv/${busyDevice}/${endS - dayS}/${endS}`, atOnce: 2 },
    { name: 'alerts of the fleet, counted', path: 'events/activations/summary', atOnce: 2 },
  ];
}

async function questions(stage: Stage): Promise<readonly BesideFigure[]> {
  const { broker, options } = stage;
  const place = { servers: [broker], postgres: null };
  const figures: BesideFigure[] = [];
  const run = (): Promise<Measured> => measure(place, load(options));
  // Not counted: a broker that has just started, on a file that has just been copied, is slower.
  await run();
  for (let round = 0; round < options.rounds; round++) {
    const floor = await besideSpinning(run);
    const first = questionsAt(options.nowMs)[0]?.name;
    for (const { name, path, atOnce } of questionsAt(options.nowMs)) {
      const alone = await run();
      let isOver = false;
      const asking = ask(stage, path, { atOnce, isOver: () => isOver });
      asking.catch(() => undefined);
      const measured = await run();
      isOver = true;
      const answers = await asking;
      figures.push(figureOf('nothing', alone, nothing));
      if (name === first) figures.push(figureOf('a process that spins', floor, { ...nothing, alone }));
      figures.push(figureOf(name, measured, { alone, floor, answers }));
      const p99s = `p99 ${measured.p99Ms.toFixed(1)} ms against ${alone.p99Ms.toFixed(1)}, floor ${floor.p99Ms.toFixed(1)}`;
      options.say(`${name}: ${answers} answers, ${p99s}`);
    }
  }
  return figures;
}

/** The first run of retention finds a slice that is past every limit; the load begins before it. */
async function retention(stage: Stage, sinceMs: number): Promise<readonly BesideFigure[]> {
  const { broker, options } = stage;
  const place = { servers: [broker], postgres: null };
  const begun = (): boolean => broker.lines.some((line) => line.includes('"slice_retention"'));
  const run = (): Promise<Measured> => measure(place, load(options));
  await run();
  const floor = await besideSpinning(run);
  const alone = await run();
  await sleep(Math.max(0, sinceMs + (firstRetentionS - 2) * 1000 - performance.now()));
  const measured = await measure(place, load({ ...options, seconds: options.seconds * 3 }));
  const name = `retention takes a slice away (${begun() ? 'done' : 'not done'} by then)`;
  options.say(`${name}: p99 ${measured.p99Ms.toFixed(1)} ms against ${alone.p99Ms.toFixed(1)}`);
  return [
    figureOf('nothing', alone, nothing),
    figureOf('a process that spins', floor, { ...nothing, alone }),
    figureOf(name, measured, { alone, floor, answers: 0 }),
  ];
}

/** Measures on a copy of the database. */
export async function benchBeside(options: BesideOptions): Promise<readonly BesideFigure[]> {
  const folder = mkdtempSync(join(dirname(options.path), 'fleetward-beside-'));
  const database = join(folder, 'broker.db');
  let broker: Server | null = null;
  try {
    copyDatabase(options.path, database);
    await furnish(await openDatabase({ database, environment: {}, use: 'command' }));
    const wish = { database, folder, profile: null, limitMs: 600_000 };
    broker = await startBroker(wish);
    const token = await logIn(broker.httpPort);
    const asked = await questions({ broker, token, options });
    await stop(broker);
    const db = await openDatabase({ database, environment: {}, use: 'command' });
    await db.write([sql`UPDATE event_slices SET state = 'dropping' WHERE slice_no = 2 AND state = 'closed'`]);
    await db.close();
    broker = await startBroker(wish);
    return [...asked, ...(await retention({ broker, token, options }, performance.now()))];
  } finally {
    if (broker !== null) await stop(broker);
    rmSync(folder, { recursive: true, force: true });
  }
}
