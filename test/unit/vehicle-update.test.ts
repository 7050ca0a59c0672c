// When a vehicle lets itself be updated, over the bytes of a simulated board and receiver: it fetches only over a link that works
// and is paid for, and restarts only when it is parked and nothing is under way that a restart could disturb.
import { describe, expect, it } from 'vitest';
import { put } from '../../agent/core/kernel/vehicle-state.ts';
import { describeUpdate } from '../../agent/core/update/update-module.ts';
import type { UpdateResult } from '../../agent/core/update/update-types.ts';
import { eventFault } from '../../src/core/events/event-check.ts';
import type { FirmwareBody } from '../../src/core/wire/wire.ts';
import { createVehicleRig, type RigOptions, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const updateSetup = {
  running: '1.0.0',
  parkedMs: 60_000,
  healthMs: 60_000,
  trialMs: 600_000,
  facts: { trial: null, confirmed: null, rejected: [] },
};

const jobOf = (over: Partial<FirmwareBody> = {}): FirmwareBody => ({
  accountID: 'acme',
  deviceID: 'truck-1',
  commandID: 'f1',
  boot: 'b1',
  issuedMs: Date.UTC(2027, 0, 1),
  expiresMs: Date.UTC(2027, 1, 1),
  version: '1.1.0',
  url: 'https://updates.example.com/agent.tar.gz',
  sha256: 'a'.repeat(64),
  issuer: 'anna',
  cancel: false,
  ...over,
});

const tell = (rig: VehicleRig, news: UpdateResult): void => rig.dispatch({ kind: 'update', result: news });
const tasks = (rig: VehicleRig): readonly string[] =>
  rig.updateTasks.map(({ kind }) => kind).filter((kind) => kind !== 'tidy');
const waiting = (rig: VehicleRig): string | undefined => describeUpdate(rig.state())?.waiting;

const answersTo = (rig: VehicleRig, commandID: string) =>
  rig.told.filter((event) => event.commandID === commandID);

/** Puts the session where a broker would bring it. */
function connect(rig: VehicleRig): void {
  rig.within((work) => {
    const phase = {
      kind: 'up',
      sinceMs: work.now.monoMs,
      nonce: 'n',
      askedMs: work.now.monoMs,
      greeted: true,
      welcomed: true,
      isOutdated: false,
      isShort: false,
    } as const;
    put(work, { delivery: { ...work.state.delivery, phase, acknowledged: 1 } });
  });
}

/** Parked since a good while, connected, and the job was taken. */
async function parked(over: RigOptions = {}): Promise<VehicleRig> {
  const rig = await createVehicleRig({ updateSetup, ...over });
  rig.run(90);
  connect(rig);
  rig.dispatch({ kind: 'firmware', body: jobOf() });
  rig.run(1);
  return rig;
}

/** ... and staged, while the ignition was on. */
async function staged(): Promise<VehicleRig> {
  const rig = await parked();
  rig.board.setSignal('ignition', true);
  rig.run(3);
  tell(rig, { kind: 'staged', commandID: 'f1', fault: null });
  rig.run(3);
  expect(tasks(rig)).toEqual(['stage']);
  return rig;
}

describe('a vehicle', () => {
  it('takes a job up once, and knows it again', async () => {
    const rig = await parked();
    for (let times = 0; times < 3; times++) rig.dispatch({ kind: 'firmware', body: jobOf() });
    rig.run(5);
    expect(tasks(rig)).toEqual(['stage']);
    expect(answersTo(rig, 'f1')).toMatchObject([{ statusCode: 64_834, commandState: 'executing' }]);
  });

  it.each([
    ['another vehicle', { deviceID: 'truck-2' }],
    ['another account', { accountID: 'rival' }],
    ['another boot', { boot: 'b0' }],
  ])('takes no job for %s', async (_what, over) => {
    const rig = await createVehicleRig({ updateSetup });
    rig.run(90);
    connect(rig);
    rig.dispatch({ kind: 'firmware', body: jobOf(over) });
    rig.run(5);
    expect(tasks(rig)).toEqual([]);
    expect(rig.told.some(({ commandID }) => commandID === 'f1')).toBe(false);
  });

  it('refuses it where no launcher can swap releases: once, in one answer, also after a restart', async () => {
    const rig = await createVehicleRig();
    const send = (boot: string) => rig.dispatch({ kind: 'firmware', body: jobOf({ boot }) });
    for (let times = 0; times < 3; times++) send('b1');
    rig.kill();
    rig.start();
    send('b2');
    const reason = 'this unit is updated by its package manager';
    expect(answersTo(rig, 'f1')).toMatchObject([
      { statusCode: 64_834, commandState: 'executing', attributes: { version: '1.1.0' } },
      { statusCode: 64_836, commandState: 'refused', attributes: { version: '1.1.0', reason } },
    ]);
    expect(rig.disk.rows).toMatchObject({ jobs: ['f1'] });
  });

  it('never begins a job that was withdrawn before it came, and remembers the newest jobs only', async () => {
    const rig = await createVehicleRig();
    rig.dispatch({ kind: 'firmware', body: jobOf({ cancel: true }) });
    rig.dispatch({ kind: 'firmware', body: jobOf() });
    expect(answersTo(rig, 'f1')).toMatchObject([{ statusCode: 4358, commandState: 'cancelled' }]);
    for (let at = 2; at < 40; at++) rig.dispatch({ kind: 'firmware', body: jobOf({ commandID: `f${at}` }) });
    expect(rig.state().jobs).toHaveLength(16);
    expect(rig.state().jobs.at(-1)).toBe('f39');
    for (const event of rig.told) expect(eventFault(event)).toBeNull();
  });
});

describe('it fetches', () => {
  it('only while it is connected, at home, and within its data budget', async () => {
    const rig = await createVehicleRig({ updateSetup });
    rig.run(90);
    rig.dispatch({ kind: 'firmware', body: jobOf() });
    rig.run(5);
    expect([tasks(rig), waiting(rig)]).toEqual([[], 'there is no connection']);
    connect(rig);
    rig.dispatch({ kind: 'network', isRoaming: true });
    rig.run(5);
    expect([tasks(rig), waiting(rig)]).toEqual([[], 'the modem is roaming']);
    rig.dispatch({ kind: 'network', isRoaming: false });
    rig.run(1);
    expect(tasks(rig)).toEqual(['stage']);
  });

  it('and what it carried counts: at amber it halts, and goes on when the light is green again', async () => {
    const rig = await parked();
    rig.within((work) => {
      const { settings } = work.state;
      put(work, { settings: { ...settings, link: { ...settings.link, monthlyMb: 10, amberPercent: 50 } } });
    });
    const before = rig.state().delivery.traffic.bytes;
    tell(rig, { kind: 'carried', bytes: 6_000_000 });
    expect(rig.state().delivery.traffic.bytes - before).toBe(6_360_000);
    rig.run(2);
    expect([tasks(rig), waiting(rig)]).toEqual([['stage', 'halt'], 'the data budget is amber']);
    tell(rig, { kind: 'staged', commandID: 'f1', fault: { kind: 'halted', reason: '' } });
    rig.run(60);
    expect(tasks(rig)).toEqual(['stage', 'halt']);
    rig.within((work) => {
      const { settings } = work.state;
      put(work, { settings: { ...settings, link: { ...settings.link, monthlyMb: 100 } } });
    });
    rig.run(5);
    expect(tasks(rig)).toEqual(['stage', 'halt', 'stage']);
  });
});

describe('it restarts', () => {
  it('only when the ignition has been off for its time', async () => {
    const rig = await staged();
    expect(waiting(rig)).toBe('the ignition is not known to be off');
    rig.board.setSignal('ignition', false);
    rig.run(55);
    expect([tasks(rig), waiting(rig)]).toEqual([['stage'], 'the ignition was turned off a moment ago']);
    rig.run(10);
    expect(tasks(rig)).toEqual(['stage', 'ask']);
    tell(rig, { kind: 'asked', fault: null });
    expect(tasks(rig)).toEqual(['stage', 'ask', 'restart']);
  });

  it('not when the key is turned while the launcher is asked: that is taken back', async () => {
    const rig = await staged();
    rig.board.setSignal('ignition', false);
    rig.run(70);
    rig.board.setSignal('ignition', true);
    rig.run(2);
    tell(rig, { kind: 'asked', fault: null });
    expect(tasks(rig)).toEqual(['stage', 'ask', 'withdraw']);
    tell(rig, { kind: 'withdrawn', fault: null });
    rig.run(120);
    expect(tasks(rig)).toEqual(['stage', 'ask', 'withdraw']);
  });

  it('not while it moves, be it on a tow truck', async () => {
    const rig = await staged();
    rig.board.setSignal('ignition', false);
    rig.drive(30);
    rig.run(600);
    expect(tasks(rig)).toEqual(['stage']);
    expect(waiting(rig)).toBe('the motion sensor reports movement');
    rig.drive(0);
    rig.run(120);
    expect(tasks(rig)).toEqual(['stage', 'ask']);
  });

  it('not while a command waits', async () => {
    const rig = await staged();
    rig.command('enginecutoff', '1');
    rig.run(3);
    expect(rig.said()).toContain('armed');
    rig.within((work) => {
      const { commands } = work.state;
      // It stays armed for as long as the vehicle is judged not to stand; here: for ever.
      put(work, { commands: { ...commands, work: { enginecutoff: { kind: 'pausing', untilMs: 1e12 } } } });
    });
    rig.board.setSignal('ignition', false);
    rig.run(120);
    expect([tasks(rig), waiting(rig)]).toEqual([['stage'], 'a command has not ended']);
  });

  it('not while the panic button is pressed', async () => {
    const rig = await staged();
    rig.board.setSignal('panic', true);
    rig.board.setSignal('ignition', false);
    rig.run(120);
    expect([tasks(rig), waiting(rig)]).toEqual([['stage'], 'the panic button is pressed']);
  });

  it('without a view of the sky only after ten minutes', async () => {
    const rig = await createVehicleRig({ updateSetup });
    // No receiver speaks from the beginning: a garage.
    rig.quiet(true);
    rig.board.setFaults({ silent: false });
    rig.run(90);
    connect(rig);
    rig.dispatch({ kind: 'firmware', body: jobOf() });
    rig.run(1);
    tell(rig, { kind: 'staged', commandID: 'f1', fault: null });
    rig.run(450);
    expect([tasks(rig), waiting(rig)]).toEqual([['stage'], 'standstill is not known']);
    rig.run(120);
    expect(tasks(rig)).toEqual(['stage', 'ask']);
  });

  it('not when the board is silent: an unread ignition is not off', async () => {
    const rig = await staged();
    rig.board.setSignal('ignition', false);
    rig.board.setFaults({ silent: true });
    rig.run(900);
    expect([tasks(rig), waiting(rig)]).toEqual([['stage'], 'the ignition is not known to be off']);
  });
});
