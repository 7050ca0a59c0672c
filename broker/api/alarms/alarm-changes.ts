// Operations on one alarm: take, release, assign, shelve, close, add a note.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { alarmLimits } from '../../core/alarms/alarm.ts';
import { addNote, assign, close, release, shelve, take, unshelve } from '../../store/alarms/alarm-changes.ts';
import { invalidAt, lineText } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { actorOf, changeOne, needReason, nowOf } from './alarm-handling.ts';
import {
  alarmAnswer,
  closeMembers,
  exampleAlarm,
  exampleTaken,
  needAlarm,
  targetMembers,
  viewAnswer,
} from './alarm-shapes.ts';

const strict = { additionalProperties: false } as const;

const common = `The answer is the alarm as it is then. With \`version\` the call changes it only if it was not changed since it was
read; repeated events do not count. What does not fit where the alarm stands answers 422 \`conflict\`, which says who has it.`;

const takeAlarm = operation({
  id: 'takeAlarm',
  method: 'POST',
  path: '/alarm/take/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Take an alarm',
  description: `Our addition. Makes the caller the owner of a new alarm: of two users at once one has it, and the error of the other names the owner. An alarm that
the caller has already stays as it is. With \`takeOver\` it is taken from the user who has it; that needs \`version\`. ${common}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      ...targetMembers,
      takeOver: Type.Optional(
        Type.Boolean({ description: 'True: also from another user; needs `version`; false without it' }),
      ),
    },
    strict,
  ),
  result: alarmAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { alarmID: '4712', version: 1 }, result: exampleTaken },
  async run({ body, caller, source }, services) {
    const { takeOver = false } = body;
    if (takeOver && body.version === undefined) {
      throw invalidAt('/version', 'is required with takeOver');
    }
    const alarm = await needAlarm(services, caller, body.alarmID);
    if (alarm.state === 'taken' && alarm.owner === caller.userID) return viewAnswer(alarm);
    const change = take(actorOf(caller), nowOf(services), takeOver);
    const detail = takeOver ? { from: alarm.owner } : {};
    return changeOne(services, { caller, source }, { target: body, change, detail });
  },
});

const releaseAlarm = operation({
  id: 'releaseAlarm',
  method: 'POST',
  path: '/alarm/release/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Give an alarm back',
  description: `Our addition. Puts an alarm that the caller has, for administrators any that is taken, back into the queue: it is new, and rules
escalate it again from now. ${common}`,
  params: Type.Object({}),
  body: Type.Object(targetMembers, strict),
  result: alarmAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    body: { alarmID: '4712' },
    result: { ...exampleAlarm, version: 3, changed: 1763683300, untakenSince: 1763683300 },
  },
  async run({ body, caller, source }, services) {
    const change = release(actorOf(caller), nowOf(services));
    return changeOne(services, { caller, source }, { target: body, change });
  },
});

const assignAlarm = operation({
  id: 'assignAlarm',
  method: 'POST',
  path: '/alarm/assign/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Give an alarm to another user',
  description: `Our addition. Makes \`userID\` the owner of a new alarm, or of one that the caller has (for administrators of any that is taken). The
user must be an active operator or administrator who sees the device; otherwise 422. ${common}`,
  params: Type.Object({}),
  body: Type.Object(
    { ...targetMembers, userID: Type.String({ minLength: 1, maxLength: 64, description: 'The new owner' }) },
    strict,
  ),
  result: alarmAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { alarmID: '4712', userID: 'dispatch' }, result: exampleTaken },
  async run({ body, caller, source }, services) {
    const change = assign(actorOf(caller), nowOf(services), body.userID);
    const detail = { to: body.userID };
    return changeOne(services, { caller, source }, { target: body, change, detail }).catch(
      (thrown: unknown) => {
        if (!(thrown instanceof AppError) || thrown.code !== 'conflict') throw thrown;
        throw new AppError('conflict', thrown.message, {
          hint: `${thrown.hint ?? ''} Or ${JSON.stringify(body.userID)} has it already, or is no active operator or administrator who sees the device.`,
        });
      },
    );
  },
});

const shelveAlarm = operation({
  id: 'shelveAlarm',
  method: 'POST',
  path: '/alarm/shelve/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Put an alarm on the shelf for some time',
  description: `Our addition. Takes a new alarm, one that the caller has, or one that is shelved already out of the queue until \`until\`, at most ${alarmLimits.shelvedS / 3600}
hours from now, with a text that says why. Then it comes back by itself: to its owner, or new. Events of its kind only count
meanwhile; of a critical alarm the next one brings it back at once. ${common}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      ...targetMembers,
      until: Type.Integer({ minimum: 0, description: 'When it comes back (epoch seconds)' }),
      text: Type.String({ ...lineText(alarmLimits.noteCharacters, 'Why'), minLength: 1 }),
    },
    strict,
  ),
  result: alarmAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    body: { alarmID: '4712', until: 1763686800, text: 'Unit in repair' },
    result: {
      ...exampleAlarm,
      version: 2,
      alarmState: 'shelved',
      untakenSince: 0,
      changed: 1763683230,
      shelvedUntil: 1763686800,
      shelvedBy: 'dispatch',
      note: 'Unit in repair',
    },
  },
  async run({ body, caller, source }, services) {
    const nowS = nowOf(services) / 1000;
    if (body.until <= nowS || body.until > nowS + alarmLimits.shelvedS) {
      const message = `must lie within the next ${alarmLimits.shelvedS / 3600} hours`;
      throw invalidAt('/until', message);
    }
    const { until, text } = body;
    const change = shelve(actorOf(caller), { untilMs: until * 1000, text });
    return changeOne(services, { caller, source }, { target: body, change, detail: { until, text } });
  },
});

const unshelveAlarm = operation({
  id: 'unshelveAlarm',
  method: 'POST',
  path: '/alarm/unshelve/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Take an alarm from the shelf',
  description: `Our addition. Brings a shelved alarm back before its time: to its owner, or new. ${common}`,
  params: Type.Object({}),
  body: Type.Object(targetMembers, strict),
  result: alarmAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    body: { alarmID: '4712' },
    result: { ...exampleAlarm, version: 3, changed: 1763683300, untakenSince: 1763683300 },
  },
  async run({ body, caller, source }, services) {
    return changeOne(services, { caller, source }, { target: body, change: unshelve(nowOf(services)) });
  },
});

const closeAlarm = operation({
  id: 'closeAlarm',
  method: 'POST',
  path: '/alarm/close/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Close an alarm',
  description: `Our addition. Closes an alarm that is new, shelved, or the caller's own (for administrators any), with a reason. It stays closed: the next
event of its kind raises another. ${common}`,
  params: Type.Object({}),
  body: Type.Object({ ...targetMembers, ...closeMembers }, strict),
  result: alarmAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    body: { alarmID: '4712', reason: 'false_alarm', text: 'Pressed by mistake, driver called' },
    result: {
      ...exampleTaken,
      version: 3,
      alarmState: 'closed',
      changed: 1763683300,
      closed: 1763683300,
      closedBy: 'dispatch',
      closeReason: 'false_alarm',
      note: 'Pressed by mistake, driver called',
    },
  },
  async run({ body, caller, source }, services) {
    needReason(body);
    const { reason, text = '' } = body;
    const change = close(actorOf(caller), { reason, text, nowMs: nowOf(services) });
    return changeOne(services, { caller, source }, { target: body, change, detail: { reason, text } });
  },
});

const addAlarmNote = operation({
  id: 'addAlarmNote',
  method: 'POST',
  path: '/alarm/addnote/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Alarms',
  summary: 'Add a note to an alarm',
  description: `Our addition. Adds a note, also to an alarm that another user has or that is closed; at most ${alarmLimits.notes} of an alarm. A note cannot be changed or
removed. ${common}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      ...targetMembers,
      text: Type.String({ ...lineText(alarmLimits.noteCharacters, 'The note'), minLength: 1 }),
    },
    strict,
  ),
  result: alarmAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    body: { alarmID: '4712', text: 'Driver called, no answer' },
    result: { ...exampleTaken, version: 3, note: 'Driver called, no answer', notes: 1 },
  },
  async run({ body, caller, source }, services) {
    const { text } = body;
    return changeOne(services, { caller, source }, { target: body, change: addNote(text), detail: { text } });
  },
});

export const alarmChangeOperations = [
  takeAlarm,
  releaseAlarm,
  assignAlarm,
  shelveAlarm,
  unshelveAlarm,
  closeAlarm,
  addAlarmNote,
] as const;
