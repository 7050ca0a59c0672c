// The shapes of alarms in requests and answers.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import {
  type Alarm,
  type AlarmView,
  alarmLimits,
  alarmStates,
  closeReasons,
  viewAlarm,
} from '../../core/alarms/alarm.ts';
import { alarmPriorities } from '../../core/notifications/alarm-kinds.ts';
import { findAlarm } from '../../store/alarms/alarms.ts';
import { alarmDelivery } from '../answers/delivery-view.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';
import { lineText } from '../base/input-members.ts';
import { count, envelope, epoch, numberOrDigits, ok, text } from '../base/shapes.ts';

const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const alarmMembers = {
  alarmID: text('Names the alarm; decimal text, grows with every alarm'),
  version: Type.Integer({
    minimum: 1,
    description: 'Grows with every change by people or by the service, not with repeated events',
  }),
  deviceID: text('The device'),
  deviceDisplayName: text('Name of the device; its id when it has none'),
  statusCode: Type.Integer({ description: 'Status code of its events' }),
  statusDescription: text('Text of the status code'),
  priority: Type.Enum([...alarmPriorities], { description: 'How urgent it is' }),
  alarmState: Type.Enum([...alarmStates], { description: 'Where it stands' }),
  owner: text('User who has it; empty without one'),
  opened: epoch('When the service opened it'),
  changed: epoch('Last change, repeated events included'),
  firstTaken: epoch('When it was taken for the first time; 0: never'),
  untakenSince: epoch('Since when it has waited for an owner; 0 unless it is new'),
  count: count('Events of its kind since it was opened'),
  firstEventID: text('Its first event'),
  firstTimestamp: epoch('When that happened on the vehicle'),
  lastEventID: text('Its newest event'),
  lastTimestamp: epoch('When that happened on the vehicle'),
  creationTime: epoch('When the service received the newest event'),
  isPositionValid: Type.Boolean({ description: 'False without a position' }),
  latitude: Type.Number({ description: 'Of the newest event; degrees, WGS 84; 0 without a position' }),
  longitude: Type.Number({ description: 'Of the newest event; degrees, WGS 84; 0 without a position' }),
  geozoneID: text('Geozone of the newest event; empty outside of all'),
  commandID: orNull('The command that the newest event reports on'),
  commandState: orNull('State of that command'),
  late: Type.Boolean({
    description: 'True when the newest event arrived more than 15 minutes after it happened',
  }),
  ended: epoch(
    'When the vehicle reported that the condition had ended; 0: it lasts, or nothing reports its end',
  ),
  shelvedUntil: epoch('When it comes back; 0 unless it is shelved'),
  shelvedBy: text('User who shelved it; empty unless it is shelved'),
  closed: epoch('When it was closed; 0 while it is open'),
  closedBy: text('User who closed it, `service` when it closed by itself; empty while it is open'),
  closeReason: text('Why it was closed; `ended` when it closed by itself; empty while it is open'),
  note: text('The newest note, or the text of shelving or closing'),
  notes: count('How many notes it has'),
  escalations: count('How often a rule has escalated it'),
  escalated: epoch('When a rule escalated it last; 0: never'),
} as const;

/** An alarm as lists, changes and the live stream give it. */
export const alarmRecord = Type.Object(alarmMembers);
export const alarmAnswer = Type.Object({ ...alarmMembers, ...envelope });

const activity = Type.Object({
  at: epoch('When'),
  actor: text('User who did it; `service`: the service itself'),
  action: text(
    '`take`, `release`, `assign`, `shelve`, `unshelve`, `close`, `note`, `escalate`, or `removed_owner` when its owner could no longer handle it',
  ),
  other: text(
    'The new owner, the removed owner, the rule that escalated it, or the reason of closing; else empty',
  ),
  text: text('The note, or why; may be empty'),
});

const escalationAhead = Type.Object({
  at: epoch('When, unless it is taken before'),
  ruleDisplayName: text('The rule'),
  userIDs: Type.Array(Type.String(), {
    description: 'Users whose push registrations it notifies; empty: all users, or none by push',
  }),
});
/** An object or null without a union, which code generators cannot use. */
const nextEscalation = Type.Unsafe<Static<typeof escalationAhead> | null>({
  ...escalationAhead,
  type: ['object', 'null'],
  description: 'The next rule that will escalate it; null: none will',
});

/** An alarm with what was done with it. */
export const alarmDetail = Type.Object({
  ...alarmMembers,
  activity: Type.Array(activity, {
    description: `What was done with it, oldest first: all notes and the newest ${alarmLimits.activity} changes`,
  }),
  events: Type.Array(
    Type.Object({ eventID: text('The event'), timestamp: epoch('When it happened on the vehicle') }),
    { description: `Its events, newest first, at most ${alarmLimits.events}` },
  ),
  deliveries: Type.Array(alarmDelivery, {
    description: `To whom its events and escalations were sent by e-mail, push or webhook, newest first, at most ${alarmLimits.deliveries}; kept for 30 days`,
  }),
  nextEscalation,
  ...envelope,
});
export type AlarmDetail = Static<typeof alarmDetail>;

export const exampleAlarm: AlarmView = {
  alarmID: '4712',
  version: 1,
  deviceID: 'truck-17',
  deviceDisplayName: 'truck-17',
  statusCode: 63553,
  statusDescription: 'Panic',
  priority: 'critical',
  alarmState: 'new',
  owner: '',
  opened: 1763683201,
  changed: 1763683201,
  firstTaken: 0,
  untakenSince: 1763683201,
  count: 1,
  firstEventID: 'b1:2',
  firstTimestamp: 1763683200,
  lastEventID: 'b1:2',
  lastTimestamp: 1763683200,
  creationTime: 1763683201,
  isPositionValid: true,
  latitude: 43.65107,
  longitude: -79.34702,
  geozoneID: '',
  commandID: null,
  commandState: null,
  late: false,
  ended: 0,
  shelvedUntil: 0,
  shelvedBy: '',
  closed: 0,
  closedBy: '',
  closeReason: '',
  note: '',
  notes: 0,
  escalations: 0,
  escalated: 0,
};

/** The same after it was taken. */
export const exampleTaken: AlarmView = {
  ...exampleAlarm,
  version: 2,
  alarmState: 'taken',
  owner: 'dispatch',
  firstTaken: 1763683230,
  untakenSince: 0,
  changed: 1763683230,
};

/** The alarm that a change is about. */
export const targetMembers = {
  alarmID: numberOrDigits('The alarm'),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Change it only if it still has this `version`; whatever it has without it',
    }),
  ),
} as const;

export const alarmParams = Type.Object({
  alarmID: Type.String({ pattern: '^[0-9]{1,15}$', description: 'The alarm' }),
});

export const closeMembers = {
  reason: Type.Enum([...closeReasons], {
    description:
      '`resolved`: dealt with; `false_alarm`: nothing had happened; `expected`: known and harmless; `test`; `duplicate`: another alarm stands for it; `other`: needs a text',
  }),
  text: Type.Optional(lineText(alarmLimits.noteCharacters, 'What came of it')),
} as const;

export const viewAnswer = (alarm: Alarm) => ({ ...viewAlarm(alarm), ...ok });

export const nothingThere = (alarmID: string | number): AppError =>
  new AppError('not_found', `There is no alarm ${JSON.stringify(String(alarmID))}`);

/** @throws AppError `not_found`, also for an alarm of a device outside of the caller's scope. */
export async function needAlarm(
  services: ApiServices,
  caller: Caller,
  alarmID: string | number,
): Promise<Alarm> {
  const alarm = await findAlarm(services.db, caller.scope, Number(alarmID));
  if (alarm === null) throw nothingThere(alarmID);
  return alarm;
}
