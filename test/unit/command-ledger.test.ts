// The life of a command in the broker's ledger, over a real SQLite: recorded before it leaves, bound to a boot, ended by
// what the device says, and never sent once it has expired.
import { afterEach, describe, expect, test } from 'vitest';
import type { CommandRequest } from '../../broker/commands/command-request.ts';
import { createCommandLedger } from '../../broker/commands/commands.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { insertMessage } from '../../broker/features/messages/message-statements.ts';
import { createIngest } from '../../broker/ingest/ingest.ts';
import type { Downlink } from '../../broker/ports/mqtt-server.ts';
import { createGroupCommit } from '../../broker/scheduling/group-commit.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import {
  findCommand,
  type NewCommand,
  supersedeAndInsert,
  unfinishedCommands,
  unfinishedOf,
} from '../../broker/store/commands/commands.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { type Verdict, verdictAttributes, verdictOf } from '../../src/core/verdict/verdict.ts';
import {
  decodeCommand,
  decodeFirmware,
  decodeMessage,
  decodeWelcome,
  type Hello,
  signedTypes,
} from '../../src/core/wire/wire.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  advanceUntilSettled,
  createBenchClock,
  createBenchEntropy,
  createBenchKeys,
  createBenchLog,
  helloOf,
  jsonBytes,
  openBenchDatabase,
  startMs,
} from '../support/broker/broker-bench.ts';

const span = { from: '', to: '~' };
const { signer, verifier } = createBenchKeys();

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** @param afterWrite happens between each write of the ledger and what it reads next. */
async function bench(afterWrite: (db: Database) => Promise<unknown> = async () => undefined) {
  const db = await openBenchDatabase();
  const clock = createBenchClock();
  const log = createBenchLog();
  const sent: (Downlink & { readonly stateThen: string | null })[] = [];
  let isConnected = true;
  const publish = async (_device: DeviceRef, message: Downlink): Promise<boolean> => {
    const [row] = await db.read(sql`SELECT command_state FROM commands ORDER BY issued_ms DESC LIMIT 1`);
    sent.push({ ...message, stateThen: row === undefined ? null : String(row['command_state']) });
    return isConnected;
  };
  const commits = createGroupCommit({ db, clock, log });
  const grouped: Database = {
    ...db,
    write: async (batch) => {
      const results = await commits.write(batch);
      await afterWrite(db);
      return results;
    },
  };
  const ledger = createCommandLedger({
    db: grouped,
    clock,
    entropy: createBenchEntropy(),
    signer,
    log,
    publish,
  });
  const ingest = createIngest({ db, commits, clock, log, onCommitted: (item) => ledger.onCommitted(item) });
  const device = await addDevice(db, 'acme', 'truck-1');
  closers.push(async () => {
    await advanceUntilSettled(clock, ledger.close());
    await advanceUntilSettled(clock, commits.close());
    await db.close();
  });
  let seq = 0;
  const cut: CommandRequest = {
    accountID: 'acme',
    deviceID: 'truck-1',
    feature: 'enginecutoff',
    state: '1',
    issuer: 'olga',
    reason: 'stolen',
  };
  return {
    db,
    clock,
    log,
    sent,
    ledger,
    device,
    cut,
    setConnected: (value: boolean) => {
      isConnected = value;
    },
    request: (changes: Partial<CommandRequest> = {}) =>
      advanceUntilSettled(clock, ledger.request({ ...cut, ...changes })),
    cancel: (commandID: string, accountID = 'acme') =>
      advanceUntilSettled(clock, ledger.cancel({ accountID, commandID, issuer: 'otto' })),
    hello: (boot: string, changes: Partial<Hello> = {}) =>
      advanceUntilSettled(clock, ledger.onHello(device, helloOf(boot, changes))),
    offline: () => advanceUntilSettled(clock, ledger.onOffline(device)),
    expire: () => advanceUntilSettled(clock, ledger.expireDue()),
    find: (commandID: string) => findCommand(db, { accountID: 'acme', commandID }),
    envelopes: () =>
      sent
        .filter(({ verb }) => verb === 'commands')
        .map(({ payload }) => {
          const bytes = verifier.verify(new TextDecoder().decode(payload), signedTypes.command);
          return (bytes === null ? null : decodeCommand(bytes)) ?? expect.fail('not a signed command');
        }),
    /** The device reports a state of a command, `agoMs` before now. */
    report: (
      commandID: string,
      commandState: string,
      options: { reason?: string; verdict?: Verdict; agoMs?: number } = {},
    ) => {
      seq += 1;
      const { reason, verdict, agoMs = 0 } = options;
      const attributes = { reason, ...(verdict === undefined ? {} : verdictAttributes(verdict)) };
      const timestamp = Math.round(clock.utcMs()) - agoMs;
      const event = { seq, timestamp, statusCode: 4353, commandID, commandState, attributes };
      return advanceUntilSettled(
        clock,
        ingest.submit(device, jsonBytes({ boot: 'reports', events: [event] })),
      );
    },
  };
}

describe('a command for a device that is online', () => {
  test('is recorded as sent before it leaves, signed and bound to the boot', async () => {
    const { hello, request, sent, envelopes } = await bench();
    await hello('b1');
    const row = await request();
    expect(row).toMatchObject({
      commandState: 'sent',
      stateRank: 1,
      isFinal: false,
      sentBoot: 'b1',
      sentCounter: 1,
    });
    expect(sent.at(-1)).toMatchObject({ verb: 'commands', qos: 1, stateThen: 'sent' });
    expect(envelopes()).toEqual([
      {
        accountID: 'acme',
        deviceID: 'truck-1',
        commandID: row.commandID,
        boot: 'b1',
        counter: 1,
        issuedMs: row.issuedMs,
        expiresMs: row.issuedMs + 86_400_000,
        feature: 'enginecutoff',
        state: '1',
        mode: 'interlock',
        reason: 'stolen',
        issuer: 'olga',
        cancel: false,
      },
    ]);
  });

  test('leaves with the commit that recorded it, without a second one', async () => {
    let writes = 0;
    const { hello, request, envelopes } = await bench(async () => {
      writes += 1;
    });
    await hello('b1');
    writes = 0;
    expect(await request()).toMatchObject({ commandState: 'sent', sentCounter: 1 });
    expect(writes).toBe(1);
    expect(envelopes()).toHaveLength(1);
  });

  test('leaves as a withdrawal when it was withdrawn right after that commit', async () => {
    const { hello, request, envelopes } = await bench((db) =>
      db.write([sql`UPDATE commands SET cancel_by = 'otto' WHERE is_final = 0`]),
    );
    await hello('b1');
    await request();
    expect(envelopes()).toMatchObject([{ cancel: true, issuer: 'otto' }]);
  });

  test('takes a counter only when it was recorded, not as the repeat of another', async () => {
    const { hello, request, db, device } = await bench();
    await hello('b1');
    const first = await request();
    expect((await request()).commandID).toBe(first.commandID);
    expect((await request({ state: '0' })).sentCounter).toBe(2);
    const [row] = await db.read(
      sql`SELECT command_counter FROM devices WHERE device_no = ${device.deviceNo}`,
    );
    expect(row).toEqual({ command_counter: 2 });
  });

  test('lives 24 hours to cut the engine and 60 seconds to open the cargo, or as asked within limits', async () => {
    const { request } = await bench();
    const cargo = await request({ feature: 'cargoaccess' });
    expect(cargo.expiresMs - cargo.issuedMs).toBe(60_000);
    const short = await request({ ttlS: 10 });
    expect(short.expiresMs - short.issuedMs).toBe(10_000);
    await expect(request({ ttlS: 9 })).rejects.toMatchObject({ code: 'invalid_content' });
    await expect(request({ ttlS: 86_401 })).rejects.toMatchObject({ code: 'invalid_content' });
    await expect(request({ ttlS: Number.NaN })).rejects.toMatchObject({ code: 'invalid_content' });
    await expect(request({ reason: 'x'.repeat(501) })).rejects.toMatchObject({ code: 'invalid_content' });
  });

  test('goes through the states that the device reports, with the reason why it waits', async () => {
    const { hello, request, report, find } = await bench();
    await hello('b1');
    const { commandID } = await request();
    await report(commandID, 'received');
    expect(await find(commandID)).toMatchObject({ commandState: 'received', stateRank: 2 });
    await report(commandID, 'armed', { reason: 'moving' });
    await report(commandID, 'armed', { reason: 'ignition' });
    expect(await find(commandID)).toMatchObject({
      commandState: 'armed',
      detail: 'ignition',
      isFinal: false,
    });
    await report(commandID, 'executing');
    await report(commandID, 'confirmed');
    expect(await find(commandID)).toMatchObject({ commandState: 'confirmed', isFinal: true });
  });

  test('keeps the verdict of the newest report, also when it expires without a further one', async () => {
    const { hello, request, report, find, clock, expire } = await bench();
    await hello('b1');
    const { commandID } = await request({ ttlS: 10 });
    const finding = { rule: 'ignition_off', isMet: false, value: 'on', needed: 'off', sinceMs: 1 };
    const verdict = verdictOf([finding]);
    await report(commandID, 'armed', { verdict });
    await report(commandID, 'armed', { verdict: verdictOf([{ ...finding, value: 'unknown' }]), agoMs: 5000 });
    await report(commandID, 'received', { reason: 'received again' });
    expect(await find(commandID)).toMatchObject({ detail: '', verdict });
    clock.advance(80_000);
    await expire();
    expect(await find(commandID)).toMatchObject({ commandState: 'expired', detail: '', verdict });
    await report(commandID, 'expired');
    expect(await find(commandID)).toMatchObject({ commandState: 'expired', verdict: null });
  });

  test.each(['executing', 'unknown'])(
    'waits again after it was %s, says why, and can be withdrawn, or expires',
    async (begun) => {
      const { hello, request, report, find, clock, expire, cancel, envelopes } = await bench();
      await hello('b1');
      const { commandID } = await request({ ttlS: 10 });
      const moving = verdictOf([{ rule: 'speed_kmh', isMet: false, value: 50, needed: 1, sinceMs: null }]);
      await report(commandID, 'executing');
      await report(commandID, begun);
      await report(commandID, 'armed', { agoMs: 60_000 });
      expect(await find(commandID)).toMatchObject({ commandState: begun, verdict: null });
      await report(commandID, 'armed', { verdict: moving });
      expect(await find(commandID)).toMatchObject({ commandState: 'armed', verdict: moving, stateRank: 3 });
      await report(commandID, 'received');
      expect(await find(commandID)).toMatchObject({ commandState: 'armed' });
      await cancel(commandID);
      expect(envelopes().at(-1)).toMatchObject({ commandID, cancel: true, issuer: 'otto' });
      clock.advance(80_000);
      await expire();
      expect(await find(commandID)).toMatchObject({ commandState: 'expired', isFinal: true });
    },
  );

  test('a report that is late or comes twice never moves a state back', async () => {
    const { hello, request, report, find } = await bench();
    await hello('b1');
    const { commandID } = await request();
    await report(commandID, 'armed', { reason: 'new' });
    await report(commandID, 'armed', { reason: 'old', agoMs: 60_000 });
    expect(await find(commandID)).toMatchObject({ detail: 'new' });
    await report(commandID, 'refused', { reason: 'rate' });
    await report(commandID, 'received');
    await report(commandID, 'executing');
    expect(await find(commandID)).toMatchObject({ commandState: 'refused', detail: 'rate', isFinal: true });
  });

  test('no device can claim a state that only the broker sets, nor report on another device’s command', async () => {
    const { request, report, find, db, clock, ledger } = await bench();
    const { commandID } = await request();
    await report(commandID, 'sent');
    expect(await find(commandID)).toMatchObject({ commandState: 'requested' });
    await addDevice(db, 'rival', 'truck-9');
    const foreign = await advanceUntilSettled(
      clock,
      ledger.request({
        accountID: 'rival',
        deviceID: 'truck-9',
        feature: 'enginecutoff',
        state: '1',
        issuer: 'x',
        reason: '',
      }),
    );
    await report(foreign.commandID, 'confirmed');
    const key = { accountID: 'rival', commandID: foreign.commandID };
    expect(await findCommand(db, key)).toMatchObject({ commandState: 'requested' });
    expect(await find(foreign.commandID)).toBeNull();
  });
});

describe('devices that may be commanded', () => {
  test('an unknown device is not found, also when another account has one of that name', async () => {
    const { request, db } = await bench();
    await addDevice(db, 'rival', 'other');
    await expect(request({ deviceID: 'other' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await unfinishedCommands(db, wholeAccount('acme'), span)).toEqual([]);
  });

  test('a device that said it lacks the feature is not asked', async () => {
    const { request, hello } = await bench();
    await request({ feature: 'cargoaccess' });
    await hello('b1', { features: ['enginecutoff'] });
    await expect(request({ feature: 'cargoaccess', state: '0' })).rejects.toMatchObject({
      code: 'unsupported',
    });
  });
});

describe('a command for a device that is offline', () => {
  test('waits as requested and leaves on hello, after the welcome', async () => {
    const { request, hello, sent, envelopes, find } = await bench();
    const row = await request();
    expect(row).toMatchObject({ commandState: 'requested', sentBoot: null });
    expect(sent).toEqual([]);
    await hello('b7');
    expect(sent.map(({ verb }) => verb)).toEqual(['welcome', 'commands']);
    expect(envelopes()).toMatchObject([{ commandID: row.commandID, boot: 'b7', counter: 1 }]);
    expect(await find(row.commandID)).toMatchObject({ commandState: 'sent' });
  });

  test('is sent again on each hello until the device has it, each time with a higher counter', async () => {
    const { request, hello, envelopes, report, offline } = await bench();
    const { commandID } = await request();
    await hello('b1');
    await offline();
    await hello('b1');
    expect(envelopes().map(({ counter }) => counter)).toEqual([1, 2]);
    await report(commandID, 'received');
    await offline();
    await hello('b1');
    expect(envelopes()).toHaveLength(2);
  });

  test('is sent again with the same id to a new boot when it has not come to an end', async () => {
    const { request, hello, envelopes, report } = await bench();
    const { commandID } = await request();
    await hello('b1');
    await report(commandID, 'armed');
    await hello('b2');
    expect(envelopes().map(({ commandID, boot, counter }) => ({ commandID, boot, counter }))).toEqual([
      { commandID, boot: 'b1', counter: 1 },
      { commandID, boot: 'b2', counter: 2 },
    ]);
    await report(commandID, 'confirmed');
    await hello('b3');
    expect(envelopes()).toHaveLength(2);
  });

  test('the counter never falls behind what the device has accepted', async () => {
    const { request, hello, envelopes } = await bench();
    await request();
    await hello('b1', { commandCounter: 41 });
    expect(envelopes()).toMatchObject([{ counter: 42 }]);
    await hello('b2', { commandCounter: Number.MAX_SAFE_INTEGER });
    expect(envelopes().at(-1)).toMatchObject({ counter: 43 });
  });
});

describe('the newest command of a feature', () => {
  test('replaces an older one that has not come to an end', async () => {
    const { request, find, db, device } = await bench();
    const cut = await request();
    const restore = await request({ state: '0' });
    expect(await find(cut.commandID)).toMatchObject({ commandState: 'superseded', isFinal: true });
    expect((await unfinishedOf(db, device.deviceNo)).map(({ commandID }) => commandID)).toEqual([
      restore.commandID,
    ]);
    const cargo = await request({ feature: 'cargoaccess' });
    expect(
      (await unfinishedCommands(db, wholeAccount('acme'), span)).map(({ commandID }) => commandID),
    ).toEqual([restore.commandID, cargo.commandID]);
    expect(await unfinishedCommands(db, wholeAccount('rival'), span)).toEqual([]);
  });

  test('is the same command when the same issuer asks for the same within 10 s', async () => {
    const { request, clock, envelopes, hello } = await bench();
    await hello('b1');
    const first = await request();
    clock.advance(5000);
    expect((await request()).commandID).toBe(first.commandID);
    expect(envelopes()).toHaveLength(1);
    expect((await request({ issuer: 'otto' })).commandID).not.toBe(first.commandID);
    clock.advance(10_001);
    const later = await request();
    expect(later.commandID).not.toBe(first.commandID);
    const [one, two] = [await request({ state: '0' }), await request()];
    expect(new Set([later.commandID, one.commandID, two.commandID]).size).toBe(3);
  });

  test('is a new command when the same order failed a moment ago', async () => {
    const { request, report } = await bench();
    const first = await request();
    await report(first.commandID, 'refused');
    expect((await request()).commandID).not.toBe(first.commandID);
    expect((await request()).commandState).toBe('requested');
  });

  test('two orders at the same moment leave one unfinished command', async () => {
    const { ledger, cut, clock, db, device } = await bench();
    await advanceUntilSettled(
      clock,
      Promise.all([
        ledger.request(cut),
        ledger.request({ ...cut, state: '0' }),
        ledger.request(cut),
        ledger.request({ ...cut, state: '0', issuer: 'otto' }),
      ]),
    );
    expect(await unfinishedOf(db, device.deviceNo)).toMatchObject([{ state: '0', issuer: 'otto' }]);
  });
});

describe('a command that was replaced while the device may hold it', () => {
  test('is withdrawn on the next hello when nothing that replaced it is left', async () => {
    const { hello, request, offline, cancel, envelopes, sent } = await bench();
    await hello('b1');
    const cut = await request();
    await offline();
    const restore = await request({ state: '0', issuer: 'otto' });
    await cancel(restore.commandID);
    sent.length = 0;
    await hello('b1');
    expect(envelopes()).toMatchObject([{ commandID: cut.commandID, cancel: true, boot: 'b1' }]);
  });

  test('is withdrawn when what replaced it ran out before the device came back', async () => {
    const { hello, request, offline, expire, clock, envelopes, sent, report, find } = await bench();
    await hello('b1');
    const cut = await request();
    await report(cut.commandID, 'armed');
    await offline();
    await request({ state: '0', ttlS: 10 });
    clock.advance(11_000);
    await expire();
    sent.length = 0;
    await hello('b2');
    expect(envelopes()).toMatchObject([{ commandID: cut.commandID, cancel: true, boot: 'b2' }]);
    await report(cut.commandID, 'cancelled');
    expect(await find(cut.commandID)).toMatchObject({ commandState: 'cancelled', stateRank: 6 });
    sent.length = 0;
    await hello('b2');
    expect(envelopes()).toEqual([]);
  });

  test('is left to what replaced it while that is on its way, and forgotten after its own end', async () => {
    const { hello, request, offline, cancel, clock, envelopes, sent } = await bench();
    await hello('b1');
    await request({ ttlS: 600 });
    await offline();
    const restore = await request({ state: '0' });
    sent.length = 0;
    await hello('b1');
    expect(envelopes()).toMatchObject([{ commandID: restore.commandID, cancel: false }]);
    await offline();
    await cancel(restore.commandID);
    clock.advance(700_000);
    sent.length = 0;
    await hello('b1');
    expect(envelopes()).toMatchObject([{ commandID: restore.commandID, cancel: true }]);
  });
});

describe('a restore after the clock was set back', () => {
  test('is recorded although the same order is in the ledger with a later time', async () => {
    const { request, hello, report, clock, find, db } = await bench();
    await hello('b1');
    const first = await request({ state: '0' });
    await report(first.commandID, 'confirmed');
    // As if it had been asked for while the clock was an hour ahead.
    await db.write([sql`UPDATE commands SET issued_ms = issued_ms + 3600000`]);
    clock.advance(1000);
    const cut = await request({ issuer: 'otto' });
    await report(cut.commandID, 'confirmed');
    clock.advance(1000);
    const second = await request({ state: '0' });
    expect(second.commandID).not.toBe(first.commandID);
    expect(await find(second.commandID)).toMatchObject({ commandState: 'sent', isFinal: false });
  });

  test('is recorded also when the clock was set back by a few seconds only', async () => {
    const { request, hello, report, clock, db } = await bench();
    await hello('b1');
    const first = await request({ state: '0' });
    await report(first.commandID, 'confirmed');
    clock.advance(100);
    const cut = await request({ issuer: 'otto' });
    await report(cut.commandID, 'confirmed');
    await db.write([
      sql`UPDATE commands SET issued_ms = issued_ms + 200 WHERE command_id = ${first.commandID}`,
    ]);
    clock.advance(150);
    expect((await request({ state: '0' })).commandID).not.toBe(first.commandID);
  });
});

test('a restore that was the same as another is a new one when that one ends in the same moment', async () => {
  let isEnding = false;
  const { request } = await bench(async (db) => {
    if (isEnding) await db.write([sql`UPDATE commands SET command_state = 'refused', is_final = 1`]);
    isEnding = false;
  });
  const first = await request({ state: '0' });
  isEnding = true;
  const second = await request({ state: '0' });
  expect(second.commandID).not.toBe(first.commandID);
  expect(second).toMatchObject({ commandState: 'requested', isFinal: false });
});

describe('the expiry of a command', () => {
  test('ends at once what the device never received, and such a command never leaves', async () => {
    const { request, clock, find, hello, envelopes } = await bench();
    const { commandID } = await request({ ttlS: 10 });
    clock.advance(9000);
    expect(await find(commandID)).toMatchObject({ isFinal: false });
    clock.setUtc(startMs + 11_000);
    await hello('b1');
    expect(envelopes()).toEqual([]);
    clock.advance(1500);
    await advanceUntilSettled(clock, Promise.resolve());
    expect(await find(commandID)).toMatchObject({ commandState: 'expired', isFinal: true });
  });

  test('waits a minute for the report of a device that holds the command', async () => {
    const { request, clock, find, hello, report, expire } = await bench();
    await hello('b1');
    const { commandID, expiresMs } = await request({ ttlS: 10 });
    await report(commandID, 'armed');
    clock.setUtc(expiresMs + 59_000);
    await expire();
    expect(await find(commandID)).toMatchObject({ commandState: 'armed' });
    clock.setUtc(expiresMs + 60_500);
    await expire();
    expect(await find(commandID)).toMatchObject({ commandState: 'expired', isFinal: true });
  });

  test('never hides a command whose outcome is not known', async () => {
    const { request, clock, find, hello, report, expire } = await bench();
    await hello('b1');
    const { commandID, expiresMs } = await request({ ttlS: 10 });
    await report(commandID, 'executing');
    await report(commandID, 'unknown');
    clock.setUtc(expiresMs + 86_400_000);
    await expire();
    expect(await find(commandID)).toMatchObject({ commandState: 'unknown', isFinal: false });
    await report(commandID, 'confirmed');
    expect(await find(commandID)).toMatchObject({ commandState: 'confirmed', isFinal: true });
  });

  test('the state that the broker presumed is replaced by the report of the device', async () => {
    const { request, clock, find, hello, report, expire } = await bench();
    await hello('b1');
    const { commandID, expiresMs } = await request({ ttlS: 10 });
    clock.setUtc(expiresMs + 5000);
    await expire();
    expect(await find(commandID)).toMatchObject({ commandState: 'expired' });
    await report(commandID, 'confirmed', { agoMs: 10_000 });
    expect(await find(commandID)).toMatchObject({ commandState: 'confirmed', isFinal: true });
  });
});

describe('the withdrawal of a command', () => {
  test('of a command that never left ends it at once', async () => {
    const { request, cancel, hello, envelopes } = await bench();
    const { commandID } = await request();
    expect(await cancel(commandID)).toMatchObject({
      commandState: 'cancelled',
      isFinal: true,
      cancelBy: 'otto',
    });
    await hello('b1');
    expect(envelopes()).toEqual([]);
    expect(await cancel(commandID)).toMatchObject({ commandState: 'cancelled' });
  });

  test('of a command that was sent is sent to the device, which decides', async () => {
    const { request, cancel, hello, envelopes, report, find } = await bench();
    await hello('b1');
    const { commandID } = await request();
    await report(commandID, 'armed');
    expect(await cancel(commandID)).toMatchObject({ commandState: 'armed', cancelBy: 'otto' });
    expect(envelopes().at(-1)).toMatchObject({ commandID, cancel: true, issuer: 'otto', counter: 2 });
    await hello('b1');
    expect(envelopes().at(-1)).toMatchObject({ commandID, cancel: true, counter: 3 });
    await report(commandID, 'cancelled');
    expect(await find(commandID)).toMatchObject({ commandState: 'cancelled', isFinal: true });
  });

  test('is refused when it executes, has ended, or belongs to another account', async () => {
    const { request, cancel, hello, report } = await bench();
    await hello('b1');
    const { commandID } = await request();
    await expect(cancel(commandID, 'rival')).rejects.toMatchObject({ code: 'not_found' });
    await report(commandID, 'executing');
    await expect(cancel(commandID)).rejects.toMatchObject({ code: 'conflict' });
    await report(commandID, 'confirmed');
    await expect(cancel(commandID)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('besides commands', () => {
  const content = { version: '1.4.0', url: 'https://u.example/agent.deb', sha256: 'ab'.repeat(32) };

  /** A command recorded by statements of the caller. */
  const enact = async (of: Awaited<ReturnType<typeof bench>>, changes: Partial<NewCommand>) =>
    (await advanceUntilSettled(
      of.clock,
      of.ledger.enact({
        device: of.device,
        statements: ({ commandID, issuedMs }) => {
          const { deviceNo } = of.device;
          const times = { issuedMs, expiresMs: issuedMs + 60_000, sameSinceMs: issuedMs };
          const fields = { feature: 'enginecutoff', state: '1', reason: '', issuer: 'olga' } as const;
          return supersedeAndInsert({ deviceNo, commandID, ...fields, ...times, ...changes }, sql`1 = 1`);
        },
      }),
    )) ?? expect.fail('not recorded');

  test('a cut that was approved is signed with both names', async () => {
    const of = await bench();
    await of.hello('b1');
    const approval = { approvalID: 'a1', approver: 'otto' };
    expect(await enact(of, { approval })).toMatchObject({ approver: 'otto', approvalID: 'a1' });
    expect(of.envelopes()).toMatchObject([
      { issuer: 'olga, approved by otto', feature: 'enginecutoff', state: '1' },
    ]);
  });

  test('a firmware job is signed under a type of its own, so that no agent takes it for a command', async () => {
    const of = await bench();
    const row = await enact(of, { feature: 'firmware', content: JSON.stringify(content) });
    expect(of.sent).toEqual([]);
    await of.hello('b1');
    const token = new TextDecoder().decode(of.sent.at(-1)?.payload);
    expect(verifier.verify(token, signedTypes.command)).toBeNull();
    const body = verifier.verify(token, signedTypes.firmware);
    expect(body === null ? null : decodeFirmware(body)).toMatchObject({
      ...content,
      commandID: row.commandID,
      boot: 'b1',
      cancel: false,
    });
    expect(await of.find(row.commandID)).toMatchObject({ commandState: 'sent', feature: 'firmware' });
    await of.report(row.commandID, 'refused', { reason: 'no' });
    await of.hello('b2');
    expect(of.sent.filter(({ verb }) => verb === 'commands')).toHaveLength(1);
  });

  test('a message goes out at once or on hello, until the device has confirmed it', async () => {
    const of = await bench();
    const { deviceNo } = of.device;
    const sentMs = Math.round(of.clock.utcMs());
    await of.db.write([insertMessage({ messageID: 'm1', deviceNo, text: 'hi', sender: 'olga', sentMs })]);
    await advanceUntilSettled(of.clock, of.ledger.sendMessages(of.device));
    expect(of.sent, 'it is not connected').toEqual([]);
    const notes = () =>
      of.sent.flatMap(({ payload }) => {
        const body = verifier.verify(new TextDecoder().decode(payload), signedTypes.message);
        return body === null ? [] : [decodeMessage(body)];
      });
    await of.hello('b1');
    expect(notes()).toMatchObject([{ messageID: 'm1', text: 'hi', from: 'olga', boot: 'b1' }]);
    await of.offline();
    await of.hello('b2');
    expect(notes()).toHaveLength(2);
    await of.report('m1', 'received');
    await of.hello('b3');
    await advanceUntilSettled(of.clock, of.ledger.sendMessages(of.device));
    expect(notes()).toHaveLength(2);
  });

  test('a message is not sent again over one connection because a further one was written', async () => {
    const of = await bench();
    const { deviceNo } = of.device;
    await of.hello('b1');
    const write = async (messageID: string) => {
      const sentMs = Math.round(of.clock.utcMs());
      await of.db.write([insertMessage({ messageID, deviceNo, text: 'hi', sender: 'olga', sentMs })]);
      await advanceUntilSettled(of.clock, of.ledger.sendMessages(of.device));
    };
    of.sent.length = 0;
    for (const messageID of ['m1', 'm2', 'm3']) await write(messageID);
    expect(of.sent).toHaveLength(3);
    of.setConnected(false);
    await write('m4');
    of.setConnected(true);
    await advanceUntilSettled(of.clock, of.ledger.sendMessages(of.device));
    expect(of.sent, 'what did not leave is tried again').toHaveLength(5);
    await of.hello('b1');
    expect(of.sent.filter(({ verb }) => verb === 'commands')).toHaveLength(9);
  });

  test('what was written a week ago is not sent any more', async () => {
    const of = await bench();
    const sentMs = Math.round(of.clock.utcMs()) - 7 * 86_400_000;
    await of.db.write([
      insertMessage({ messageID: 'm1', deviceNo: of.device.deviceNo, text: 'hi', sender: 'olga', sentMs }),
    ]);
    await of.hello('b1');
    expect(of.sent.map(({ verb }) => verb)).toEqual(['welcome']);
  });
});

describe('a hello of a device', () => {
  test('is recorded and answered with what is stored of that boot', async () => {
    const { hello, sent, report, db, device, offline } = await bench();
    await report('none', 'received');
    await report('none', 'received');
    await hello('reports', { agentVersion: '9.9.9', timeQuality: 'ntp' });
    const bytes = verifier.verify(new TextDecoder().decode(sent[0]?.payload), signedTypes.welcome);
    const welcome = bytes === null ? null : decodeWelcome(bytes);
    expect(welcome).toMatchObject({ boot: 'reports', nonce: 'nonce-reports', upTo: 2, accountID: 'acme' });
    expect(welcome?.serverTimeMs).toBeGreaterThanOrEqual(startMs);
    // Only a server that holds the connection takes another topic, and says so.
    expect(welcome).not.toHaveProperty('eventsTopic');
    const online = await findDevice(db, device);
    expect(online).toMatchObject({
      isOnline: true,
      agentVersion: '9.9.9',
      boot: 'reports',
      timeQuality: 'ntp',
    });
    await offline();
    expect(await findDevice(db, device)).toMatchObject({ isOnline: false });
  });

  test('of a deleted device fails', async () => {
    const { ledger, clock, device } = await bench();
    const gone = { ...device, deviceNo: 99 };
    await expect(advanceUntilSettled(clock, ledger.onHello(gone, helloOf('b1')))).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

test('a command whose publish failed stays recorded as sent and is sent again on the next hello', async () => {
  const { hello, request, setConnected, envelopes, find } = await bench();
  await hello('b1');
  setConnected(false);
  const { commandID } = await request();
  expect(await find(commandID)).toMatchObject({ commandState: 'sent' });
  setConnected(true);
  await hello('b1');
  expect(envelopes().map(({ commandID }) => commandID)).toEqual([commandID, commandID]);
});
