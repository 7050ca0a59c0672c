// The power is cut at any moment: a real process works with the outbox, every write and fsync of it is recorded, and from
// the record every disk is made that a cut could leave (see `power-loss.ts`). Each is opened with the real outbox. What was
// told durable is there or was acknowledged or is counted as dropped; nothing comes twice or out of order; the command
// record is never older than told. `npm run test:power-loss` makes 10,000 disks, `npm test` a few hundred.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pageBytes } from '../../agent/core/outbox/page-carving.ts';
import { createLuck } from '../support/hostile/hostile-truth.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import type { DiskOp } from '../support/storage/disk-log.ts';
import { recordDisk } from '../support/storage/disk-log.ts';
import { impatientClock, open, settle } from '../support/storage/outbox-bench.ts';
import { createLedger, judgeOutbox, type Ledger, parseLedger } from '../support/storage/outbox-ledger.ts';
import { createReplayedDisk, type Fate, fates } from '../support/storage/power-loss.ts';
import { campaignSeed, startProcess, type Workload, workloadArgv } from '../support/storage/storage-run.ts';

const { missing } = requires({ commands: ['strace'], debian: ['strace'] });
const states = Number(process.env['FLEETWARD_TEST_STATES'] ?? 240);
const seed = campaignSeed();
const maxBytes = 1024 * 1024;
/** A cut costs no fsync in memory, so a folder there is used where there is one. */
const root = temporaryFolder('power', existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

interface Scenario {
  readonly name: string;
  /** Part of all states. */
  readonly share: number;
  readonly steps: number;
  readonly padBytes: number;
  readonly reopenEvery: number;
  /** Damages what an earlier run left, so that the recorded one repairs. */
  damage?(path: string): void;
}

const scenarios: readonly Scenario[] = [
  { name: 'daily work with restarts', share: 0.5, steps: 260, padBytes: 60, reopenEvery: 61 },
  { name: 'a full outbox that evicts', share: 0.3, steps: 900, padBytes: 1500, reopenEvery: 400 },
  {
    name: 'the repair of a file with a damaged header',
    share: 0.1,
    steps: 40,
    padBytes: 300,
    reopenEvery: 0,
    damage: (path) =>
      writeFileSync(path, Buffer.concat([Buffer.alloc(100, 0xa5), readFileSync(path).subarray(100)])),
  },
  {
    name: 'the repair of a file with a lost page',
    share: 0.1,
    steps: 40,
    padBytes: 300,
    reopenEvery: 0,
    damage: (path) => {
      const bytes = readFileSync(path);
      bytes.fill(0, 5 * pageBytes, 6 * pageBytes);
      writeFileSync(path, bytes);
    },
  },
];

interface Recording {
  readonly present: ReadonlyMap<string, Uint8Array>;
  readonly ops: readonly DiskOp[];
}

/** Runs the workload and records it. The ledger is one of the files, so its lines stand in the record in order. */
async function recordScenario(scenario: Scenario, folder: string): Promise<Recording> {
  mkdirSync(folder);
  const workload: Workload = {
    path: join(folder, 'outbox.db'),
    ledger: join(folder, 'ledger'),
    seed,
    steps: scenario.steps,
    maxBytes,
    padBytes: scenario.padBytes,
    reopenEvery: scenario.reopenEvery,
    name: 'power',
  };
  if (scenario.damage !== undefined) {
    const before = startProcess(workloadArgv({ ...workload, steps: 120, name: 'before' }), 60_000);
    expect(await before.ended).toMatchObject({ exitCode: 0 });
    scenario.damage(workload.path);
  }
  const names = readdirSync(folder);
  const present = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  const first = scenario.damage === undefined ? 0 : 1_000_000;
  const argv = workloadArgv({ ...workload, firstMark: first, firstRecord: first });
  const run = await recordDisk({ folder, argv, present: names, timeoutMs: 240_000 });
  expect(run.exitCode, run.errors).toBe(0);
  rmSync(folder, { recursive: true, force: true });
  return { present, ops: run.ops };
}

const isLedger = (op: DiskOp): boolean => op.name === 'ledger';

/** Numbers of the calls after which the power is cut, each as often as is needed to come to `count`. */
function cutsOf(ops: readonly DiskOp[], count: number, luck: () => number): readonly number[] {
  const calls = ops.flatMap((op, index) => (isLedger(op) ? [] : [index]));
  const rounds = Math.floor(count / calls.length);
  const every = Array.from({ length: rounds }, () => calls).flat();
  const rest = Array.from(
    { length: count - every.length },
    () => calls[Math.floor(luck() * calls.length)] ?? 0,
  );
  return [...every, ...rest].sort((a, b) => a - b);
}

interface Cut {
  readonly folder: string;
  readonly ledger: Ledger;
  readonly isRepair: boolean;
}

/** Opens the disk as the next start of the agent would, and judges it. Gives what is wrong. */
async function judgeCut({ folder, ledger, isRepair }: Cut): Promise<readonly string[]> {
  const outbox = await open(join(folder, 'outbox.db'), { maxBytes, clock: impatientClock });
  try {
    if (isRepair) await settle(outbox);
    const { faults } = await judgeOutbox(ledger, outbox, { isSalvaged: isRepair });
    const evidence = readdirSync(folder).filter((name) => name.includes('.damaged-'));
    const state = await outbox.readState();
    return [
      ...faults,
      ...(isRepair || evidence.length === 0 ? [] : ['a sound file was taken for a damaged one']),
      ...(isRepair || state.isIntact ? [] : ['the state was taken for lost']),
    ];
  } finally {
    await outbox.close();
  }
}

async function replay(recording: Recording, cuts: readonly number[], isRepair: boolean) {
  const luck = createLuck(seed + 1);
  const present = new Map([...recording.present].filter(([name]) => name !== 'ledger'));
  const disk = createReplayedDisk(present);
  const ledger = createLedger();
  const told = new TextDecoder();
  for (const line of parseLedger(told.decode(recording.present.get('ledger') ?? new Uint8Array())))
    ledger.take(line);
  const faults: string[] = [];
  let [unsynced, at, judged] = [0, 0, 0];
  for (const [index, op] of recording.ops.entries()) {
    if (isLedger(op)) {
      if (op.kind === 'write') for (const line of parseLedger(told.decode(op.bytes))) ledger.take(line);
    } else disk.take(op);
    for (; cuts[at] === index; at += 1) {
      const fate: Fate = fates[Math.floor(luck() * fates.length)] ?? 'none';
      const folder = mkdtempSync(join(root, 'cut-'));
      disk.cut(folder, fate, luck);
      unsynced += disk.unsynced();
      judged += 1;
      const found = await judgeCut({ folder, ledger, isRepair });
      rmSync(folder, { recursive: true, force: true });
      if (found.length > 0)
        faults.push(
          `seed ${seed}, after call ${index} (${op.kind} ${op.name}), ${fate}: ${found.join('; ')}`,
        );
      if (faults.length >= 5) return { faults, judged, unsynced };
    }
  }
  return { faults, judged, unsynced };
}

it.skipIf(missing !== null).each(scenarios)(
  `a power cut during $name loses nothing that was reported durable${missing === null ? '' : ` [${missing}]`}`,
  async (scenario) => {
    const recording = await recordScenario(scenario, join(root, `run-${scenarios.indexOf(scenario)}`));
    const cuts = cutsOf(recording.ops, Math.round(states * scenario.share), createLuck(seed));
    const { faults, judged, unsynced } = await replay(recording, cuts, scenario.damage !== undefined);
    const calls = recording.ops.filter((op) => !isLedger(op));
    console.info(scenario.name, {
      seed,
      disks: judged,
      calls: calls.length,
      fsyncs: calls.filter(({ kind }) => kind === 'sync').length,
      unsyncedAtCut: Math.round(unsynced / Math.max(1, judged)),
    });
    expect(faults).toEqual([]);
    expect(judged).toBe(cuts.length);
  },
);
