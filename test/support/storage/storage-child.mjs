// A process that works with the real outbox as a truck does over days: positions, alarms, panics with the command record,
// sending, acknowledging, evicting, restarting in good order. What it is told goes into a ledger, line by line, each
// written before the next call: whoever kills it, cuts its power or breaks its disk knows what must be there afterwards.
// argv[2] is JSON: path, ledger, seed, steps (0: for ever), maxBytes, padBytes (largest text of an event), name (prefix of
// boot ids), firstMark, firstRecord, reopenEvery (steps; 0: never), pauseMs between steps,
// startFile and startAfter (after so many steps it waits until this file is there).
import { existsSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { putState, trustState } from '../../../dist/agent/outbox/file/outbox-schema.js';
import { openOutbox } from '../../../dist/agent/outbox.js';
import { openSqlite } from '../../../dist/src/adapters/database/sqlite.js';
import { createSystemClock, createSystemEntropy } from '../../../dist/src/adapters/system.js';

const options = JSON.parse(process.argv[2] ?? '{}');
const ledger = openSync(options.ledger, 'a');
/** Synchronous, so that the order of the ledger is the order of what happened. */
const note = (line) => writeSync(ledger, `${JSON.stringify(line)}\n`);
const clock = createSystemClock();
const log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
const codes = [63553, 64807, 62465, 61472];

let state = options.seed >>> 0;
/** mulberry32: small, seeded, good enough for a workload. */
const fraction = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};
const integer = (low, high) => low + Math.floor(fraction() * (high - low + 1));

let mark = options.firstMark ?? 0;
let record = options.firstRecord ?? 0;
let boots = 0;

async function start() {
  boots += 1;
  const boot = `${options.name}-${boots}`;
  const outbox = await openOutbox({
    path: options.path,
    boot,
    bootMonoMs: clock.monoMs(),
    clock,
    entropy: createSystemEntropy(),
    log,
    maxBytes: options.maxBytes,
    openDatabase: (file) => openSqlite({ ...file, pageSize: 512 }),
  });
  note({ k: 'open', boot });
  try {
    // As the agent does after a loss: what the board says is on disk before the state counts as known again.
    if (!(await outbox.readState()).isIntact) await append(outbox, [], true, [trustState()]);
    return outbox;
  } catch (thrown) {
    // As the agent does, too: two of them on one file are no start again.
    await outbox.close().catch(() => undefined);
    throw thrown;
  }
}

const eventOf = (priority) => {
  mark += 1;
  return {
    priority,
    event: {
      timestamp: 1_763_683_200_000 + mark * 1000,
      upMs: mark,
      timeQuality: 'gnss',
      statusCode: codes[priority],
      latitude: 43.65 + mark / 1e5,
      longitude: -79.34,
      speed: mark % 90,
      odometer: mark / 10,
      ...(options.padBytes ? { attributes: { text: 'x'.repeat(integer(1, options.padBytes)) } } : {}),
    },
  };
};

async function append(outbox, priorities, withRecord, more = []) {
  const records = priorities.map(eventOf);
  if (withRecord) record += 1;
  note({
    k: 'try',
    rows: records.map(({ priority, event }) => [priority, event.upMs]),
    record: withRecord ? record : null,
  });
  const extra = withRecord
    ? [putState('commands', JSON.stringify({ record, pad: 'r'.repeat(integer(1, 3000)) }))]
    : [putState('memory', JSON.stringify({ odometerM: mark }))];
  try {
    const stored = await outbox.append(records, [...extra, ...more]);
    note({ k: 'told', seqs: stored.map(({ seq }) => seq) });
  } catch (thrown) {
    note({ k: 'refused', code: String(thrown?.code), message: String(thrown?.message) });
  }
}

async function deliver(outbox) {
  for (let turn = integer(1, 4); turn > 0; turn -= 1) {
    const batch = await outbox.next({ limit: integer(1, 60), bytes: 60_000 });
    if (batch === null) return;
    if (fraction() < 0.1) continue;
    const seqs = batch.events.map(({ seq }) => seq);
    // The peer has it before the vehicle hears so.
    note({ k: 'acked', boot: batch.boot, seqs });
    await outbox.acknowledge(
      batch.boot,
      seqs.map((seq) => [seq, seq]),
    );
  }
}

async function step(outbox) {
  const luck = fraction();
  if (luck < 0.55)
    return append(
      outbox,
      Array.from({ length: integer(1, 8) }, () => 3),
      false,
    );
  if (luck < 0.68) return append(outbox, [2, ...Array.from({ length: integer(0, 5) }, () => 3)], false);
  if (luck < 0.74) return append(outbox, [1], false);
  if (luck < 0.84) return append(outbox, [0], true);
  if (luck < 0.86) return append(outbox, [], true);
  if (luck < 0.96) return deliver(outbox);
  if (luck < 0.98) return outbox.rewind();
  return outbox.setOrigin(1_763_000_000_000 + mark * 10_000, 'gnss');
}

/** As the service manager would: again and again, and in the end it gives up, saying why. */
async function startAgain() {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (thrown) {
      note({
        k: 'unopened',
        code: String(thrown?.code),
        message: String(thrown?.message),
        hint: thrown?.hint ?? null,
      });
      if (attempt >= 10) process.exit(3);
    }
  }
}

/** Commits of one size only, each acknowledged a little later as on a good link: what a record costs. */
async function runPlan(outbox, { commits, size, priority }) {
  for (let count = 0; count < commits; count += 1) {
    await append(
      outbox,
      Array.from({ length: size }, () => priority),
      false,
    );
    const batch = await outbox.next({ limit: 100, bytes: 60_000 });
    if (batch === null) continue;
    const seqs = batch.events.map(({ seq }) => seq);
    await outbox.acknowledge(batch.boot, [[seqs[0], seqs.at(-1)]]);
  }
}

let outbox = await startAgain();
if (options.plan) {
  // The first append also sets space aside, once for ever.
  await append(outbox, [3], false);
  note({ k: 'plan' });
  await runPlan(outbox, options.plan);
  note({ k: 'planned' });
  // Without closing: what a restart costs is not what a record costs.
  process.exit(0);
}
for (let count = 1; options.steps === 0 || count <= options.steps; count += 1) {
  while (options.startFile && count > options.startAfter && !existsSync(options.startFile)) await sleep(5);
  try {
    await step(outbox);
    if (options.reopenEvery > 0 && count % options.reopenEvery === 0) {
      await outbox.close().catch((thrown) => note({ k: 'fault', message: String(thrown?.message) }));
      outbox = await startAgain();
    }
  } catch (thrown) {
    note({ k: 'fault', message: String(thrown?.message) });
  }
  // Timers of the outbox's background work run between the steps.
  await new Promise((resolve) =>
    options.pauseMs ? setTimeout(resolve, options.pauseMs) : setImmediate(resolve),
  );
}
await outbox.close().catch((thrown) => note({ k: 'fault', message: String(thrown?.message) }));
note({ k: 'bye' });
