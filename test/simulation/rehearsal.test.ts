// Rehearsals on the whole way, from the service to the real agent and back: the vehicle says whether it would cut or unlock now, and no relay,
// record or waiting cut is touched by it.
import { describe, expect, it, onTestFinished } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { answersFor, findRequest } from '../../broker/store/devices/device-requests.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { findDiagnostic } from '../../broker/store/devices/diagnostics.ts';
import type { AttributeValue } from '../../src/core/events/event.ts';
import { type Verdict, verdictFrom } from '../../src/core/verdict/verdict.ts';
import type { RehearsalKind } from '../../src/core/wire/device-request.ts';
import { sql } from '../../src/sql.ts';
import { createFleet, type Fleet, runFor } from '../support/virtual/virtual-fleet.ts';

async function driveFor(fleet: Fleet, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 1000) {
    fleet.world.goOff(false);
    await runFor(fleet, 1000);
  }
}

async function start(seed: string) {
  const fleet = await createFleet(seed, await readBoardProfile('waveshare-relay-d'));
  onTestFinished(() => fleet.close());
  const { db } = fleet.broker;
  const device = await findDevice(db, { accountID: 'acme', deviceID: 'truck-1' });
  if (device === null) throw new Error('no device');
  void fleet.startAgent();
  /** Asks, lets the vehicle go on as `pass` does, and gives what it answered; null: nothing. */
  const rehearse = async (
    pass: (ms: number) => Promise<void>,
    kind: RehearsalKind = 'interlock',
  ): Promise<Verdict | null> => {
    const record = () => sql`SELECT 1`;
    const asked = fleet.broker.requests()?.ask({ device, kind, issuer: 'olga', record });
    asked?.catch(() => undefined);
    await pass(8000);
    const row = await findRequest(db, wholeAccount('acme'), (await asked)?.requestID ?? '');
    const [answer] = row === null ? [] : await answersFor(db, row.requestNo);
    return verdictFrom(JSON.parse(answer?.content ?? '{}') as Record<string, AttributeValue>);
  };
  const count = async (codes: string): Promise<number> =>
    (
      await db.read({
        sql: `SELECT 1 AS one FROM events WHERE status_code IN (${codes})`,
        params: [],
      })
    ).length;
  /** Reports of the vehicle on commands and relays. */
  const reports = () => count('4352, 4353, 4354, 4355, 4356, 4357, 4358, 4359, 4360, 63539, 63680, 63681');
  return { fleet, rehearse, count, reports };
}

describe('a rehearsal', () => {
  it('is refused by a driving vehicle and allowed by a parked one; no relay moves and no command exists', async () => {
    const { fleet, rehearse, reports } = await start('rehearsal');
    const drive = (ms: number) => driveFor(fleet, ms);
    await drive(120_000);
    const before = await reports();
    const driving = await rehearse(drive);
    expect(driving?.code).not.toBe('allowed');
    expect(driving?.rules.some(({ isMet }) => !isMet)).toBe(true);
    expect(driving?.rules.find(({ rule }) => rule === 'ignition_off')).toMatchObject({
      isMet: false,
      value: 'on',
    });
    const drivingCargo = await rehearse(drive, 'interlock_cargo');
    expect(drivingCargo?.code).not.toBe('allowed');
    fleet.world.calm();
    await runFor(fleet, 300_000);
    // Of the cargo by its own rules: no word of the engine.
    const cargo = await rehearse((ms) => runFor(fleet, ms), 'interlock_cargo');
    expect(cargo).toMatchObject({ code: 'allowed' });
    expect(cargo?.rules.map(({ rule }) => rule)).not.toContain('engine_at_rest');
    const parked = await rehearse((ms) => runFor(fleet, ms));
    expect(parked).toMatchObject({ code: 'allowed' });
    expect(parked?.rules.every(({ isMet }) => isMet)).toBe(true);
    await runFor(fleet, 120_000);
    expect(await reports()).toBe(before);
    expect(await fleet.broker.db.read(sql`SELECT 1 AS one FROM commands`)).toEqual([]);
    expect(fleet.board.isEnergised('enginecutoff')).toBe(false);
    expect(fleet.board.isEnergised('cargoaccess')).toBe(false);
    expect(fleet.truth.breaches).toEqual([]);
    // It is nobody's health.
    const row = await findDiagnostic(fleet.broker.db, wholeAccount('acme'), 'truck-1');
    expect(row?.diagnostic).toMatchObject({ kind: 'diagnostic' });
  });

  // A dip of the supply that restarts the unit takes the contacts and the receiver with it.
  it.each([
    ['at once where the agent alone began anew', 3_600_000, 'allowed'],
    ['a minute later where its machine was switched on a moment before', 5000, 'ignition_off'],
  ])('is allowed to a parked vehicle %s', async (_title, upMs, code) => {
    const { fleet, rehearse } = await start('restarted while parked');
    const wait = (ms: number) => runFor(fleet, ms);
    await wait(120_000);
    expect(await rehearse(wait)).toMatchObject({ code: 'allowed' });
    fleet.killAgent();
    void fleet.startAgent(upMs);
    await wait(25_000);
    expect(await rehearse(wait)).toMatchObject({ code });
    await wait(60_000);
    expect(await rehearse(wait)).toMatchObject({ code: 'allowed' });
  });

  it('leaves a waiting cut and its timers as they are', async () => {
    const run = async (isRehearsed: boolean) => {
      const { fleet, rehearse, count } = await start('waiting');
      const drive = (ms: number) => driveFor(fleet, ms);
      await drive(120_000);
      const cut = {
        accountID: 'acme',
        deviceID: 'truck-1',
        feature: 'enginecutoff',
        issuer: 'olga',
      } as const;
      const ordered = fleet.broker.ledger()?.request({ ...cut, state: '1', reason: '' });
      await drive(8000);
      await ordered;
      for (let times = 0; times < 4; times++) {
        if (isRehearsed) expect((await rehearse(drive))?.code).not.toBe('allowed');
        else await drive(8000);
        await drive(12_000);
      }
      fleet.world.calm();
      const waits = await count('4353');
      let cutAfterS = 0;
      for (; cutAfterS < 600 && !fleet.board.isEnergised('enginecutoff'); cutAfterS++)
        await runFor(fleet, 1000);
      await runFor(fleet, 20_000);
      const [command] = await fleet.broker.db.read(sql`SELECT command_state FROM commands`);
      expect(fleet.truth.breaches).toEqual([]);
      return { waits, cutAfterS, state: command?.['command_state'] };
    };
    const [plain, rehearsed] = [await run(false), await run(true)];
    expect(plain).toMatchObject({ waits: 1, state: 'confirmed' });
    // A rehearsal takes the bus and the network for moments, so the worlds drift apart by as much.
    expect(rehearsed).toMatchObject({ waits: 1, state: 'confirmed' });
    expect(Math.abs(rehearsed.cutAfterS - plain.cutAfterS)).toBeLessThanOrEqual(10);
  });
});
