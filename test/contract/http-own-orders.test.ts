// What a vehicle is about to do with a relay on its own, over HTTP: the order of a geozone that waits, and a cut that fell off and is set again. The
// events are those that the agent makes.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ActiveCommand,
  draftOf,
  type ReportDetail,
} from '../../agent/core/protection/command-record.ts';
import type { CommandState } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { verdictOf } from '../../src/core/verdict/verdict.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

const ignitionOn = verdictOf([
  { rule: 'ignition_off', isMet: false, value: 'on', needed: 'off', sinceMs: 1_767_614_400_000 },
]);

let service: HttpService;
let token = '';
beforeAll(async () => {
  service = await startHttpService();
  await service.http.listen({ host: '127.0.0.1', port: 0 });
  await service.account('acme');
  token = await service.login('acme', 'admin');
});
afterAll(() => service.close());

let deviceID = '';
let number = 0;
beforeEach(async () => {
  number += 1;
  deviceID = `truck-${number}`;
  await service.device('acme', deviceID);
});

let seq = 0;
async function send(draft: object, agoMs = 0): Promise<void> {
  seq += 1;
  const event = { seq, timestamp: Date.now() - agoMs, ...draft };
  await service.events('acme', deviceID, { boot: 'own', events: [event] });
}

const zoneCut: Pick<ActiveCommand, 'commandID' | 'feature' | 'state' | 'source'> = {
  commandID: 'local-1',
  feature: 'enginecutoff',
  state: '1',
  source: 'zone',
};
const report = (
  to: Exclude<CommandState, 'requested' | 'sent'>,
  detail: ReportDetail = {},
  command = zoneCut,
) => send(draftOf(command, to, detail));

const fellOff = {
  statusCode: statusCodes.RELAY_MISMATCH.code,
  outputs: { enginecutoff: false },
  attributes: { feature: 'enginecutoff', wanted: '1', reason: 'the relay is not as it was last confirmed' },
};

async function device(): Promise<Record<string, unknown>> {
  const answer = await service.call({ path: `/api/v1/device/getdevice/${deviceID}/authorization`, token });
  return answer.json();
}
async function shown(feature = 'enginecutoff'): Promise<Record<string, unknown> | undefined> {
  return ((await device())['state'] as Record<string, Record<string, unknown>>)[feature];
}

const nothing = {
  pendingState: null,
  pendingReason: null,
  verdict: null,
  commandState: null,
  commandID: null,
};
const waiting = {
  // The relay was never read back.
  state: null,
  pendingState: '1',
  commandState: 'armed',
  commandID: null,
  approvalID: null,
  pendingReason: 'Asked for by a geozone; Ignition is on',
  verdict: { code: 'ignition_off' },
};

describe('an order that a vehicle has given to itself', () => {
  it('is shown as pending while it waits, with what it waits for', async () => {
    expect(await shown()).toMatchObject(nothing);
    await report('received');
    expect(await shown()).toMatchObject({ pendingState: '1', commandState: 'received' });
    await report('armed', { verdict: ignitionOn });
    expect(await shown()).toMatchObject(waiting);
    expect(await shown('cargoaccess')).toMatchObject(nothing);
    expect(await device()).toMatchObject({
      hasPendingCommands: 'true',
      sensors: { enginecutoff: { state: null, pendingState: '1' } },
    });
    await report('executing');
    await report('confirmed');
    expect(await shown()).toMatchObject({ ...nothing, state: '1' });
    expect(await device()).toMatchObject({ hasPendingCommands: 'false' });
  });

  it.each(['refused', 'expired', 'superseded', 'cancelled'] as const)(
    'is no longer shown once it was %s, whatever arrives late',
    async (end) => {
      await report('armed', { verdict: ignitionOn });
      await report(end);
      await send(draftOf(zoneCut, 'armed', { verdict: ignitionOn }), 5000);
      expect(await shown()).toMatchObject({ ...nothing, state: null });
    },
  );

  it('stands behind what a person has asked for', async () => {
    await report('armed', { verdict: ignitionOn });
    const answer = await service.call({
      method: 'POST',
      path: '/api/v1/command/feature/authorization',
      token,
      body: { deviceID, feature: 'enginecutoff', state: '0' },
    });
    const { commandID } = answer.json();
    expect(await shown()).toMatchObject({ pendingState: '0', commandID });
    await report('superseded');
    await send(draftOf({ ...zoneCut, commandID: String(commandID), state: '0' }, 'confirmed'));
    expect(await shown()).toMatchObject({ ...nothing, state: '0' });
  });

  it('ends with the record of the unit: one that begins anew adopts the relay as it is', async () => {
    await report('armed', { verdict: ignitionOn });
    await send({
      statusCode: statusCodes.VEHICLE_ENABLED.code,
      outputs: { enginecutoff: false },
      attributes: { feature: 'enginecutoff', state: '0' },
    });
    expect(await shown()).toMatchObject(nothing);
  });

  it('is none that a command of the ledger or another source speaks of', async () => {
    await report(
      'armed',
      { verdict: ignitionOn },
      { commandID: 'other', feature: 'enginecutoff', state: '1' },
    );
    await send({
      statusCode: 4353,
      commandID: 'x',
      commandState: 'armed',
      attributes: { feature: 'doors', source: 'zone', state: '1' },
    });
    await send({
      statusCode: 4353,
      commandID: 'x',
      commandState: 'armed',
      attributes: { feature: 'enginecutoff', source: 'zone', state: 7 },
    });
    await send({
      statusCode: 4353,
      commandID: 'x',
      commandState: 'armed',
      attributes: { feature: 'enginecutoff', source: 'relay', state: '1' },
    });
    expect(await shown()).toMatchObject(nothing);
  });
});

describe('a cut that fell off', () => {
  const pending = { state: '0', pendingState: '1', commandState: 'armed', commandID: null };

  it('is shown as pending until the relay is as it was confirmed', async () => {
    await report('confirmed');
    await send(fellOff);
    expect(await shown()).toMatchObject({
      ...pending,
      pendingReason: 'The relay is not as it was confirmed; the vehicle sets it again as soon as it may',
    });
    const restored = {
      ...fellOff,
      statusCode: statusCodes.RELAY_RESTORED.code,
      outputs: { enginecutoff: true },
    };
    await send(restored);
    expect(await shown()).toMatchObject({ ...nothing, state: '1' });
  });

  it('is no longer shown when the relay did not follow, or a person restored the engine', async () => {
    await send(fellOff);
    await send({ ...fellOff, statusCode: statusCodes.RELAY_FAULT.code });
    expect(await shown()).toMatchObject({ ...nothing, state: '0' });
    await send(fellOff);
    await send(draftOf({ ...zoneCut, commandID: 'restore', state: '0' }, 'confirmed'));
    expect(await shown()).toMatchObject({ ...nothing, state: '0' });
  });

  it('is no longer shown when the relay is seen to be as it was, whatever the unit failed to say', async () => {
    await report('confirmed');
    await send(fellOff);
    await send({ statusCode: statusCodes.HEARTBEAT.code, outputs: { enginecutoff: true } });
    expect(await shown()).toMatchObject({ ...nothing, state: '1' });
  });

  it('whose safe state does not follow is shown for as long as the vehicle tries', async () => {
    const wanted = { feature: 'enginecutoff', wanted: '0', reason: 'the relay did not follow 3 times' };
    await send({
      statusCode: statusCodes.RELAY_FAULT.code,
      outputs: { enginecutoff: true },
      attributes: wanted,
    });
    expect(await shown()).toMatchObject({ state: '1', pendingState: '0' });
  });
});
