// The broker's side of requests on a real SQLite and a clock that moves by `advance`: one under way at a time, sent to the boot
// that is there, ended by its time, answered by the device that was asked and by no other.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeviceRequests, type DeviceRequests } from '../../broker/commands/device-requests.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { answerOf, isOwnHealth } from '../../broker/core/events/answers.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import {
  answerStatements,
  answersFor,
  deviceRequestLimits,
  findRequest,
  listRequests,
} from '../../broker/store/devices/device-requests.ts';
import { recordHello } from '../../broker/store/devices/devices.ts';
import type { AttributeValue, FleetEvent } from '../../src/core/events/event.ts';
import { decodeRequest, type RequestKind } from '../../src/core/wire/device-request.ts';
import { signedTypes } from '../../src/core/wire/wire.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  createBenchClock,
  createBenchEntropy,
  createBenchKeys,
  createBenchLog,
  helloOf,
  openBenchDatabase,
} from '../support/broker/broker-bench.ts';

const { signer, verifier } = createBenchKeys();
const acme = wholeAccount('acme');

let db: Database;
let clock: ReturnType<typeof createBenchClock>;
let requests: DeviceRequests;
let truck: DeviceRef;
let van: DeviceRef;
let sent: { readonly requestID: string; readonly boot: string; readonly kind: string }[];

beforeEach(async () => {
  db = await openBenchDatabase();
  clock = createBenchClock();
  truck = await addDevice(db, 'acme', 'truck-1');
  van = await addDevice(db, 'acme', 'van-1');
  sent = [];
  requests = createDeviceRequests({
    db,
    clock,
    entropy: createBenchEntropy(),
    signer,
    log: createBenchLog(),
    async publish(device, { verb, payload }) {
      const body = verifier.verify(new TextDecoder().decode(payload), signedTypes.request);
      const request = body === null ? null : decodeRequest(body);
      if (request === null || verb !== 'commands' || request.deviceID !== device.deviceID)
        throw new Error('not a request to this device');
      sent.push(request);
      return true;
    },
  });
});

afterEach(async () => {
  await requests.close();
  await db.close();
});

const ask = (kind: RequestKind, device = truck, ttlS?: number) =>
  requests.ask({
    device,
    kind,
    issuer: 'olga',
    record: () => sql`SELECT 1`,
    ...(ttlS === undefined ? {} : { ttlS }),
  });
const stateOf = async (requestID: string) => (await findRequest(db, acme, requestID))?.requestState;
const event = (statusCode: number, attributes: Record<string, AttributeValue>): FleetEvent => ({
  seq: 1,
  timestamp: 1,
  upMs: 1,
  timeQuality: 'gnss',
  statusCode,
  attributes,
});
const takeAnswer = async (device: DeviceRef, event: FleetEvent): Promise<void> => {
  const answer = answerOf(event);
  if (answer === null) throw new Error('not an answer');
  await db.write(answerStatements(device.deviceNo, answer, clock.utcMs()));
};
/** As the broker does: the hello is recorded before `onHello` is called. */
const hello = async (device: DeviceRef, boot: string): Promise<void> => {
  await db.write([recordHello(device.deviceNo, helloOf(boot), { atMs: clock.utcMs() })]);
  await requests.onHello(device, { boot });
};
const part = (requestID: string, at: number, parts: number) =>
  event(64_816, { kind: 'log', requestID, part: at, parts, text: `part ${at}` });

describe('requests to a device', () => {
  it('sends at once to the boot that is there, and on each hello what is not answered', async () => {
    const waiting = await ask('diagnostic');
    expect([waiting.requestState, sent]).toEqual(['requested', []]);
    await hello(truck, 'b1');
    expect(sent).toMatchObject([{ requestID: waiting.requestID, boot: 'b1', kind: 'diagnostic' }]);
    expect(await stateOf(waiting.requestID)).toBe('sent');
    const position = await ask('position');
    expect(position.requestState).toBe('sent');
    await takeAnswer(truck, event(61_504, { kind: 'position', requestID: position.requestID, gps: 'none' }));
    await hello(truck, 'b2');
    expect(sent.map(({ boot, kind }) => [boot, kind])).toEqual([
      ['b1', 'diagnostic'],
      ['b1', 'position'],
      ['b2', 'diagnostic'],
    ]);
  });

  it('has one request for health or log under way for each device, and one for the position beside it', async () => {
    const first = await ask('log');
    expect((await ask('log')).requestID).toBe(first.requestID);
    await expect(ask('diagnostic')).rejects.toMatchObject({ code: 'conflict' });
    expect((await ask('position')).requestID).not.toBe(first.requestID);
    expect((await ask('diagnostic', van)).kind).toBe('diagnostic');
    const crowd = await Promise.all(Array.from({ length: 20 }, () => ask('position', van)));
    expect(new Set(crowd.map(({ requestID }) => requestID)).size).toBe(1);
  });

  it('ends a request by its time, and sends it no more', async () => {
    const { requestID } = await ask('diagnostic', truck, 60);
    clock.advance(59_000);
    await requests.expireDue();
    expect(await stateOf(requestID)).toBe('requested');
    clock.advance(2000);
    await hello(truck, 'b1');
    expect(sent).toEqual([]);
    await requests.expireDue();
    expect(await stateOf(requestID)).toBe('expired');
    expect((await ask('log')).requestID).not.toBe(requestID);
  });

  it('accepts an answer that comes after the expiry: the report of the unit counts', async () => {
    const { requestID } = await ask('log', truck, 60);
    await hello(truck, 'b1');
    await takeAnswer(truck, part(requestID, 2, 2));
    clock.advance(61_000);
    await requests.expireDue();
    expect(await stateOf(requestID)).toBe('expired');
    await takeAnswer(truck, part(requestID, 1, 2));
    expect(await findRequest(db, acme, requestID)).toMatchObject({ requestState: 'answered', isOpen: false });
  });

  it('has a log whole when every part has come, in any order and however often', async () => {
    const order = fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { minLength: 5, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        order,
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 5 }),
        async (parts, again) => {
          const { requestID, requestNo } = await ask('log');
          for (const [at, one] of parts.entries()) {
            expect(await stateOf(requestID)).toBe(at === 0 ? 'requested' : 'answering');
            await takeAnswer(truck, part(requestID, one, 5));
          }
          for (const one of again) await takeAnswer(truck, part(requestID, one, 5));
          expect(await stateOf(requestID)).toBe('answered');
          const texts = (await answersFor(db, requestNo)).map(({ content }) => JSON.parse(content).text);
          expect(texts).toEqual([1, 2, 3, 4, 5].map((one) => `part ${one}`));
        },
      ),
      { numRuns: 20 },
    );
  });

  it('takes an answer from the device that was asked and from no other, and of the kind that was asked', async () => {
    const { requestID, requestNo } = await ask('diagnostic');
    await takeAnswer(van, event(64_816, { kind: 'diagnostic', requestID }));
    await takeAnswer(van, event(64_816, { kind: 'refused', requestID, reason: 'no' }));
    await takeAnswer(truck, part(requestID, 1, 1));
    await takeAnswer(truck, event(61_504, { kind: 'position', requestID }));
    expect(await stateOf(requestID)).toBe('requested');
    expect(await answersFor(db, requestNo)).toEqual([]);
    await takeAnswer(truck, event(64_816, { kind: 'refused', requestID, reason: 'too often' }));
    await takeAnswer(truck, event(64_816, { kind: 'diagnostic', requestID }));
    expect(await findRequest(db, acme, requestID)).toMatchObject({
      requestState: 'refused',
      detail: 'too often',
    });
  });

  it('keeps the newest requests of a device and their answers, and forgets the rest', async () => {
    for (let times = 0; times < deviceRequestLimits.kept + 5; times++) {
      const { requestID } = await ask('log');
      await takeAnswer(truck, part(requestID, 1, 1));
    }
    expect(await listRequests(db, truck.deviceNo)).toHaveLength(deviceRequestLimits.kept);
    expect(await db.read(sql`SELECT 1 AS one FROM device_answers`)).toHaveLength(deviceRequestLimits.kept);
    clock.advance(deviceRequestLimits.keptMs + 1);
    await requests.expireDue();
    expect(await listRequests(db, truck.deviceNo)).toEqual([]);
    expect(await db.read(sql`SELECT 1 AS one FROM device_answers`)).toEqual([]);
  });

  it('goes with its device', async () => {
    await ask('log');
    await db.write([sql`DELETE FROM devices WHERE device_no = ${truck.deviceNo}`]);
    expect(await db.read(sql`SELECT 1 AS one FROM device_requests`)).toEqual([]);
    await expect(ask('log')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an event', () => {
  it('that is not an answer to the letter is none', () => {
    const requestID = 'r1';
    for (const [code, attributes] of [
      [61_472, { kind: 'position', requestID }],
      [61_504, { kind: 'diagnostic', requestID }],
      [64_816, { kind: 'position', requestID }],
      [64_816, { kind: 'log', requestID, part: 0, parts: 1 }],
      [64_816, { kind: 'log', requestID, part: 2, parts: 1 }],
      [64_816, { kind: 'log', requestID, part: 1, parts: 1e9 }],
      [64_816, { kind: 'log', requestID: 'a b', part: 1, parts: 1 }],
      [64_816, { kind: 'diagnostic' }],
      [64_816, { kind: 'diagnostic', requestID: 5 }],
    ] as const)
      expect(answerOf(event(code, attributes)), JSON.stringify(attributes)).toBeNull();
  });

  it('is health unless it is a log or a refusal; a foreign tracker need not give a kind', () => {
    const isHealth = (attributes: Record<string, AttributeValue>) => isOwnHealth(event(64_816, attributes));
    expect(isHealth({ voltage: 12 })).toBe(true);
    expect(isHealth({ kind: 'diagnostic', requestID: 'r1' })).toBe(true);
    expect(isHealth({ kind: 'log', text: 'x' })).toBe(false);
    expect(isHealth({ kind: 'refused' })).toBe(false);
    expect(isOwnHealth(event(61_504, { kind: 'position' }))).toBe(false);
  });
});
