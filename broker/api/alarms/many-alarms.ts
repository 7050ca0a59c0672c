// Operations on many alarms: take and close. One commit, in which each alarm has its own condition and result.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { type Alarm, alarmLimits, viewAlarm } from '../../core/alarms/alarm.ts';
import { type Change, close, statementsOfChange, take } from '../../store/alarms/alarm-changes.ts';
import { findAlarms } from '../../store/alarms/alarms.ts';
import type { ApiServices } from '../base/api-services.ts';
import { bulkMembers, countItems, itemError, itemMembers } from '../base/bulk.ts';
import { invalidAt } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import {
  type AlarmRequest,
  actorOf,
  needReason,
  nowOf,
  refusalOf,
  statementsOf,
  type Target,
} from './alarm-handling.ts';
import { alarmRecord, closeMembers, exampleTaken, nothingThere, targetMembers } from './alarm-shapes.ts';

const strict = { additionalProperties: false } as const;

const manyTargets = Type.Array(Type.Object(targetMembers, strict), {
  minItems: 1,
  maxItems: alarmLimits.atOnce,
  description: `1 to ${alarmLimits.atOnce} alarms, each once`,
});

const { status, error } = itemMembers;
const items = Type.Array(
  Type.Object({
    alarmID: Type.String({ description: 'The alarm' }),
    status,
    error,
    alarm: Type.Unsafe<ReturnType<typeof viewAlarm> | null>({
      ...alarmRecord,
      type: ['object', 'null'],
      description: 'The alarm as it is then, whether it was changed or not; null where there is none',
    }),
  }),
  { description: 'In the order of the request' },
);
const result = Type.Object({ ...envelope, ...bulkMembers, items });

const each = `Each is judged by itself, by the same rules as in a request for it alone, with an audit entry of its own; \`items\` says with
which \`status\` it ended and why. When the caller sees none of the alarms the answer is 404.`;

/** @throws AppError `invalid_content` for an alarm that is named twice. */
function needEachOnce(targets: readonly Target[]): void {
  const seen = new Set<number>();
  for (const [at, { alarmID }] of targets.entries()) {
    const message = 'is there twice';
    if (seen.has(Number(alarmID))) {
      throw invalidAt(`/alarms/${at}`, message);
    }
    seen.add(Number(alarmID));
  }
}

/** Changes many alarms in one commit, each on its own condition. */
async function changeMany(
  services: ApiServices,
  request: AlarmRequest,
  many: {
    readonly targets: readonly Target[];
    readonly change: Change;
    readonly detail?: Readonly<Record<string, unknown>>;
  },
) {
  const { targets, change, detail = {} } = many;
  needEachOnce(targets);
  const { scope } = request.caller;
  const numbers = targets.map(({ alarmID }) => Number(alarmID));
  const read = async (): Promise<ReadonlyMap<number, Alarm>> =>
    new Map((await findAlarms(services.db, scope, numbers)).map((alarm) => [alarm.alarmNo, alarm]));
  const before = await read();
  const found = targets.flatMap((target) => {
    const alarm = before.get(Number(target.alarmID));
    return alarm === undefined ? [] : [{ target, alarm }];
  });
  const results =
    found.length === 0
      ? []
      : await services.db.write(
          found.flatMap(({ target, alarm }) =>
            statementsOf(services, request, alarm, { target, change, detail }),
          ),
        );
  const changed = new Set(
    found.flatMap(({ alarm }, at) =>
      results[(at + 1) * statementsOfChange - 1]?.changes === 1 ? [alarm.alarmNo] : [],
    ),
  );
  const after = await read();
  if (after.size === 0) throw new AppError('not_found', `There is none of the ${targets.length} alarms`);
  const outcomes = targets.map((target) =>
    itemOf(target, after.get(Number(target.alarmID)) ?? null, changed),
  );
  return { ...ok, ...countItems(outcomes), items: outcomes };
}

/** The result of one alarm, as it is after the change. */
function itemOf(target: Target, alarm: Alarm | null, changed: ReadonlySet<number>) {
  const alarmID = String(target.alarmID);
  if (alarm === null) {
    const missing = nothingThere(alarmID);
    return { alarmID, status: 404, error: itemError(missing), alarm: null };
  }
  const view = viewAlarm(alarm);
  if (changed.has(alarm.alarmNo)) return { alarmID, status: 200, error: null, alarm: view };
  return { alarmID, status: 422, error: itemError(refusalOf(alarm, target)), alarm: view };
}

const exampleMissing = {
  alarmID: '4713',
  status: 404,
  error: { code: 'not_found', detail: 'There is no alarm "4713"', hint: null },
  alarm: null,
};

const takeAlarms = operation({
  id: 'takeAlarms',
  method: 'POST',
  path: '/alarm/takealarms/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Take many alarms',
  description: `Our addition. Takes up to ${alarmLimits.atOnce} new alarms in one commit. ${each}`,
  params: Type.Object({}),
  body: Type.Object({ alarms: manyTargets }, strict),
  result,
  errors: ['not_found'],
  effects: true,
  examples: {
    body: { alarms: [{ alarmID: '4712', version: 1 }, { alarmID: '4713' }] },
    result: {
      done: 1,
      failed: 1,
      items: [{ alarmID: '4712', status: 200, error: null, alarm: exampleTaken }, exampleMissing],
    },
  },
  async run({ body, caller, source }, services) {
    const change = take(actorOf(caller), nowOf(services), false);
    return changeMany(services, { caller, source }, { targets: body.alarms, change });
  },
});

const closeAlarms = operation({
  id: 'closeAlarms',
  method: 'POST',
  path: '/alarm/closealarms/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Close many alarms',
  description: `Our addition. Closes up to ${alarmLimits.atOnce} alarms in one commit, with one reason and text. ${each}`,
  params: Type.Object({}),
  body: Type.Object({ alarms: manyTargets, ...closeMembers }, strict),
  result,
  errors: ['not_found'],
  effects: true,
  examples: {
    body: { alarms: [{ alarmID: '4712' }, { alarmID: '4713' }], reason: 'test' },
    result: {
      done: 1,
      failed: 1,
      items: [
        {
          alarmID: '4712',
          status: 200,
          error: null,
          alarm: {
            ...exampleTaken,
            version: 3,
            alarmState: 'closed',
            closed: 1763683300,
            closedBy: 'dispatch',
            closeReason: 'test',
          },
        },
        exampleMissing,
      ],
    },
  },
  async run({ body, caller, source }, services) {
    needReason(body);
    const { reason, text = '' } = body;
    const change = close(actorOf(caller), { reason, text, nowMs: nowOf(services) });
    const many = { targets: body.alarms, change, detail: { reason, text } };
    return changeMany(services, { caller, source }, many);
  },
});

export const manyAlarmsOperations = [takeAlarms, closeAlarms] as const;
