// What a vehicle says of itself: made from the state of a whole vehicle on a simulated board and receiver, not from invented
// values. The words for people, the conditions of /healthz and the metrics all come from the same facts.
import { describe, expect, it } from 'vitest';
import type { AgentFacts } from '../../agent/core/status/agent-facts.ts';
import { conditionsOf } from '../../agent/core/status/health.ts';
import { formatMetrics } from '../../agent/core/status/metrics-text.ts';
import { statusOfVehicle } from '../../agent/core/status/status.ts';
import { formatSpan } from '../../agent/core/status/status-line.ts';
import { formatStatus, isDegraded, statusLines } from '../../agent/core/status/status-text.ts';
import type { GnssHabits } from '../../simulator/hardware/gnss.ts';
import type { ReceiverQuirk } from '../../simulator/hardware/gnss-sentences.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

function factsOf(rig: VehicleRig, over: Partial<AgentFacts> = {}): AgentFacts {
  const state = rig.state();
  const paths = { board: '/dev/fleet-board', gnss: '/dev/fleet-gnss' };
  return {
    boot: 'b1',
    version: '1.2.3',
    upS: 100,
    connection: state.delivery.phase.kind,
    acknowledged: 0,
    backlog: 3,
    fixes: state.fixes,
    board: state.ports.board.kind,
    gnss: state.ports.gnss.kind,
    commits: { waiting: 0, failing: null },
    committed: 7,
    connects: 0,
    ackedAgoS: null,
    queue: { queued: [1, 0, 1, 1], dropped: [0, 0, 0, 0], isExact: true },
    storage: { bytes: 600_000 },
    idleMs: 100,
    hangingMs: 0,
    messages: [],
    update: null,
    vehicle: statusOfVehicle(state, { nowMs: rig.nowMs(), paths, config: rig.config() }),
    process: { rssBytes: 80e6, lagMs: 3, storageMostBytes: 64e6, diskFreeBytes: 5e9 },
    ...over,
  };
}

const unhealthy = (facts: AgentFacts): readonly string[] =>
  conditionsOf(facts).flatMap(({ name, isGood }) => (isGood ? [] : [name]));
const faultsOf = (facts: AgentFacts): readonly string[] =>
  statusLines(facts).flatMap(({ level, name }) => (level === 'fault' ? [name] : []));

describe('the status of a vehicle', () => {
  it('says which release is on its way, and why it waits', async () => {
    const rig = await createVehicleRig();
    const update = { version: '1.3.0', phase: 'staged', waiting: 'ignition is on' } as const;
    expect(formatStatus(factsOf(rig, { update }), '1.2.3')).toContain(
      'release 1.3.0 is ready, waits: ignition is on',
    );
  });

  it('names the packaged release where an update runs another one', async () => {
    const facts = factsOf(await createVehicleRig());
    expect(formatStatus(facts, '1.2.3')).toMatch(/^fleetward-agent 1\.2\.3, running/);
    expect(formatStatus(facts, '1.0.0')).toMatch(/^fleetward-agent 1\.2\.3 \(packaged 1\.0\.0\), running/);
  });

  it('that works and is offline is healthy, and shows what it reads now', async () => {
    const rig = await createVehicleRig();
    rig.run(30);
    const facts = factsOf(rig);
    expect(unhealthy(facts)).toEqual([]);
    expect(isDegraded(statusLines(facts))).toBe(false);
    const { vehicle } = facts;
    expect(vehicle.gnss).toMatchObject({ state: 'open', hasFix: true, motion: 'still', isSuspect: false });
    expect(vehicle.inputs).toContainEqual(expect.objectContaining({ input: 'ignition', reading: 'off' }));
    expect(vehicle.relays).toContainEqual({ feature: 'enginecutoff', isEnergised: false, wanted: false });
    expect(vehicle.clock).toMatchObject({ quality: 'gnss', differencesS: { server: null } });
    expect(formatStatus(facts, '1.2.3')).toContain('works');
  });

  it('of which the positions come late says so by the time of the broker, and what to do; no cut is carried out on them', async () => {
    const rig = await createVehicleRig({ clocks: { skyAheadMs: -3000 } });
    rig.welcome(Date.UTC(2027, 0, 1) + rig.nowMs());
    rig.run(60);
    rig.command('enginecutoff', '1');
    rig.run(120);
    expect(factsOf(rig).vehicle.gnss).toMatchObject({ hasFix: true, fault: 'fix_late' });
    const text = formatStatus(factsOf(rig), '1.2.3');
    expect(text).toContain('The position is late');
    expect(text).toContain('raise the speed of the receiver');
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
  });

  it.each([
    // [habits, what the line of the receiver says, what helps]
    [{ daysAhead: -7168 }, '1,024 weeks behind', 'Update the firmware of the receiver'],
    [{ daysAhead: -300 }, '300 days behind', 'not that of this machine'],
    [{ daysAhead: -20 }, '20 days behind', 'not that of this machine'],
    [{ everyS: 5 }, 'one position in 5 s', 'RMC and GGA once a second'],
    [{ everyS: 10 }, 'one position in', 'RMC and GGA once a second'],
  ])(
    'of a receiver that proves nothing (%o) says why no cut is carried out, and does not send it on a drive',
    async (habits, words, todo) => {
      const rig = await createVehicleRig({ isCommissioned: false });
      rig.gnss.setHabits(habits);
      rig.welcome(rig.trueUtcMs());
      rig.board.setSignal('ignition', true);
      rig.drive(50);
      rig.run(60);
      rig.drive(0);
      rig.run(20);
      rig.board.setSignal('ignition', false);
      rig.run(60);
      rig.command('enginecutoff', '1');
      rig.run(60);
      const lines = statusLines(factsOf(rig, { upS: 200 }));
      const line = (name: string) => lines.find((one) => one.name === name);
      expect(line('GNSS')).toMatchObject({ level: 'note', words: expect.stringContaining(words) as string });
      expect(line('GNSS')?.todo).toContain(todo);
      expect(line('Command')?.todo).toContain(todo);
      expect(line('Evidence')?.todo).toContain(words);
      expect(lines.map((one) => one.todo).join()).not.toMatch(/drive a minute|timedatectl/);
      expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    },
  );

  it.each([7168, 300])(
    'names a date of the receiver that is %i days ahead, which proves standstill all the same',
    async (daysAhead) => {
      const rig = await createVehicleRig();
      rig.gnss.setHabits({ daysAhead });
      rig.welcome(rig.trueUtcMs());
      rig.run(90);
      const text = formatStatus(factsOf(rig), '1.2.3');
      expect(text).toMatch(/GNSS .*standing for .*the date of the receiver is .* ahead/);
      expect(text).not.toContain('timedatectl');
    },
  );

  it('of a receiver with GGA every 5 s proves it, or names what is missing', async () => {
    const rig = await createVehicleRig({ isCommissioned: false });
    rig.gnss.setHabits({ ggaEveryS: 5 });
    rig.drive(50);
    rig.board.setSignal('ignition', true);
    rig.run(60);
    rig.drive(0);
    rig.run(20);
    rig.board.setSignal('ignition', false);
    rig.run(60);
    expect(formatStatus(factsOf(rig), '1.2.3')).toMatch(/gnss proven|send GGA or GSA with every RMC/);
  });

  it('takes an antenna that is reported as open for a fault only without a position', async () => {
    for (const antenna of ['OPEN', 'SHORT'] as const) {
      const rig = await createVehicleRig();
      rig.gnss.setHabits({ antenna });
      rig.run(30);
      expect(faultsOf(factsOf(rig))).toEqual([]);
      expect(formatStatus(factsOf(rig), '1.2.3')).toContain('a passive one or a splitter');
      rig.gnss.setTunnel(true);
      rig.run(30);
      expect(faultsOf(factsOf(rig))).toEqual(['GNSS']);
    }
  });

  it('says "starting" of what is not known yet just after a start, and gives no advice that ends the agent', async () => {
    const rig = await createVehicleRig({ isCommissioned: false });
    for (let tenth = 0; tenth < 95; tenth += 1) {
      const facts = factsOf(rig, { upS: rig.nowMs() / 1000 });
      const { connection } = facts.vehicle;
      const connecting = {
        ...connection,
        state: 'connecting',
        attempts: 1,
        reason: '',
        isWelcomed: false,
      } as const;
      const lines = statusLines({ ...facts, vehicle: { ...facts.vehicle, connection: connecting } });
      expect(lines.map(({ todo }) => todo).join()).not.toMatch(/doctor|roof/);
      expect(isDegraded(lines)).toBe(false);
      rig.run(0.1);
    }
    // A port that is not there is known at once.
    const facts = factsOf(rig, { upS: 1 });
    const lost = { ...facts.vehicle.board, state: 'waiting', attempts: 1, reason: 'not there' } as const;
    expect(faultsOf({ ...facts, vehicle: { ...facts.vehicle, board: lost } })).toEqual(['I/O board']);
    expect(formatStatus(factsOf(rig, { upS: 0.4, backlog: 3 }), '1.2.3')).toMatch(
      /running for 0 s: starting/,
    );
  });

  it('never denies in one line what another one says', async () => {
    const rig = await createVehicleRig();
    for (let second = 0; second < 120; second += 1) {
      const { gnss, evidence } = factsOf(rig).vehicle;
      const text = formatStatus(factsOf(rig), '1.2.3');
      if (gnss.hasFix) expect(text).not.toContain('There is no position');
      if (gnss.hasFix) expect(text).not.toContain('last position is too old');
      if (gnss.motion !== 'still' && evidence.by === 'gnss')
        expect(text).not.toMatch(/ standing by gnss for/);
      if (second === 60) {
        rig.kill();
        rig.start();
      }
      rig.run(1);
    }
  });

  it('of which the receiver is at fault says so in place of the antenna', async () => {
    const textWith = async (quirks: readonly ReceiverQuirk[], habits: Partial<GnssHabits> = {}) => {
      const rig = await createVehicleRig();
      rig.gnss.setQuirks(quirks);
      rig.gnss.setHabits(habits);
      rig.run(60);
      return formatStatus(factsOf(rig), '1.2.3');
    };
    const unusable = await textWith(['no-zeros']);
    expect(unusable).toContain('no position, none since the start');
    expect(unusable).toMatch(/could not be used, such as \$GN[A-Z]{3},.*,7920\./);
    expect(unusable).not.toContain('metal lid');
    expect(await textWith([], { daysAhead: -1024 * 7 })).toContain('1,024 weeks behind');
    expect(await textWith([], { ggaEveryS: 5 })).toContain('send GGA or GSA with every RMC');
  });

  it('says why a command waits, and what relay is wanted once it is confirmed', async () => {
    const rig = await createVehicleRig();
    rig.board.setSignal('ignition', true);
    rig.run(30);
    rig.command('enginecutoff', '1');
    rig.run(2);
    expect(factsOf(rig).vehicle.commands).toEqual([
      {
        commandID: 'c1',
        feature: 'enginecutoff',
        state: '1',
        phase: 'armed',
        verdict: expect.objectContaining({ code: 'ignition_off' }),
      },
    ]);
    expect(formatStatus(factsOf(rig), '1.2.3')).toContain('armed. Ignition is on');
    rig.board.setSignal('ignition', false);
    rig.run(60);
    expect(factsOf(rig).vehicle.relays[0]).toEqual({
      feature: 'enginecutoff',
      isEnergised: true,
      wanted: true,
    });
  });

  it('shows the witnesses of a commissioned vehicle, and what a new one must do to earn credit', async () => {
    const commissioned = await createVehicleRig();
    commissioned.run(30);
    const witnesses = {
      gnss: 'proven',
      ignition: 'proven',
      motion: 'proven',
      rpm: 'absent',
      voltage: 'absent',
    };
    expect(factsOf(commissioned).vehicle.evidence).toMatchObject({
      drive: 'standing',
      by: 'gnss',
      witnesses,
    });
    const fresh = await createVehicleRig({ isCommissioned: false });
    fresh.run(30);
    expect(factsOf(fresh).vehicle.evidence.witnesses).toMatchObject({
      gnss: 'unproven',
      ignition: 'unproven',
    });
    expect(formatStatus(factsOf(fresh), '1.2.3')).toContain('A cut needs two proven sensors');
  });

  it('counts the supply voltage as none of the two sensors that a cut needs', async () => {
    const rig = await createVehicleRig();
    rig.run(30);
    const facts = factsOf(rig);
    const absent = { gnss: 'absent', motion: 'absent', ignition: 'absent', rpm: 'absent' } as const;
    const proven = { voltage: 'proven' } as const;
    const textWith = (witnesses: object): string => {
      const evidence = { ...facts.vehicle.evidence, witnesses: { ...absent, ...proven, ...witnesses } };
      return formatStatus({ ...facts, vehicle: { ...facts.vehicle, evidence } }, '1.2.3');
    };
    expect(textWith({ ignition: 'proven' })).toContain('A cut needs two proven sensors');
    expect(textWith({ ignition: 'proven', gnss: 'proven' })).not.toContain('A cut needs two proven sensors');
  });

  it('never shows a relay or an input of a silent board as known, and says so', async () => {
    const rig = await createVehicleRig();
    rig.run(30);
    rig.board.setFaults({ silent: true });
    rig.run(60);
    const facts = factsOf(rig);
    expect(facts.vehicle.relays.map(({ isEnergised }) => isEnergised)).toEqual(
      facts.vehicle.relays.map(() => null),
    );
    expect(new Set(facts.vehicle.inputs.map(({ reading }) => reading))).toEqual(new Set(['unknown']));
    expect(unhealthy(facts)).toEqual(['io']);
    expect(faultsOf(facts)).toContain('I/O board');
  });

  it.each([
    ['that answers', { noise: 'before' }, 'note ', 'answers; '],
    ['that is silent', { noise: 'lone', lost: 1 }, 'FAULT', 'no answer from '],
  ] as const)(
    'names the noise on the line of a board %s, and what to do about it',
    async (_what, faults, mark, words) => {
      const rig = await createVehicleRig();
      expect(formatStatus(factsOf(rig), '1.2.3')).not.toContain('noise');
      rig.board.setFaults(faults);
      rig.run(30);
      const text = formatStatus(factsOf(rig), '1.2.3');
      expect(text).toMatch(new RegExp(`^${mark} I/O board .*${words}.*noise on the line: [0-9]+ bytes`, 'm'));
      expect(text).toContain('bias A and B');
      expect(text).toContain('120 ohms');
      expect(text).toContain('another adapter');
    },
  );

  it('is not healthy while the disk takes nothing, the loop lags, or the session misses its own deadline', async () => {
    const rig = await createVehicleRig();
    rig.run(30);
    const good = factsOf(rig);
    expect(unhealthy({ ...good, commits: { waiting: 4, failing: 'ENOSPC' } })).toEqual(['commit']);
    expect(faultsOf({ ...good, commits: { waiting: 4, failing: 'ENOSPC' } })).toEqual(['Storage']);
    expect(unhealthy({ ...good, hangingMs: 2500 })).toEqual(['commit']);
    expect(unhealthy({ ...good, process: { ...good.process, lagMs: 800 } })).toEqual(['loop']);
    expect(unhealthy({ ...good, idleMs: 6000 })).toEqual(['loop']);
    const late = { ...good.vehicle.connection, overdueS: 9 };
    expect(unhealthy({ ...good, vehicle: { ...good.vehicle, connection: late } })).toEqual(['sync']);
    const refused = { ...good.vehicle.connection, reason: 'refused: not authorised' };
    expect(faultsOf({ ...good, vehicle: { ...good.vehicle, connection: refused } })).toEqual(['Broker']);
  });

  it('gives metrics that a scraper takes: one type a name, numbers only, and no position', async () => {
    const rig = await createVehicleRig();
    rig.run(30);
    const facts = factsOf(rig);
    const lines = formatMetrics(facts).trimEnd().split('\n');
    const types = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
    expect(new Set(types).size).toBe(types.length);
    for (const line of lines.filter((text) => !text.startsWith('#')))
      expect(line).toMatch(
        /^fleetward_agent_[a-z_]+(\{[a-z]+="[A-Za-z0-9-]+"\})? -?\d+(\.\d+)?(e[-+]?\d+)?$/,
      );
    expect(lines).toContain('fleetward_agent_queue_events{class="0"} 1');
    expect(lines.join('\n')).not.toContain(String(facts.vehicle.gnss.latitude));
  });
});

it('spans of time are for people', () => {
  expect([null, 3, 90, 600, 7500, 100_000, 300_000].map(formatSpan)).toEqual([
    'an unknown time',
    '3 s',
    '90 s',
    '10 min',
    '2 h 5 min',
    '27 h 46 min',
    '3 d 11 h',
  ]);
});
