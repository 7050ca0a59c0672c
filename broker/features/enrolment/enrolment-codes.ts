// One-time enrolment codes: create, list, revoke. A code is shown once. The vehicle's side is in `enrolment.ts`.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import { codeIDPattern } from '../../../src/core/wire/enrolment-code.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { type Caller } from '../../api/base/caller.ts';
import { operation, type Pages } from '../../api/base/operation.ts';
import { allPages } from '../../api/base/paging.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import { needOwnUnit } from '../../commands/command-request.ts';
import { codeHoursMost } from '../../config/enrolment-config.ts';
import { makeEnrolmentCode } from '../../devices/enrolment.ts';
import {
  findListedCode,
  hasOpenCode,
  type ListedCode,
  listCodes,
  revokeCode,
} from '../../store/devices/enrolment-codes.ts';

const onlineWarning =
  'the unit of this device is connected now: when the code is used, its secret is worth nothing and it is cut off';

const createCode = operation({
  id: 'createEnrolmentCode',
  method: 'POST',
  path: '/device/createenrolmentcode/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Make a one-time code that enrols a unit',
  description: `An addition to the interface: gives a code that an installer types at the vehicle
(\`fleetward-agent enrol --broker <address> --code <code>\`), and shows it this once. With it the unit fetches a new MQTT
secret, the broker's public key and its addresses, over a connection that need not be trusted. **Using it replaces the
secret of the device: the old one stops working at once**; while a unit of the device is connected, \`isOnline\` is true and
\`warning\` says so.

The code is good for one unit, for \`hours\` (1 to ${codeHoursMost}; the setting \`enrolment.codeHours\`, by default 24, when absent). A
device has one open code: a new one replaces it. Its first six characters, \`codeID\`, are no secret and name it in the list
and in the audit log. An \`Idempotency-Key\` means nothing here.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.String({ description: 'The device' }),
      hours: Type.Optional(
        Type.Integer({ minimum: 1, maximum: codeHoursMost, description: 'How long the code is good' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    deviceID: Type.String({ description: 'The device' }),
    code: Type.String({ description: 'To be typed at the vehicle; cannot be read again' }),
    codeID: Type.String({ description: 'Names the code; gives no right' }),
    expires: Type.Integer({ description: 'When it ends (epoch seconds)' }),
    isOnline: Type.Boolean({ description: 'Whether a unit of the device is connected now' }),
    warning: Type.Union([Type.String(), Type.Null()], { description: 'What using it would break; or null' }),
  }),
  errors: ['not_found', 'unsupported'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { deviceID: 'truck-17', hours: 8 },
    result: {
      deviceID: 'truck-17',
      code: '7K3M-9QPX-0V4H-B2TD-W8RN-5F1J',
      codeID: '7K3M9Q',
      expires: 1763712000,
      isOnline: false,
      warning: null,
    },
  },
  async run({ body, caller, source }, services) {
    const { deviceID, hours = services.enrolment.codeHours } = body;
    needOwnUnit(await needDevice(services, caller, deviceID));
    const key = { accountID: caller.accountID, deviceID };
    const ports = { ...services, crypto: services.enrolment.crypto };
    const made = await makeEnrolmentCode(ports, { key, hours, actor: caller.userID, source });
    const isOnline = await services.isOnline(key.accountID, deviceID);
    return {
      ...ok,
      deviceID,
      code: made.code,
      codeID: made.codeID,
      expires: epochSeconds(made.expiresMs),
      isOnline,
      warning: isOnline ? onlineWarning : null,
    };
  },
});

const listedCode = Type.Object({
  codeID: Type.String({ description: 'Names the code; gives no right' }),
  deviceID: Type.String({ description: 'The device' }),
  state: Type.Enum(['open', 'used', 'revoked', 'expired'], { description: 'What became of it' }),
  createdOn: Type.Integer({ description: 'When it was made (epoch seconds)' }),
  createdBy: Type.String({ description: 'Who made it; `operator`: at the command line of the service' }),
  expires: Type.Integer({ description: 'When it ends (epoch seconds)' }),
  usedOn: Type.Union([Type.Integer(), Type.Null()], {
    description: 'When it was used (epoch seconds), or null',
  }),
  usedFrom: Type.String({ description: 'Address that it was used from; empty while it was not' }),
});

function stateOf({ usedMs, revokedMs, expiresMs }: ListedCode, nowMs: number) {
  if (usedMs !== null) return 'used' as const;
  if (revokedMs !== null) return 'revoked' as const;
  return expiresMs <= nowMs ? ('expired' as const) : ('open' as const);
}

async function* viewCodes({ db, clock }: ApiServices, { scope }: Caller): Pages<Static<typeof listedCode>> {
  const pages = allPages<ListedCode>({
    read: (span) => listCodes(db, scope, span),
    numberOf: ({ codeNo }) => codeNo,
  });
  for await (const codes of pages)
    yield codes.map((code) => ({
      codeID: code.codeID,
      deviceID: code.deviceID,
      state: stateOf(code, clock.utcMs()),
      createdOn: epochSeconds(code.createdMs),
      createdBy: code.createdBy,
      expires: epochSeconds(code.expiresMs),
      usedOn: code.usedMs === null ? null : epochSeconds(code.usedMs),
      usedFrom: code.usedFrom,
    }));
}

const listOfCodes = operation({
  id: 'getEnrolmentCodes',
  method: 'GET',
  path: '/device/enrolmentcodes/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Enrolment codes of the account',
  description: `An addition to the interface: the enrolment codes of all devices that the caller may see, newest first, with what
became of each. The codes themselves are not shown again. A code that is over is listed for 30 days, of one device at most
the newest twenty.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, codes: Type.Array(listedCode, { description: 'Newest first' }) }),
  errors: [],
  effects: false,
  examples: {
    result: {
      codes: [
        {
          codeID: '7K3M9Q',
          deviceID: 'truck-17',
          state: 'used',
          createdOn: 1763683200,
          createdBy: 'admin',
          expires: 1763712000,
          usedOn: 1763686800,
          usedFrom: '198.51.100.24',
        },
      ],
    },
  },
  async run({ caller }, services) {
    return { ...ok, codes: viewCodes(services, caller) };
  },
});

const endCode = operation({
  id: 'revokeEnrolmentCode',
  method: 'POST',
  path: '/device/revokeenrolmentcode/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'End an enrolment code',
  description: `An addition to the interface: an open code is worth nothing from now on. One that was used, revoked or has expired
answers 422 \`conflict\`: what a unit got with it ends only with a new secret (\`/device/issuesecret/authorization\`) or a
further code. A code of another account answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    { codeID: Type.String({ pattern: codeIDPattern, description: 'First six characters of the code' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { codeID: '7K3M9Q' } },
  async run({ body, caller, source }, services) {
    const { codeID } = body;
    const known = await findListedCode(services.db, caller.scope, codeID);
    if (known === null) throw new AppError('not_found', `There is no enrolment code ${codeID}`);
    const nowMs = Math.round(services.clock.utcMs());
    const audited = { action: 'enrolmentcode.revoke', object: known.deviceID, detail: { codeID } };
    const onlyIf = hasOpenCode(caller.scope, codeID, nowMs);
    const results = await services.db.write([
      auditEntry(services, { caller, source }, { ...audited, onlyIf }),
      revokeCode(caller.scope, codeID, nowMs),
    ]);
    if (results.at(-1)?.changes !== 1) {
      const now = (await findListedCode(services.db, caller.scope, codeID)) ?? known;
      throw new AppError('conflict', `Enrolment code ${codeID} is ${stateOf(now, nowMs)} already`, {
        hint: 'If it was used by the wrong unit, issue a new secret for the device.',
      });
    }
    return ok;
  },
});

export const enrolmentCodeOperations = [createCode, listOfCodes, endCode] as const;
