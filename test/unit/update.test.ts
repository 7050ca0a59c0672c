// The update of the agent as a machine, against a world in which power is cut, disks fail, servers refuse and drivers come back
// at any moment. What holds in every history: no restart of a vehicle that may be driven, no release kept that was not shown to
// work, every job told to its end exactly once, and an agent runs at the end.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  emptyState,
  planLaunch,
  type ReleaseState,
  withConfirmed,
  withRejection,
  withTrial,
} from '../../agent/core/update/plan.ts';
import { createUpdate, stepUpdate } from '../../agent/core/update/update.ts';
import { parseUpdateRecord } from '../../agent/core/update/update-module.ts';
import {
  noUpdateRecord,
  type UpdateEffect,
  type UpdateInput,
  type UpdateJob,
  type UpdateRecord,
  type UpdateSetup,
  type UpdateState,
  type UpdateTask,
  updateLimits,
  type VehicleSnapshot,
} from '../../agent/core/update/update-types.ts';
import { eventFault } from '../../src/core/events/event-check.ts';

const packaged = '1.0.0';
const times = { parkedMs: 60_000, healthMs: 20_000, trialMs: 100_000 };
const works = { board: true, gnss: true, broker: true };
const nothing = { board: false, gnss: false, broker: false };
const noFacts = { trial: null, confirmed: null, rejected: [] };

const jobOf = (commandID: string, version: string, issuedMs = 1): UpdateJob => ({
  commandID,
  version,
  url: 'https://updates.example.com/agent.tar.gz?key=SECRET',
  sha256: 'a'.repeat(64),
  issuedMs,
  expiresMs: 1e12,
});

const calm: VehicleSnapshot = {
  nowMs: 0,
  fraction: 0.5,
  latestUtcMs: 1000,
  fetchObjection: null,
  swapObjection: null,
  parts: works,
};

interface World {
  readonly disk: {
    record: UpdateRecord;
    known: readonly string[];
    releases: ReleaseState;
    staged: readonly string[];
    told: readonly { readonly commandID: string; readonly state: string }[];
  };
  state: UpdateState | null;
  running: string;
  look: VehicleSnapshot;
  known: readonly string[];
  tasks: UpdateTask[];
  commits: {
    record: UpdateRecord;
    known: readonly string[];
    events: World['disk']['told'];
    awaited: boolean;
  }[];
  /** Releases that crash at once, and what is broken under which release. */
  readonly crashing: ReadonlySet<string>;
  starts: number;
  goodSinceMs: number | null;
}

const ends = new Set(['confirmed', 'refused', 'cancelled', 'superseded', 'expired']);

function createWorld(crashing: readonly string[] = []): World {
  return {
    disk: { record: noUpdateRecord, known: [], releases: emptyState, staged: [], told: [] },
    state: null,
    running: packaged,
    look: calm,
    known: [],
    tasks: [],
    commits: [],
    crashing: new Set(crashing),
    starts: 0,
    goodSinceMs: null,
  };
}

/** What must hold of every effect at the moment at which it leaves. */
function checkTask(world: World, task: UpdateTask): void {
  const { state, look, disk } = world;
  if (task.kind === 'ask') {
    expect(look.swapObjection).toBeNull();
    expect(disk.record.active).toMatchObject({ phase: 'swapping', version: task.version });
  }
  if (task.kind === 'restart' && state?.trial === null) expect(look.swapObjection).toBeNull();
  if (task.kind === 'stage') expect(look.fetchObjection).toBeNull();
  if (task.kind !== 'confirm') return;
  expect(task.version).toBe(world.running);
  const { baseline } = state?.trial ?? {};
  if (baseline?.board === true)
    expect(look.nowMs - (world.goodSinceMs ?? look.nowMs)).toBeGreaterThanOrEqual(times.healthMs);
}

function take(world: World, effect: UpdateEffect): void {
  if (effect.kind === 'log') return expect(JSON.stringify(effect.fields)).not.toContain('SECRET');
  if (effect.kind === 'commit') {
    for (const draft of effect.events)
      expect(eventFault({ seq: 1, timestamp: 1, upMs: 1, timeQuality: 'gnss', ...draft })).toBeNull();
    const events = effect.events.map(({ commandID = '', commandState = '' }) => ({
      commandID,
      state: commandState,
    }));
    const record = world.state?.record ?? noUpdateRecord;
    return void world.commits.push({ record, known: world.known, events, awaited: effect.isAwaited });
  }
  checkTask(world, effect.task);
  world.tasks.push(effect.task);
}

function give(world: World, input: UpdateInput): void {
  if (world.state === null) return;
  const { state, effects } = stepUpdate(world.state, input, world.look);
  world.state = state;
  for (const effect of effects) take(world, effect);
}

function order(world: World, job: UpdateJob): void {
  if (world.state === null || world.known.includes(job.commandID)) return;
  world.known = [...world.known, job.commandID];
  give(world, { kind: 'job', job });
}

/** The launcher, and the agent that it starts; a release that crashes is started again. */
function start(world: World, jobs: readonly UpdateJob[]): void {
  for (let turn = 0; turn < 10; turn++) {
    const { disk } = world;
    const arch = 'amd64';
    const staged = disk.staged.map((version) => ({
      name: 'fleetward-agent' as const,
      version,
      arch: 'amd64' as const,
      nodeAbi: '115',
      floor: '0.0.0',
      createdMs: 0,
    }));
    const plan = planLaunch({
      packaged: { version: packaged, arch, nodeAbi: '115' },
      state: disk.releases,
      staged,
    });
    disk.releases = plan.state;
    world.running = plan.choice.kind === 'packaged' ? packaged : plan.choice.version;
    world.starts += 1;
    if (!world.crashing.has(world.running)) break;
  }
  const { trial, confirmed, rejected } = world.disk.releases;
  const facts = { trial: trial?.version ?? null, confirmed, rejected };
  const setup: UpdateSetup = { running: world.running, ...times, facts };
  world.known = world.disk.known;
  world.goodSinceMs = null;
  world.state = createUpdate(parseUpdateRecord(JSON.parse(JSON.stringify(world.disk.record))), setup);
  give(world, { kind: 'start' });
  // The broker sends again what has not ended.
  const isOpen = ({ commandID }: UpdateJob): boolean =>
    !world.disk.told.some((told) => told.commandID === commandID && ends.has(told.state));
  for (const job of jobs.filter(isOpen)) order(world, job);
}

function crash(world: World, jobs: readonly UpdateJob[]): void {
  world.tasks = [];
  world.commits = [];
  start(world, jobs);
}

function commitNext(world: World, durable: boolean): void {
  const commit = world.commits[0];
  if (commit === undefined) return;
  if (!durable) {
    // Kept and tried again; whoever waits is told.
    if (commit.awaited) give(world, { kind: 'committed', durable });
    commit.awaited = false;
    return;
  }
  world.commits.shift();
  const { record, known, events } = commit;
  Object.assign(world.disk, { record, known, told: [...world.disk.told, ...events] });
  if (commit.awaited) give(world, { kind: 'committed', durable });
}

const faults = {
  none: null,
  network: { kind: 'network', reason: 'nobody there' },
  refused: { kind: 'refused', reason: 'the server says 404' },
  final: { kind: 'final', reason: 'the signature is wrong' },
} as const;

/** Does the oldest task on the disk, or fails at it. */
function doTask(world: World, jobs: readonly UpdateJob[], fault: keyof typeof faults = 'none'): void {
  const task = world.tasks.shift();
  if (task === undefined) return;
  const { disk } = world;
  const isBad = fault !== 'none';
  const answer = (kind: 'asked' | 'withdrawn' | 'confirmed' | 'rejected', releases: ReleaseState): void => {
    if (!isBad) disk.releases = releases;
    give(world, { kind, fault: isBad ? 'the disk is read-only' : null });
  };
  const withdrawn = (version: string): ReleaseState =>
    disk.releases.trial?.version === version ? { ...disk.releases, trial: null } : disk.releases;
  switch (task.kind) {
    case 'stage':
      if (!isBad) disk.staged = [...disk.staged, task.job.version];
      return give(world, { kind: 'staged', commandID: task.job.commandID, fault: faults[fault] });
    case 'halt':
      return;
    case 'tidy': {
      const { trial, confirmed } = disk.releases;
      disk.staged = disk.staged.filter((version) => version === confirmed || version === trial?.version);
      return;
    }
    case 'ask': {
      const { version } = task;
      if (!disk.staged.includes(version)) return give(world, { kind: 'asked', fault: 'not staged' });
      return answer('asked', withTrial(disk.releases, { version, confirmWithinS: 100 }));
    }
    case 'withdraw':
      return answer('withdrawn', withdrawn(task.version));
    case 'confirm':
      return answer('confirmed', withConfirmed(disk.releases, { version: task.version, floor: '0.0.0' }));
    case 'reject':
      return answer('rejected', withRejection(withdrawn(task.version), task));
    case 'restart':
      return crash(world, jobs);
  }
}

/** Time passes; the launcher ends a trial that is over. */
function pass(world: World, jobs: readonly UpdateJob[], ms: number): void {
  for (let left = ms; left > 0; left -= 500) {
    world.look = { ...world.look, nowMs: world.look.nowMs + Math.min(500, left) };
    if (!world.look.parts.board) world.goodSinceMs = null;
    else world.goodSinceMs ??= world.look.nowMs;
    give(world, { kind: 'time' });
  }
  const { trial } = world.state ?? {};
  const isOver = trial !== null && trial !== undefined && world.look.nowMs - trial.sinceMs >= times.trialMs;
  if (isOver) crash(world, jobs);
}

/** All goes well from now on, until nothing is left to do. */
function settle(world: World, jobs: readonly UpdateJob[]): void {
  world.look = { ...world.look, fetchObjection: null, swapObjection: null, parts: works };
  for (let turn = 0; turn < 400; turn++) {
    while (world.commits.length > 0) commitNext(world, true);
    while (world.tasks.length > 0) {
      doTask(world, jobs);
      while (world.commits.length > 0) commitNext(world, true);
    }
    const isIdle = world.state?.record.active === null && world.state.trial === null;
    if (isIdle && world.disk.releases.trial === null) return;
    pass(world, jobs, 10_000);
  }
  throw new Error(`never ends: ${JSON.stringify(world.state)}`);
}

const endsOf = (world: World, commandID: string): readonly string[] =>
  world.disk.told
    .filter((told) => told.commandID === commandID && ends.has(told.state))
    .map(({ state }) => state);

function fresh(crashing: readonly string[] = []): World {
  const world = createWorld(crashing);
  start(world, []);
  settle(world, []);
  return world;
}

describe('an update', () => {
  const job = jobOf('c1', '1.1.0');

  it('is fetched, swapped, shown to work, and confirmed', () => {
    const world = fresh();
    order(world, job);
    settle(world, [job]);
    expect(world.disk.told).toEqual([
      { commandID: 'c1', state: 'executing' },
      { commandID: 'c1', state: 'confirmed' },
    ]);
    expect(world.running).toBe('1.1.0');
    expect(world.disk.releases).toMatchObject({ confirmed: '1.1.0', trial: null });
  });

  it('to a release that crashes ends where it began, with the launcher’s reason', () => {
    const world = fresh(['1.1.0']);
    order(world, job);
    settle(world, [job]);
    expect(endsOf(world, 'c1')).toEqual(['refused']);
    expect(world.running).toBe(packaged);
  });

  it.each(['board', 'gnss', 'broker'] as const)('under which the %s does not work is taken back', (part) => {
    const world = fresh();
    order(world, job);
    for (let turn = 0; turn < 50 && world.state?.trial === null; turn++) {
      while (world.commits.length > 0) commitNext(world, true);
      if (world.tasks.length > 0) doTask(world, [job]);
      pass(world, [job], 1000);
    }
    expect(world.running).toBe('1.1.0');
    world.look = { ...world.look, parts: { ...works, [part]: false } };
    // What was heard in the very first moment of the trial counts.
    if (world.state?.trial) world.state = { ...world.state, trial: { ...world.state.trial, seen: nothing } };
    for (let turn = 0; turn < 200 && world.running !== packaged; turn++) {
      while (world.commits.length > 0) commitNext(world, true);
      if (world.tasks.length > 0) doTask(world, [job]);
      pass(world, [job], 1000);
    }
    settle(world, [job]);
    expect(endsOf(world, 'c1')).toEqual(['refused']);
    expect(world.disk.releases.rejected[0]?.reason).toMatch(/given up after its trial/);
  });

  it('without what did not work before is no worse', () => {
    const world = fresh();
    order(world, job);
    world.look = { ...world.look, parts: nothing };
    for (let turn = 0; turn < 100 && endsOf(world, 'c1').length === 0; turn++) {
      while (world.commits.length > 0) commitNext(world, true);
      if (world.tasks.length > 0) doTask(world, [job]);
      pass(world, [job], 1000);
    }
    expect(endsOf(world, 'c1')).toEqual(['confirmed']);
  });

  it.each([
    ['an older version', '0.9.0', /not newer than 1\.0\.0/],
    ['the same version', '1.0.0', /not newer than 1\.0\.0/],
    ['no version', '../../etc', /not a version/],
  ])('to %s is refused in words', (_what, version, words) => {
    const { state, effects } = stepUpdate(
      createUpdate(noUpdateRecord, { running: packaged, ...times, facts: noFacts }),
      { kind: 'job', job: jobOf('c1', version) },
      calm,
    );
    expect(state.record.active).toBeNull();
    const events = effects.flatMap((effect) => (effect.kind === 'commit' ? effect.events : []));
    expect(events).toMatchObject([
      { statusCode: 64_834, commandState: 'executing' },
      { statusCode: 64_836, commandState: 'refused', attributes: { version } },
    ]);
    expect(String(events[1]?.attributes?.['reason'])).toMatch(words);
  });

  it('is one at a time: a newer job replaces it before the swap, and is refused after it', () => {
    const world = fresh();
    order(world, job);
    const second = jobOf('c2', '1.2.0', 2);
    order(world, second);
    order(world, jobOf('c0', '1.3.0', 0));
    for (let turn = 0; turn < 50 && world.state?.trial === null; turn++) {
      while (world.commits.length > 0) commitNext(world, true);
      if (world.tasks.length > 0) doTask(world, [second]);
      pass(world, [second], 1000);
    }
    const third = jobOf('c3', '1.4.0', 3);
    order(world, third);
    settle(world, [second, third]);
    expect([endsOf(world, 'c1'), endsOf(world, 'c0'), endsOf(world, 'c2'), endsOf(world, 'c3')]).toEqual([
      ['superseded'],
      ['refused'],
      ['confirmed'],
      ['refused'],
    ]);
  });

  it('that is past its time is not begun, and given up before the swap', () => {
    const world = fresh();
    order(world, { ...job, expiresMs: 500 });
    const second = { ...jobOf('c2', '1.2.0'), expiresMs: 5000 };
    order(world, second);
    world.look = { ...world.look, swapObjection: 'the ignition is not known to be off' };
    doTask(world, [second]);
    pass(world, [second], 1000);
    world.look = { ...world.look, latestUtcMs: 5000 };
    settle(world, [second]);
    expect(endsOf(world, 'c1')).toEqual(['expired']);
    expect(endsOf(world, 'c2')).toEqual(['refused']);
    expect(world.running).toBe(packaged);
  });

  it('is given up when a server says no again and again, and waits for ever for a network', () => {
    const world = fresh();
    order(world, job);
    for (let turn = 0; turn < 40; turn++) {
      doTask(world, [job], 'network');
      pass(world, [job], 3_600_000 / 20);
    }
    expect(world.state?.record.active).not.toBeNull();
    let refusals = 0;
    for (let turn = 0; turn < 2000 && world.state?.record.active !== null; turn++) {
      if (world.tasks[0]?.kind === 'stage') refusals += 1;
      doTask(world, [job], 'refused');
      pass(world, [job], 60_000);
    }
    settle(world, [job]);
    expect(endsOf(world, 'c1')).toEqual(['refused']);
    expect(refusals).toBe(updateLimits.refusals);
  });

  it('without a launcher or a key never begins', () => {
    const { state, effects } = stepUpdate(createUpdate(noUpdateRecord, null), { kind: 'job', job }, calm);
    expect([state.record.active, effects]).toEqual([null, []]);
  });

  it('on trial without a record, as after a lost disk, is judged strictly and kept if it works', () => {
    const setup = { running: '1.1.0', ...times, facts: { ...noFacts, trial: '1.1.0' } };
    const { state } = stepUpdate(createUpdate(noUpdateRecord, setup), { kind: 'start' }, calm);
    expect(state.trial?.baseline).toEqual({ board: true, gnss: false, broker: true });
  });
});

/** One job from its order to its end, one small step after the other; `at` is what happens besides at step `number`. */
function live(at: (world: World, number: number, jobs: readonly UpdateJob[]) => void): World {
  const world = fresh();
  const jobs = [jobOf('c1', '1.1.0')];
  for (const job of jobs) order(world, job);
  for (let number = 0; number < 150 && endsOf(world, 'c1').length === 0; number++) {
    at(world, number, jobs);
    if (world.commits.length > 0) commitNext(world, true);
    else if (world.tasks.length > 0) doTask(world, jobs);
    else pass(world, jobs, 1000);
  }
  settle(world, jobs);
  return world;
}

describe('at every single step of an update', () => {
  const steps = Array.from({ length: 60 }, (_, number) => number);

  it('power may be cut: it is carried out once all the same', () => {
    for (const step of steps) {
      const world = live((now, number, jobs) => {
        if (number === step) crash(now, jobs);
      });
      expect(endsOf(world, 'c1'), `step ${step}`).toEqual(['confirmed']);
      expect(world.running).toBe('1.1.0');
    }
  });

  it('a driver may come: nothing is restarted until the vehicle is parked again', () => {
    for (const step of steps) {
      let starts = 0;
      const world = live((now, number) => {
        // A restart that was asked for is on its way: the process ends within that very step.
        const isRestarting = now.tasks.some(({ kind }) => kind === 'restart');
        if (number === step && now.running === packaged && !isRestarting) {
          now.look = { ...now.look, swapObjection: 'the ignition is not known to be off' };
          ({ starts } = now);
        }
        if (number === step + 20 && now.look.swapObjection !== null) {
          expect(now.starts, `step ${step}`).toBe(starts);
          expect(now.disk.releases.trial, `step ${step}`).toBeNull();
          now.look = { ...now.look, swapObjection: null };
        }
      });
      expect(endsOf(world, 'c1'), `step ${step}`).toEqual(['confirmed']);
    }
  });

  it('it may be withdrawn: it ends withdrawn, or goes on whole', () => {
    const seen = new Set<string>();
    for (const step of steps) {
      const world = live((now, number) => {
        if (number === step) give(now, { kind: 'cancel', commandID: 'c1' });
      });
      const [end = ''] = endsOf(world, 'c1');
      seen.add(end);
      expect(world.running).toBe(end === 'confirmed' ? '1.1.0' : packaged);
      expect(world.disk.staged).toEqual(end === 'confirmed' ? ['1.1.0'] : []);
    }
    expect([...seen].toSorted()).toEqual(['cancelled', 'confirmed']);
  });

  it('the disk may fail: it ends confirmed, or refused with the reason', () => {
    for (const step of steps) {
      const world = live((now, number, jobs) => {
        if (number !== step) return;
        if (now.commits.length > 0) commitNext(now, false);
        else if (now.tasks.length > 0 && now.tasks[0]?.kind !== 'restart') doTask(now, jobs, 'refused');
      });
      expect(['confirmed', 'refused'], `step ${step}`).toContain(endsOf(world, 'c1')[0]);
      expect(world.running).toBe(endsOf(world, 'c1')[0] === 'confirmed' ? '1.1.0' : packaged);
    }
  });

  it('an answer for a job that was replaced counts for nothing', () => {
    const world = fresh();
    const [first, second] = [jobOf('c1', '1.1.0'), jobOf('c2', '1.2.0', 2)];
    order(world, first);
    pass(world, [], 500);
    order(world, second);
    pass(world, [], 500);
    give(world, { kind: 'staged', commandID: 'c1', fault: null });
    expect(world.state?.record.active).toMatchObject({ commandID: 'c2', phase: 'fetching' });
    settle(world, [first, second]);
    expect(endsOf(world, 'c2')).toEqual(['confirmed']);
  });
});

describe('in any history', () => {
  const action = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.integer({ min: 1, max: 40_000 }) }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('commit'), durable: fc.boolean() }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('task'),
        fault: fc.constantFrom('none', 'none', 'none', 'network', 'refused', 'final'),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ kind: 'crash' }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('driver'), isThere: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('link'), isUp: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('board'), works: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('job'), number: fc.integer({ min: 1, max: 5 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('cancel'), number: fc.integer({ min: 1, max: 5 }) }),
    },
  ) as fc.Arbitrary<Readonly<Record<string, unknown>> & { readonly kind: string }>;

  it('no driver is restarted, no untested release stays, and every job ends once', () => {
    fc.assert(
      fc.property(
        fc.array(action, { minLength: 5, maxLength: 80 }),
        fc.subarray(['1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0']),
        (history, crashing) => {
          const world = fresh(crashing);
          const jobs: UpdateJob[] = [];
          for (const { kind, ...of } of history) {
            if (kind === 'pass') pass(world, jobs, Number(of['ms']));
            if (kind === 'commit') commitNext(world, of['durable'] === true);
            if (kind === 'task') doTask(world, jobs, of['fault'] as keyof typeof faults);
            if (kind === 'crash') crash(world, jobs);
            if (kind === 'driver')
              world.look = { ...world.look, swapObjection: of['isThere'] === true ? 'driven' : null };
            if (kind === 'link') {
              const isUp = of['isUp'] === true;
              const parts = { ...world.look.parts, broker: isUp };
              world.look = { ...world.look, fetchObjection: isUp ? null : 'no connection', parts };
            }
            if (kind === 'board')
              world.look = { ...world.look, parts: { ...world.look.parts, board: of['works'] === true } };
            const commandID = `c${String(of['number'])}`;
            if (kind === 'job' && !jobs.some((one) => one.commandID === commandID)) {
              const job = jobOf(commandID, `1.${String(of['number'])}.0`, jobs.length);
              jobs.push(job);
              order(world, job);
            }
            if (kind === 'cancel') give(world, { kind: 'cancel', commandID });
          }
          settle(world, jobs);
          // What the broker has not heard of comes again.
          crash(world, jobs);
          settle(world, jobs);
          for (const { commandID, version } of jobs) {
            const told = endsOf(world, commandID);
            expect(told.length, `${commandID}: ${told.join()}`).toBe(1);
            if (told[0] === 'confirmed') expect(world.crashing.has(version)).toBe(false);
          }
          const { confirmed } = world.disk.releases;
          expect(world.running).toBe(confirmed ?? packaged);
          expect(world.crashing.has(world.running)).toBe(false);
        },
      ),
      { numRuns: Number(process.env['FLEETWARD_TEST_RUNS'] ?? 2000) },
    );
  });

  it('whatever stands on the disk in place of the record, none or a whole one is read', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const { active } = parseUpdateRecord({ active: value });
        if (active !== null) expect(active.sha256).toHaveLength(64);
      }),
    );
    const active = { ...jobOf('c1', '1.1.0'), phase: 'staged', baseline: works, swaps: 1 };
    expect(parseUpdateRecord(JSON.parse(JSON.stringify({ active })))).toEqual({ active });
  });
});
