// A cut that is taken back while its order is on the wires: the whole vehicle over the bytes of a simulated board, with the truth
// ledger of the simulator as the judge of what its contacts did.
import { describe, expect, it } from 'vitest';
import { commandLimits } from '../../agent/core/protection/command-record.ts';
import { interlockLimits } from '../../agent/core/protection/interlock-rules.ts';
import { judgeCommands } from '../../simulator/core/judgement/judgement-commands.ts';
import { createLedger } from '../../simulator/core/ledger/ledger.ts';
import { createOrderBook } from '../../simulator/core/ledger/order-book.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

/** A vehicle with a cut on its way, whose contacts are judged by the truth ledger. */
async function createJudgedVehicle() {
  const ledger = createLedger();
  const orders = createOrderBook();
  const heard: string[] = [];
  /** What begins with its first order: the computer sends late, or the board answers nothing more. */
  const stall = { orderLateMs: 0, isBoardSilent: false };
  const moves: { atMs: number; energised: boolean; token: string | null; after: string }[] = [];
  ledger.addVehicle('truck-1');
  const rig: VehicleRig = await createVehicleRig({
    onLog(event, fields) {
      heard.push(event);
      if (event !== 'relay_order') return orders.record(event, fields);
      rig.line.lateMs = stall.orderLateMs;
      if (stall.isBoardSilent) rig.board.setFaults({ silent: true });
      stall.isBoardSilent = false;
      orders.record(event, fields);
    },
    onContact({ atMs, feature, energised, cause }) {
      if (feature === null) return;
      const token = orders.tokenOf({ feature, energised, cause });
      const wasConfirmed = orders.isConfirmed(token);
      moves.push({ atMs, energised, token, after: heard.at(-1) ?? '' });
      const truth = { movingMs: 0, ignitionOnMs: 0 };
      ledger.contact('truck-1', { atMs, feature, energised, token, wasConfirmed, ...truth });
    },
  });
  const asked = { commandID: 'c1', deviceID: 'truck-1', feature: 'enginecutoff', state: '1' } as const;
  ledger.requested({ ...asked, requestedMs: 0, expiresMs: 3_600_000 });
  ledger.ended('c1', 'confirmed', true);
  rig.run(20);
  return { rig, moves, stall, breaches: () => judgeCommands(ledger, 250) };
}

/** Its bus says nothing while the cut is on its way: the board hears and acts, and the ignition becomes unknown. */
function cutInSilence({ rig, stall }: Pick<Judged, 'rig' | 'stall'>): void {
  stall.isBoardSilent = true;
  rig.command('enginecutoff', '1');
  while (!rig.said().includes('executing')) rig.run(0.05);
}

type Judged = Awaited<ReturnType<typeof createJudgedVehicle>>;

const moved = ['closes for drive:c1', 'opens for withdraw:enginecutoff', 'closes for drive:c1'];

describe('a cut that is taken back on the wires', () => {
  it('opens again, and is carried out once everything is proven again: this is no second execution', async () => {
    const judged = await createJudgedVehicle();
    const { rig, moves, breaches } = judged;
    cutInSilence(judged);
    rig.run(3);
    rig.board.setFaults({ silent: false });
    rig.run(60);
    expect(moves.map(({ energised, token }) => `${energised ? 'closes' : 'opens'} for ${token}`)).toEqual(
      moved,
    );
    const [, opened, closed] = moves.map(({ atMs }) => atMs);
    // Rule 11, and the ignition has to be off for ten seconds since it is known again.
    expect((closed ?? 0) - (opened ?? 0)).toBeGreaterThan(10_000);
    expect(rig.said().filter((text) => text === 'confirmed')).toHaveLength(1);
    expect(breaches()).toEqual([]);
  });

  it('that closes only after its withdrawal, because the computer stalled, still belongs to the command', async () => {
    const { rig, moves, stall, breaches } = await createJudgedVehicle();
    stall.orderLateMs = 1500;
    rig.command('enginecutoff', '1');
    // It is decided at the next fix.
    while (!rig.said().includes('executing')) rig.run(0.05);
    rig.run(1.45);
    stall.orderLateMs = 0;
    rig.line.lateMs = 0;
    rig.run(60);
    expect(moves[0]).toMatchObject({ energised: true, token: 'drive:c1', after: 'command' });
    expect(rig.said().indexOf('unknown')).toBeGreaterThan(0);
    expect(moves.map(({ energised, token }) => `${energised ? 'closes' : 'opens'} for ${token}`)).toEqual(
      moved,
    );
    expect(breaches()).toEqual([]);
  });

  it('is not called confirmed by a reading from before it is opened, and no repair closes it', async () => {
    const judged = await createJudgedVehicle();
    const { rig, moves, breaches } = judged;
    cutInSilence(judged);
    rig.run(1.5);
    // The first order back is lost: the relay reads closed until the second.
    rig.board.setFaults({ stuck: true });
    rig.run(1);
    rig.board.setFaults({ silent: false, stuck: false });
    rig.run(2);
    expect(rig.board.isEnergised('enginecutoff')).toBe(false);
    expect(rig.said()).not.toContain('confirmed');
    rig.run(60);
    expect(moves.map(({ energised, token }) => `${energised ? 'closes' : 'opens'} for ${token}`)).toEqual(
      moved,
    );
    expect(rig.said()).not.toContain('Relay_Mismatch');
    expect(rig.said().filter((text) => text === 'confirmed')).toHaveLength(1);
    expect(breaches()).toEqual([]);
  });

  it('is called confirmed when the board does not open it: the actual state is reported, never the ordered one', async () => {
    const judged = await createJudgedVehicle();
    const { rig } = judged;
    cutInSilence(judged);
    rig.run(0.5);
    // Before it is taken back, which is written at once.
    rig.board.setFaults({ stuck: true });
    rig.run(0.7);
    rig.board.setFaults({ silent: false });
    rig.run(10);
    expect(rig.board.isEnergised('enginecutoff')).toBe(true);
    expect(rig.said().at(-1)).toBe('confirmed');
    expect(rig.disk.record.confirmed.enginecutoff?.state).toBe('1');
  });

  it('waits with the true reason after any number of withdrawals: the relay did not fail', async () => {
    const { rig, breaches } = await createJudgedVehicle();
    rig.command('enginecutoff', '1');
    const tries = (): number => rig.said().filter((text) => text === 'executing').length;
    // More often than a relay may fail to follow, and as often as it may change in an hour.
    expect(interlockLimits.changesPerHour).toBeGreaterThan(commandLimits.mismatches + 1);
    for (let time = 1; time < interlockLimits.changesPerHour; time++) {
      for (let wait = 0; wait < 600 && tries() < time; wait++) rig.run(0.1);
      rig.board.setFaults({ silent: true });
      rig.run(3);
      rig.board.setFaults({ silent: false });
      rig.run(3);
      expect(tries()).toBe(time);
    }
    rig.run(60);
    expect(rig.said()).not.toContain('refused');
    expect(rig.said().at(-1)).toBe('confirmed');
    const reasons = rig.reasons();
    expect(reasons).toContain('ignition_off');
    expect(reasons).not.toContain('relay_follows');
    expect(reasons).not.toContain('superseded by a newer order');
    expect(breaches()).toEqual([]);
  });
});
