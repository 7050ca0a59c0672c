// Commands to devices. The service only requests; the vehicle decides whether and when to act (it is never stopped while
// moving), and the answer shows the ledger's state at this moment.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { type FeatureName, type FeatureState, featureNames } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { exampleDevice } from '../answers/examples.ts';
import { viewDevice } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { invalidAt, lineText, passwordAgain } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { device as deviceShape, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import { readDevice } from '../devices/device-details.ts';
import { orderCommand } from './command-order.ts';
import { type CommandView, commandAnswer, unsigned } from './command-view.ts';

export const exampleCommand: CommandView = {
  commandID: '5f0c6b0e9d1f4a3f8e7d6c5b4a392817',
  deviceID: 'truck-17',
  feature: 'enginecutoff',
  state: '1',
  pendingState: '1',
  commandState: 'sent',
  expires: 1763769600,
  approvalID: '',
  verdict: null,
  ...unsigned,
  ...ok,
};

const lifeOfCommand = `The answer comes at once and does not mean that the vehicle has acted. Follow the command in
\`state.<feature>\` of getdevice: \`requested\` (vehicle offline) -> \`sent\` -> \`received\` -> \`armed\` (it waits;
\`pendingReason\` says why as a sentence, \`verdict\` rule by rule) -> \`executing\` -> \`confirmed\`, or \`refused\`, \`expired\`,
\`superseded\`, \`cancelled\`, \`unknown\`. **An engine is cut only with the ignition off and standstill proven on the vehicle.** The newest command of a
feature replaces an older one that has not executed; when it is withdrawn or runs out before it reaches a vehicle that holds
an older command of state \`1\`, that one is withdrawn there too. The same command of the same user within 10 seconds is one command (state \`0\`: while the first has not ended).

**Order.** Requests of one connection are handled one after the other. Of two orders at once state \`0\`, the safe one, wins:
a command of state \`1\`, or a request for one, that came in before a state \`0\` of the same feature was decided answers 422
\`conflict\`, or is replaced by it. A command of state \`1\` that is sent after the answer to state \`0\` counts.

**Second user.** In an account with \`needsApproval\` a cut (\`enginecutoff\` 1) is not sent: the answer has \`commandState\`
\`approval\`, an \`approvalID\` and no \`commandID\`. It waits for 15 minutes, or until the command would end, for
\`approveCommand\` by another user. Only a user who counts for the second-person rule may request it: a user who was created, promoted, re-activated or
given a password by another user within the last day is answered 422 \`conflict\`. While one waits, any further cut of the device returns that one. A
restore (\`enginecutoff\` 0) never needs a second user and withdraws what waits.

**Owner's persons.** For a device with an owner's key (\`owner\` of getdevice) each command of state \`1\` waits for the persons of the owner's list, in
every account: the answer has \`commandState\` \`approval\`, an \`approvalID\`, and \`signing\` and \`signOptions\` for \`signCommand\`. It is
bound to the present run of the unit and to its next number; one of state \`0\`, a restart of the vehicle or any other command that is sent to it first
ends the waiting (\`void\`). Where no list of the owner lets it be signed it answers 422 \`conflict\`. Without \`ttl\` an unlock lives for 15 minutes.
No order lives longer than that list.

**Password.** In an account with \`needsPassword\` a command of state \`1\` needs the calling user's \`password\` once more: without it
422 \`password_needed\`, with a wrong one 422 \`password_wrong\`, after some of those 503 \`throttled\`, as with logins; nothing is done
then. State \`0\`, the safe one, never needs it and looks at none. \`commandSend\` cannot carry one. An \`Idempotency-Key\` takes no
notice of it: after a wrong password the same key may be sent with the right one.

**Limits.** A user may give commands to 10 vehicles and an account to 60 within a minute: beyond it 503 \`throttled\`. A user may cut
\`cutsPerHour\` vehicles within an hour (20 unless the account says otherwise), an account three times as many; asking a second
user counts. One more of a user opens the user's own breaker, one more of the account that of the account: every further cut of the
user or of all users answers 422 \`conflict\` until another administrator, or the operator of the service, resets it
(\`resetBreaker\`). State \`0\` of either feature, the safe one, is never limited by these.
Commands have a request limit of their own (\`RateLimit-Policy: "orders"\`): however often the same token asks for other
things, a restore is taken.`;

const orderErrors = [
  'not_found',
  'unsupported',
  'conflict',
  'throttled',
  'password_needed',
  'password_wrong',
] as const;

const deviceMember = { deviceID: Type.String({ description: 'The device' }) } as const;
export const stateMember = Type.Enum(['0', '1'], { description: 'The state to bring it into, as text' });
export const furtherMembers = {
  reason: Type.Optional(lineText(200, 'Why, for the record')),
  password: Type.Optional(passwordAgain),
  confirm: Type.Optional(Type.Boolean({ description: 'False: the user did not confirm; nothing is done' })),
  ttl: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 86_400,
      description: 'Seconds that it may wait for the vehicle',
    }),
  ),
} as const;

const furtherTexts = `\`ttl\` is how many seconds the command may wait for the vehicle, counted from the request; without it 24 hours
for \`enginecutoff\` and 60 seconds for \`cargoaccess\`. \`reason\` is kept in the ledger and in the audit log and sent to the
vehicle. \`confirm\`: an app that asks its user once more sends the answer here; false answers 422 and nothing is done, true
and absent are the same. A device that lacks the feature answers 422 \`unsupported\`.
The members may be sent flat or under a root member \`data\`, in any letter case.`;

/** Text on a command and its limits, for the descriptions of operations. */
export const commandText = `${lifeOfCommand}

${furtherTexts}`;

interface FeatureBody {
  readonly deviceID: string;
  readonly state: FeatureState;
  readonly reason?: string;
  readonly confirm?: boolean;
  readonly password?: string;
  readonly ttl?: number;
}

/** Input of `orderFeature`; `arrivedUs` is the request's place in the order of arrival. */
interface FeatureOrder extends FeatureBody {
  readonly isProven?: boolean;
  readonly isOfMany?: boolean;
  readonly feature: FeatureName;
  readonly arrivedUs: number;
}

/** @throws AppError `invalid_content` when the user did not confirm, and what `orderCommand` throws. */
export async function orderFeature(
  services: ApiServices,
  actor: Actor,
  { reason, ttl, confirm, password, ...order }: FeatureOrder,
): Promise<CommandView> {
  if (confirm === false) {
    const message = 'is false: nothing was done';
    throw invalidAt('/confirm', message);
  }
  return orderCommand(services, actor, {
    ...order,
    ...(reason === undefined ? {} : { reason }),
    ...(ttl === undefined ? {} : { ttlS: ttl }),
    ...(password === undefined ? {} : { password }),
  });
}

const commandFeature = operation({
  id: 'commandFeature',
  method: 'POST',
  path: '/command/feature/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Set a feature of a device',
  description: `Asks the device to bring \`enginecutoff\` (\`0\` Disabled, \`1\` Enabled: the engine cannot run) or
\`cargoaccess\` (\`0\` Disallowed, \`1\` Allowed) into a state. ${commandText}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      ...deviceMember,
      feature: Type.Enum([...featureNames], { description: 'What to set' }),
      state: stateMember,
      ...furtherMembers,
    },
    { additionalProperties: false },
  ),
  result: commandAnswer,
  errors: [...orderErrors, 'invalid_content'],
  effects: true,
  isOrder: true,
  proofMember: 'password',
  examples: { body: { deviceID: 'truck-17', feature: 'enginecutoff', state: '1' }, result: exampleCommand },
  run: ({ body, caller, source, arrivedUs }, services) =>
    orderFeature(services, { caller, source }, { ...body, arrivedUs }),
});

const commandEngineCutoff = operation({
  id: 'commandFeatureEngineCutoff',
  method: 'POST',
  path: '/command/feature/enginecutoff/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Set the engine cutoff of a device',
  description: `The same as \`commandFeature\` with \`feature\` \`enginecutoff\`, which may be sent too but need not be: state
\`0\` Disabled, \`1\` Enabled: the engine cannot run. ${commandText}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      ...deviceMember,
      feature: Type.Optional(Type.Enum(['enginecutoff'], { description: 'What to set; may be left out' })),
      state: stateMember,
      ...furtherMembers,
    },
    { additionalProperties: false },
  ),
  result: commandAnswer,
  errors: [...orderErrors, 'invalid_content'],
  effects: true,
  isOrder: true,
  proofMember: 'password',
  examples: { body: { deviceID: 'truck-17', state: '1' }, result: exampleCommand },
  run: ({ body, caller, source, arrivedUs }, services) =>
    orderFeature(services, { caller, source }, { ...body, arrivedUs, feature: 'enginecutoff' }),
});

interface CodeOrder {
  readonly feature: FeatureName;
  readonly state: FeatureState;
}

/** The code names what shall be true afterwards, as OpenGTS' expectAckCode does. */
const orderOfCode: ReadonlyMap<string, CodeOrder> = new Map([
  [String(statusCodes.VEHICLE_DISABLED.code), { feature: 'enginecutoff', state: '1' }],
  [String(statusCodes.VEHICLE_ENABLED.code), { feature: 'enginecutoff', state: '0' }],
  [String(statusCodes.DOOR_LOCK.code), { feature: 'cargoaccess', state: '0' }],
  [String(statusCodes.DOOR_UNLOCK.code), { feature: 'cargoaccess', state: '1' }],
]);

/** Codes that OpenGTS gives a meaning as a command and that no unit of ours can follow: the numbered outputs. */
function isKnownButUnsupported(code: number): boolean {
  return (code >= 62560 && code <= 62569) || (code >= 62592 && code <= 62601);
}

/** Locate now: a request to the unit, which no relay can come of. */
const locateCode = String(statusCodes.QUERY.code);

async function locate(services: ApiServices, actor: Actor, deviceID: string): Promise<CommandView> {
  const device = await needDevice(services, actor.caller, deviceID);
  const row = await services.requests.ask({
    device,
    kind: 'position',
    issuer: actor.caller.userID,
    record: (audited) => auditEntry(services, actor, audited),
  });
  return {
    commandID: row.requestID,
    deviceID,
    feature: row.kind,
    state: '1',
    pendingState: row.isOpen ? '1' : null,
    commandState: row.requestState,
    expires: Math.floor(row.expiresMs / 1000),
    approvalID: '',
    verdict: null,
    ...unsigned,
    ...ok,
  };
}

function orderOf(codeText: string): CodeOrder {
  const order = orderOfCode.get(codeText);
  if (order !== undefined) return order;
  const allowed = [...orderOfCode.keys(), locateCode].join(', ');
  const details = [{ pointer: '/newStatusCode', message: `must be one of ${allowed}` }];
  if (/^[0-9]{1,5}$/.test(codeText) && isKnownButUnsupported(Number(codeText))) {
    throw new AppError('unsupported', `Status code ${codeText} cannot be commanded yet`, { details });
  }
  throw new AppError(
    'invalid_content',
    `${JSON.stringify(codeText)} is no status code that can be commanded`,
    {
      details,
      hint: `Use one of ${allowed}.`,
    },
  );
}

const send = operation({
  id: 'commandSend',
  method: 'GET',
  path: '/command/send/{device}/{newStatusCode}/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Send a command by status code',
  description: `\`newStatusCode\` is the status that shall be true afterwards: 63680 engine disabled (enginecutoff 1),
63681 engine enabled (enginecutoff 0), 63637 cargo locked (cargoaccess 0), 63638 cargo unlocked (cargoaccess 1). 61504 is
locate now: it moves no relay; the answer has \`feature\` \`position\`, and its \`commandID\` is the \`requestID\` to follow with
\`getRequest\`. Any other code answers 422, the numbered outputs \`unsupported\`.
Never cached; the token is taken from the header only. ${lifeOfCommand}`,
  params: Type.Object({
    device: Type.String({ description: 'The device' }),
    newStatusCode: Type.String({ description: '`63680`, `63681`, `63637`, `63638` or `61504`' }),
  }),
  body: null,
  result: commandAnswer,
  errors: [...orderErrors, 'invalid_content'],
  effects: true,
  isOrder: true,
  examples: { params: { device: 'truck-17', newStatusCode: '63680' }, result: exampleCommand },
  run: ({ params, caller, source, arrivedUs }, services) => {
    const { device: deviceID, newStatusCode } = params;
    if (newStatusCode === locateCode) return locate(services, { caller, source }, deviceID);
    return orderCommand(services, { caller, source }, { deviceID, arrivedUs, ...orderOf(newStatusCode) });
  },
});

/** The operation that sets one feature and answers with the device. */
function setFeature<const I extends string, const F extends FeatureName>(parameters: {
  readonly feature: F;
  readonly id: I;
  readonly state: FeatureState;
  readonly states: string;
}) {
  return operation({
    id: parameters.id,
    method: 'POST',
    path: `/device/updatedevice/${parameters.feature}/authorization`,
    forms: ['versioned'],
    access: 'operator',
    token: { scope: 'command', ofDevices: true },
    tag: 'Commands',
    summary: `Set ${parameters.feature} and get the device`,
    description: `The same as \`commandFeature\` with \`feature\` \`${parameters.feature}\` (${parameters.states}), answered with the device: its
entry in \`state\` carries \`pendingState\`, \`commandState\`, \`commandID\` and, for a cut that waits for a second user, \`approvalID\`. \`state\` itself changes only when the vehicle
has read its relay back. ${lifeOfCommand}`,
    params: Type.Object({}),
    body: Type.Object(
      {
        deviceID: Type.String({ description: 'The device' }),
        state: Type.Enum(['0', '1'], { description: parameters.states }),
        password: Type.Optional(passwordAgain),
      },
      { additionalProperties: false },
    ),
    result: deviceShape,
    errors: orderErrors,
    effects: true,
    isOrder: true,
    proofMember: 'password',
    examples: { body: { deviceID: 'truck-17', state: parameters.state }, result: exampleDevice },
    async run({ body, caller, source, arrivedUs }, services) {
      await orderCommand(services, { caller, source }, { ...body, arrivedUs, feature: parameters.feature });
      return viewDevice(await readDevice(services, caller, body.deviceID), caller);
    },
  });
}

const updateCargoAccess = setFeature({
  feature: 'cargoaccess',
  id: 'updateDeviceCargoAccess',
  state: '1',
  states: '`0` Disallowed, `1` Allowed',
});

const updateEngineCutoff = setFeature({
  feature: 'enginecutoff',
  id: 'updateDeviceEngineCutoff',
  state: '1',
  states: '`0` Disabled, `1` Enabled: the engine cannot run',
});

export const commandOperations = [
  commandFeature,
  commandEngineCutoff,
  send,
  updateCargoAccess,
  updateEngineCutoff,
] as const;
