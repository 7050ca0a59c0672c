// One command for many devices. Each follows every rule of a single command. A restrictive one above the limits is refused as a
// whole, so a bulk cut never opens the breaker by itself.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { type FeatureName, type FeatureState, featureNames } from '../../../src/core/events/event.ts';
import { type CapFacts, capLimits, isCut, isLimited, refusalOf } from '../../core/commands/command-caps.ts';
import { findCapFacts } from '../../store/commands/command-caps.ts';
import type { ApiServices } from '../base/api-services.ts';
import { bulkMembers, bulkText, countItems, eachDevice, itemMembers, manyDevices } from '../base/bulk.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needPasswordFor } from './command-order.ts';
import { type CommandView, commandItem } from './command-view.ts';
import { commandText, exampleCommand, furtherMembers, orderFeature, stateMember } from './commands.ts';

/** Devices of one request; of a restrictive one as many as a user may command within a minute. */
const devicesMost = { safe: 100, restrictive: capLimits.userPerMinute } as const;

interface BulkOrder {
  readonly deviceIDs: readonly string[];
  readonly feature: FeatureName;
  readonly state: FeatureState;
}

/** Commands that the limits still allow, and cuts within the hour. */
function leftOf(facts: CapFacts, order: BulkOrder): { readonly minute: number; readonly hour: number } {
  const { userPerMinute, accountPerMinute, accountFactor } = capLimits;
  const minute = Math.min(userPerMinute - facts.userMinute, accountPerMinute - facts.accountMinute);
  if (!isCut(order)) return { minute, hour: Number.POSITIVE_INFINITY };
  const { cutsPerHour, userCuts, accountCuts } = facts;
  return { minute, hour: Math.min(cutsPerHour - userCuts, accountFactor * cutsPerHour - accountCuts) };
}

/** @throws AppError `invalid_content`, `conflict`, `throttled`: nothing is sent. */
async function needWithinLimits(services: ApiServices, caller: Caller, order: BulkOrder): Promise<void> {
  if (!isLimited(order)) return;
  const wanted = order.deviceIDs.length;
  if (wanted > devicesMost.restrictive) {
    const message = `must be at most ${devicesMost.restrictive} for state 1`;
    throw new AppError('invalid_content', `/deviceIDs ${message}; nothing was sent`, {
      details: [{ pointer: '/deviceIDs', message }],
      hint: 'A user may give so many such commands within a minute. State 0 takes more.',
    });
  }
  const { accountID, userID } = caller;
  const facts = await findCapFacts(services.db, { accountID, userID, atMs: services.clock.utcMs() });
  if (facts === null) throw new AppError('not_found', 'The account was deleted meanwhile');
  const refusal = refusalOf({ ...facts, needsApproval: false }, order);
  if (refusal !== null) throw refusal;
  const left = leftOf(facts, order);
  if (wanted > left.hour) {
    throw new AppError(
      'conflict',
      `${wanted} engine cuts were asked for and ${Math.max(0, left.hour)} are left within this hour; nothing was sent`,
      { hint: 'Ask for fewer, or wait. More would open the breaker of the account: see commandLimits.' },
    );
  }
  if (wanted > left.minute) {
    throw new AppError(
      'throttled',
      `${wanted} commands were asked for and ${Math.max(0, left.minute)} are left within this minute; nothing was sent`,
      { retryAfterS: capLimits.minuteMs / 1000 },
    );
  }
}

const item = Type.Object({
  ...itemMembers,
  command: Type.Union([commandItem, Type.Null()], {
    description: 'The command, or the request to a second user; null where there is none',
  }),
});

const commandDevices = operation({
  id: 'commandDevices',
  method: 'POST',
  path: '/command/devices/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Set a feature of many devices',
  description: `Our addition: \`commandFeature\` for up to ${devicesMost.safe} devices with state \`0\`, and for up to ${devicesMost.restrictive} with state \`1\`.

${bulkText}

A request with state \`1\` that the limits of the user or the account would not let through as a whole answers 422 \`conflict\` or 503
\`throttled\` and nothing is sent: it never opens the breaker by its own size. In an account with \`needsApproval\` each cut waits for
a second user by itself. With \`needsPassword\` one \`password\` is for all of them. A device with an owner's key answers 422 \`conflict\` to state \`1\`: its persons sign one order for one vehicle. State \`0\` is never limited; its devices are commanded side by side.

${commandText}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceIDs: manyDevices(devicesMost.safe),
      feature: Type.Enum([...featureNames], { description: 'What to set' }),
      state: stateMember,
      ...furtherMembers,
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    ...bulkMembers,
    items: Type.Array(item, { description: 'In the order of the request' }),
  }),
  errors: ['not_found', 'conflict', 'throttled', 'password_needed', 'password_wrong'],
  effects: true,
  isOrder: true,
  proofMember: 'password',
  examples: {
    body: { deviceIDs: ['truck-17', 'truck-99'], feature: 'enginecutoff', state: '1' },
    result: {
      done: 1,
      failed: 1,
      items: [
        { deviceID: 'truck-17', status: 200, error: null, command: commandOf(exampleCommand) },
        {
          deviceID: 'truck-99',
          status: 404,
          error: { code: 'not_found', detail: 'There is no device "truck-99"', hint: null },
          command: null,
        },
      ],
    },
  },
  async run({ body, caller, source, arrivedUs }, services) {
    const { deviceIDs, ...order } = body;
    await needWithinLimits(services, caller, body);
    const actor = { caller, source };
    // Once for all of them: each proof takes a tenth of a second, and counts as an attempt.
    await needPasswordFor(services, actor, body);
    const outcomes = await eachDevice(services, deviceIDs, {
      atOnce: isLimited(body) ? 1 : 20,
      run: (deviceID) =>
        orderFeature(services, actor, { ...order, deviceID, arrivedUs, isProven: true, isOfMany: true }),
    });
    const items = outcomes.map(({ value, ...outcome }) => ({ ...outcome, command: commandOf(value) }));
    return { ...ok, ...countItems(items), items };
  },
});

function commandOf(view: CommandView | null) {
  if (view === null) return null;
  const { status_code: _status, success: _success, ...command } = view;
  return command;
}

export const bulkCommandOperations = [commandDevices] as const;
