// The whole agent against the broker's ledger in a hostile world, on a virtual clock, from one seed: whatever happens,
// no restrictive relay change while it drives, nothing lost, nothing twice, and in the end everything is settled.
// FLEETWARD_TEST_SEEDS=500 runs a campaign; FLEETWARD_TEST_SEED=<seed> replays one and prints its trail when it fails.
import { env } from 'node:process';
import { expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { sql } from '../../src/sql.ts';
import { extent } from '../support/extent.ts';
import { unleashChaos } from '../support/virtual/virtual-chaos.ts';
import { createFleet, type Fleet, heal, runFor } from '../support/virtual/virtual-fleet.ts';
import { type IssuedCommand, judgeCommands, judgeEvents } from '../support/virtual/virtual-truth.ts';

/** Seeds that once failed, each with the fault that it found. */
const regressions: readonly (readonly [seed: string, found: string])[] = [];

const chaosMs = 20 * 60_000;
const calmMs = 8 * 60_000;

/** Lets time pass until `work` has settled: an answer may wait for the disk, and the disk for the clock. */
async function meanwhile<T>(fleet: Fleet, work: Promise<T>): Promise<T> {
  const answer = { isThere: false };
  const note = (): void => {
    answer.isThere = true;
  };
  work.then(note, note);
  for (let rounds = 0; rounds < 1000 && !answer.isThere; rounds++) await runFor(fleet, 10);
  if (!answer.isThere) throw new Error('no answer within 10 s of simulated time');
  return work;
}

async function judge(fleet: Fleet): Promise<readonly IssuedCommand[]> {
  const { truth, broker, disk, board } = fleet;
  const rows = await broker.db.read(sql`SELECT boot, seq, status_code FROM events ORDER BY event_no`);
  judgeEvents(truth, {
    nowMs: fleet.clock.monoMs(),
    rows: rows.map((row) => ({
      boot: String(row['boot']),
      seq: Number(row['seq']),
      statusCode: Number(row['status_code']),
    })),
  });
  const commands = (
    await broker.db.read(
      sql`SELECT command_id, feature, state, expires_ms, command_state, is_final FROM commands`,
    )
  ).map(
    (row): IssuedCommand => ({
      commandID: String(row['command_id']),
      feature: row['feature'] === 'cargoaccess' ? 'cargoaccess' : 'enginecutoff',
      state: row['state'] === '1' ? '1' : '0',
      expiresMs: Number(row['expires_ms']),
      commandState: String(row['command_state']),
      isFinal: row['is_final'] === 1,
    }),
  );
  judgeCommands(truth, commands);
  const agent = fleet.agent();
  const status = agent === null ? undefined : await meanwhile(fleet, agent.status());
  if (status === undefined) truth.breach('I13: the agent does not run after the calm');
  else if (status.connection !== 'up' || status.backlog > 64 || status.commits.waiting > 0)
    truth.breach(`I13: not settled after the calm: ${JSON.stringify(status)}`);
  const record = disk.rows("SELECT value FROM state WHERE key = 'commands'")[0];
  const confirmed = (
    JSON.parse(String(record?.['value'] ?? '{}')) as { confirmed?: Record<string, { state: string }> }
  ).confirmed;
  for (const feature of ['enginecutoff', 'cargoaccess'] as const) {
    const wanted = confirmed?.[feature]?.state ?? '0';
    const is = board.isEnergised(feature) ? '1' : '0';
    if (is !== wanted) truth.breach(`I7: ${feature} is ${is} after the calm, but ${wanted} was confirmed`);
  }
  return commands;
}

interface Life {
  readonly breaches: readonly string[];
  readonly trail: readonly string[];
  readonly summary: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

async function live(seed: string): Promise<Life> {
  const fleet = await createFleet(seed, await readBoardProfile('waveshare-relay-d'));
  try {
    const chaos = unleashChaos(fleet);
    void fleet.startAgent();
    await runFor(fleet, chaosMs);
    chaos.stop();
    heal(fleet);
    fleet.world.calm();
    fleet.truth.note('=== calm');
    await runFor(fleet, 70_000);
    if (fleet.agent() === null) void fleet.startAgent();
    await runFor(fleet, calmMs);
    // Two turns of the broker's own clock, so that what is settled is settled there too.
    const commands = await judge(fleet);
    const ended = (state: string): number =>
      commands.filter(({ commandState }) => commandState === state).length;
    const { counts, worst, stored } = fleet.truth;
    return {
      breaches: fleet.truth.breaches,
      trail: fleet.truth.trail(),
      faults: chaos.faults,
      summary: {
        hours: (chaosMs + calmMs) / 3_600_000,
        confirmed: ended('confirmed'),
        refused: ended('refused'),
        expired: ended('expired'),
        superseded: ended('superseded'),
        cancelled: ended('cancelled'),
        events: stored.length,
        ...chaos.counts,
        ...counts,
        commands: commands.length,
        worstIgnitionMs: Math.round(worst.ignitionMs),
        worstMotionMs: Math.round(worst.motionMs),
      },
    };
  } finally {
    await fleet.close();
  }
}

function add(total: Record<string, number>, summary: Life['summary']): void {
  for (const [name, value] of Object.entries(summary)) {
    const before = total[name] ?? 0;
    total[name] = name.startsWith('worst') ? Math.max(before, value) : before + value;
  }
}

const campaign = Number(env['FLEETWARD_TEST_SEEDS'] ?? extent({ gate: 2, nightly: 4 }));
const first = env['FLEETWARD_TEST_FIRST_SEED'] ?? 'a';
const single = env['FLEETWARD_TEST_SEED'];

it.each(regressions)('seed %s no longer fails: %s', async (seed) => {
  expect((await live(seed)).breaches).toEqual([]);
});

it(
  'is safe in any history',
  async () => {
    const seeds =
      single === undefined ? Array.from({ length: campaign }, (_, at) => `${first}-${at}`) : [single];
    const total: Record<string, number> = {};
    const failed: string[] = [];
    for (const seed of seeds) {
      const life = await live(seed);
      add(total, life.summary);
      if (life.breaches.length === 0) continue;
      failed.push(`seed ${seed} (${life.faults.join(', ')}):\n  ${life.breaches.slice(0, 8).join('\n  ')}`);
      if (single !== undefined) console.log(life.trail.join('\n'));
    }
    console.log(`seeds ${seeds[0]} to ${seeds.at(-1)}: ${JSON.stringify(total)}`);
    expect(failed.join('\n')).toBe('');
  },
  Math.max(600_000, campaign * 60_000),
);

it('replays a seed identically', async () => {
  const [one, two] = [await live('same'), await live('same')];
  expect(two.summary).toEqual(one.summary);
  expect(two.trail).toEqual(one.trail);
});
