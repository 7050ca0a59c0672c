// Receivers of other makers, lost sentences and wrong set-ups, played by the simulated receiver on the whole vehicle: the
// same drive is reported alike by all of them, none proves standstill that did not before, and status says why not.
import { describe, expect, it } from 'vitest';
import { obstacleOf } from '../../agent/core/status/gnss-lines.ts';
import { obstacleText, unusableText } from '../../agent/core/status/receiver-text.ts';
import { statusOfVehicle } from '../../agent/core/status/status.ts';
import type { GnssHabits } from '../../simulator/hardware/gnss.ts';
import type { ReceiverQuirk } from '../../simulator/hardware/gnss-sentences.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

type Quirks = readonly ReceiverQuirk[];
/** The week number of GPS has rolled over in it. */
const rolledOver = { daysAhead: -1024 * 7 };

/** Parked, four minutes at 40 km/h, standing with the engine on, parked again. */
function drive(rig: VehicleRig) {
  rig.run(60);
  const events = rig.told.length;
  const metres = rig.state().reporting.odometerM;
  const from = rig.place();
  rig.board.setSignal('ignition', true);
  rig.drive(40);
  rig.run(240);
  rig.drive(0);
  rig.run(180);
  rig.board.setSignal('ignition', false);
  rig.run(60);
  const told = rig.told.slice(events);
  return {
    share: (rig.state().reporting.odometerM - metres) / (rig.place() - from),
    positions: told.filter(({ statusCode }) => statusCode === 0xf020),
    names: rig.said().slice(events),
  };
}

describe('one drive', () => {
  it.each<[Quirks, { readonly isProven: boolean }, Partial<GnssHabits>?]>([
    [[], { isProven: true }],
    [['status-d'], { isProven: true }],
    [['zda-between'], { isProven: true }],
    [['rmc-beside'], { isProven: true }],
    [['status-d', 'zda-between', 'rmc-beside', 'dop-9999', 'gsv-decimals'], { isProven: true }],
    [['rmc-9-of-10'], { isProven: true }],
    [['rmc-1-of-3'], { isProven: false }],
    [['vtg-only'], { isProven: false }],
    [['gga-only'], { isProven: false }],
    [['no-speed'], { isProven: false }],
    [[], { isProven: false }, { ggaEveryS: 5 }],
    [['gga-only'], { isProven: false }, { ggaEveryS: 5 }],
    [[], { isProven: false }, rolledOver],
  ])('of a receiver that is %j (%o, %o)', async (quirks, { isProven }, habits = {}) => {
    const rig = await createVehicleRig();
    rig.gnss.setQuirks(quirks);
    rig.gnss.setHabits(habits);
    const { share, positions, names } = drive(rig);
    expect(Math.abs(share - 1)).toBeLessThan(0.03);
    expect(positions.length).toBeGreaterThan(20);
    expect(positions.length).toBeLessThan(40);
    const speeds = positions.flatMap(({ speed }) => (speed === undefined ? [] : [speed]));
    // One at the start and one at the end of the drive.
    expect(speeds.filter((speed) => speed < 30).length).toBeLessThanOrEqual(6);
    expect(names.filter((name) => name === 'Start')).toHaveLength(1);
    expect(names.filter((name) => name === 'Stop')).toHaveLength(1);
    if (isProven) expect(rig.state().evidence.drive).toMatchObject({ state: 'standing', by: 'gnss' });
    // Towed over 600 m with the ignition off.
    rig.run(200);
    rig.drive(20);
    rig.run(120);
    expect(rig.said()).toContain('Tow');
  });
});

describe('status', () => {
  it.each<[Quirks, string | undefined, string, Partial<GnssHabits>?]>([
    [[], undefined, ''],
    [['status-d', 'zda-between', 'rmc-beside', 'dop-9999'], undefined, ''],
    [['vtg-only'], 'no_speed', 'speed of RMC'],
    [['no-speed'], 'no_speed', 'speed of RMC'],
    [['rmc-1-of-3'], 'no_speed', 'speed of RMC'],
    [[], 'no_quality', 'HDOP', { ggaEveryS: 5 }],
    [['gga-only'], 'seldom', 'one position in 5 s', { ggaEveryS: 5 }],
    [[], 'date', '1,024 weeks behind', rolledOver],
    [['no-zeros'], undefined, ',7920.'],
  ])('of a receiver that is %j says %s', async (quirks, kind, words, habits = {}) => {
    const rig = await createVehicleRig();
    rig.gnss.setQuirks(quirks);
    rig.gnss.setHabits(habits);
    rig.welcome(rig.trueUtcMs());
    rig.run(60);
    const paths = { board: '/dev/board', gnss: '/dev/gnss' };
    const status = statusOfVehicle(rig.state(), { nowMs: rig.nowMs(), paths, config: rig.config() });
    const obstacle = obstacleOf(status);
    const { unusable } = status.gnss;
    const said = [
      ...(obstacle === null ? [] : [obstacleText(obstacle).words]),
      ...(unusable === null ? [] : [unusableText(unusable).words]),
    ];
    expect(obstacle?.kind).toBe(kind);
    expect(said.join()).toContain(words);
  });

  it('counts an unusable receiver as without a position, and as one that speaks', async () => {
    const rig = await createVehicleRig();
    rig.gnss.setQuirks(['no-zeros']);
    rig.run(60);
    expect(rig.state().ports.gnss.kind).toBe('open');
    expect(rig.state().fixes).toBe(0);
    expect(rig.state().evidence.gnss).toMatchObject({ fault: 'no_fix', last: null });
    expect(rig.state().evidence.gnss.stream.epochMs).toBeGreaterThan(rig.nowMs() - 2000);
  });
});
