// The world of a practice fleet, for the users of its account. These operations are in no list of the service. Only a broker that
// a demonstration started serves them, so a service for vehicles has no such path.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { practiceActions } from '../../../src/core/practice.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import type { Caller } from '../../api/base/caller.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import type { PracticeWorld } from '../../ports/practice-world.ts';
import { findVisibleDevice } from '../../store/devices/devices.ts';

const strict = { additionalProperties: false } as const;
const deviceID = Type.String({ minLength: 1, maxLength: 64, description: 'The vehicle' });
const isSo = (description: string) => Type.Boolean({ description });

/** The world of the caller's account. @throws AppError `not_found` in every other account. */
function needWorld({ practice }: ApiServices, { accountID }: Caller): PracticeWorld {
  if (practice?.accountID === accountID) return practice;
  throw new AppError('not_found', 'There is no practice fleet in this account');
}

const getPracticeFleet = operation({
  id: 'getPracticeFleet',
  method: 'GET',
  path: '/practice/fleet/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Devices',
  summary: 'Vehicles of the practice fleet as they truly are',
  description: `Our addition, at the broker of a demonstration only. What the simulated world has of each vehicle that the caller sees, from which
what its unit reported may differ.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    startedS: Type.Integer({ minimum: 0, description: 'When this run began (epoch seconds)' }),
    vehicles: Type.Array(
      Type.Object({
        deviceID,
        speedKmh: Type.Number({ minimum: 0, description: 'km/h' }),
        engine: Type.Enum(['off', 'running', 'blocked'], {
          description: '`blocked`: the key is turned, and the starter is cut',
        }),
        isIgnitionOn: isSo('The key is turned'),
        isCargoDoorOpen: isSo('The cargo door stands open'),
        isPanicPressed: isSo('The panic button is held'),
        isPowered: isSo('The supply of the unit is connected'),
        isTowed: isSo('It is towed'),
        isJammed: isSo('Its receiver is jammed'),
        isConnected: isSo('It has a network'),
        hasOwner: isSo(
          "It has the practice owner's key: `agree` has two practice persons agree to the order that waits",
        ),
        actedS: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
          description: 'When something was first done here in this run (epoch seconds); null: nothing was',
        }),
      }),
      { description: 'By device id' },
    ),
  }),
  errors: ['not_found', 'unavailable'],
  effects: false,
  examples: {
    result: {
      startedS: 1763683200,
      vehicles: [
        {
          deviceID: 'van-01',
          speedKmh: 42.5,
          engine: 'running',
          isIgnitionOn: true,
          isCargoDoorOpen: false,
          isPanicPressed: false,
          isPowered: true,
          isTowed: false,
          isJammed: false,
          isConnected: true,
          hasOwner: false,
          actedS: null,
        },
      ],
    },
  },
  async run({ caller }, services) {
    const { startedS, vehicles } = await needWorld(services, caller).look();
    const isSeen = await Promise.all(
      vehicles.map(
        async (one) => (await findVisibleDevice(services.db, caller.scope, one.deviceID)) !== null,
      ),
    );
    return { ...ok, startedS, vehicles: vehicles.filter((_, at) => isSeen[at] === true) };
  },
});

const actInPractice = operation({
  id: 'actInPractice',
  method: 'POST',
  path: '/practice/act/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: 'none',
  tag: 'Devices',
  summary: 'Do something in the world of the practice fleet',
  description: `Our addition, at the broker of a demonstration only. Does one of the listed things to a simulated vehicle; the audit log has it
as \`practice.act\`. It gives no command and touches nothing that a unit or the service decides.`,
  params: Type.Object({}),
  body: Type.Object(
    { deviceID, action: Type.Enum([...practiceActions], { description: 'What is done' }) },
    strict,
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'unavailable'],
  effects: true,
  examples: { body: { deviceID: 'van-01', action: 'panic' } },
  async run({ body, caller, source }, services) {
    const world = needWorld(services, caller);
    const device = await needDevice(services, caller, body.deviceID);
    const { action } = body;
    const audited = { action: 'practice.act', object: device.deviceID, detail: { action } };
    // Written before the action, so failed ones are recorded too.
    await services.db.write([auditEntry(services, { caller, source }, audited)]);
    await world.act(device.deviceID, action);
    return ok;
  },
});

const askInPractice = operation({
  id: 'askInPractice',
  method: 'POST',
  path: '/practice/askforcut/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Devices',
  summary: 'Have a simulated colleague ask for an engine cut',
  description: `Our addition, at the broker of a demonstration only. Switches on \`needsApproval\` of the account and has the user \`colleague\`,
which the demonstration makes and plays, ask for an engine cut of the vehicle: another user decides. The audit log has it as
\`practice.askforcut\`, and what the demonstration then does as its user.`,
  params: Type.Object({}),
  body: Type.Object({ deviceID }, strict),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict', 'unavailable'],
  effects: true,
  examples: { body: { deviceID: 'van-01' } },
  async run({ body, caller, source }, services) {
    const world = needWorld(services, caller);
    const device = await needDevice(services, caller, body.deviceID);
    const audited = { action: 'practice.askforcut', object: device.deviceID };
    await services.db.write([auditEntry(services, { caller, source }, audited)]);
    await world.askForCut(device.deviceID);
    return ok;
  },
});

/** Served beside the operations of the service where there is a practice fleet, and nowhere else. */
export const practiceOperations = [getPracticeFleet, actInPractice, askInPractice] as const;
