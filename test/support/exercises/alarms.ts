// Alerts that a person records, and what users do with the alarms that come of them.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { area, type Bench, createOwnDevice, mustRefuse, mustShow, userIDs } from './bench.ts';

const codes = [
  statusCodes.PANIC_ON.code,
  statusCodes.TAMPER_ON.code,
  statusCodes.TOWING_START.code,
  statusCodes.FUEL_REFILL.code,
];
const shelvedS = 600;

interface Alarm {
  readonly alarmID: string;
  readonly statusCode: number;
  readonly version: number;
}

interface State {
  readonly deviceID: string;
  /** In the order of `codes`. */
  alarmIDs: readonly string[];
}

const { operator, second, viewer } = userIDs;
const readAlarm = (bench: Bench, alarmID: string): Promise<Alarm> =>
  bench.read<Alarm>(`/alarm/alarm/${alarmID}`, 'viewer');

/** Compares an alarm as another user reads it. */
async function mustStand(bench: Bench, alarmID: string, wanted: Readonly<Record<string, unknown>>) {
  mustShow(bench, 'an alarm', { shown: await readAlarm(bench, alarmID), wanted });
}

export const alarms = area<State>(
  async (bench) => ({ deviceID: await createOwnDevice(bench, 'operations-alarm'), alarmIDs: [] }),
  [
    {
      operation: 'createActivation',
      async run(bench, state) {
        const { deviceID } = state;
        const raise = { as: 'operator', params: { deviceID, statusCode: '' } } as const;
        const withCode = (code: number) => ({ ...raise, params: { deviceID, statusCode: String(code) } });
        for (const code of codes) await bench.call('createActivation', withCode(code));
        bench.changed('event.create', deviceID, 'operator');
        const { eventdata } = await bench.read<{ eventdata: { devices: readonly Alarm[] } }>(
          `/device/getdeviceactivations/${deviceID}`,
        );
        const shown = eventdata.devices.map(({ statusCode }) => statusCode);
        const isWhole = codes.every((code) => shown.filter((one) => one === code).length === 1);
        bench.look(isWhole, `recorded alerts are listed as ${shown.join(', ')}`);
        const position = withCode(statusCodes.LOCATION.code);
        await mustRefuse(bench, 'createActivation', { ...position, code: 'invalid_content' });
        const ofViewer = { ...withCode(codes[0] ?? 0), as: 'viewer', code: 'forbidden' } as const;
        await mustRefuse(bench, 'createActivation', ofViewer);
        let open: readonly Alarm[] = [];
        const isRaised = await bench.eventually(async () => {
          const path = `/alarm/alarms?deviceID=${deviceID}`;
          open = (await bench.read<{ alarms: readonly Alarm[] }>(path)).alarms;
          return codes.every((code) => open.some(({ statusCode }) => statusCode === code));
        });
        bench.look(isRaised, 'alerts raised no alarms in time');
        state.alarmIDs = codes.map(
          (code) => open.find(({ statusCode }) => statusCode === code)?.alarmID ?? '0',
        );
      },
    },
    {
      operation: 'takeAlarm',
      async run(bench, { alarmIDs: [alarmID = ''] }) {
        const { version } = await readAlarm(bench, alarmID);
        await bench.call('takeAlarm', { as: 'operator', body: { alarmID, version } });
        bench.changed('alarm.take', alarmID, 'operator');
        await mustStand(bench, alarmID, { alarmState: 'taken', owner: operator });
        await mustRefuse(bench, 'takeAlarm', { as: 'second', body: { alarmID }, code: 'conflict' });
        await mustRefuse(bench, 'takeAlarm', { as: 'viewer', body: { alarmID }, code: 'forbidden' });
      },
    },
    {
      operation: 'releaseAlarm',
      async run(bench, { alarmIDs: [alarmID = ''] }) {
        await bench.call('releaseAlarm', { as: 'operator', body: { alarmID } });
        bench.changed('alarm.release', alarmID, 'operator');
        await mustStand(bench, alarmID, { alarmState: 'new', owner: '' });
        await mustRefuse(bench, 'releaseAlarm', { as: 'operator', body: { alarmID }, code: 'conflict' });
      },
    },
    {
      operation: 'assignAlarm',
      async run(bench, { alarmIDs: [alarmID = ''] }) {
        // A viewer may handle no alarm.
        await mustRefuse(bench, 'assignAlarm', { body: { alarmID, userID: viewer }, code: 'conflict' });
        await bench.call('assignAlarm', { body: { alarmID, userID: second } });
        bench.changed('alarm.assign', alarmID);
        await mustStand(bench, alarmID, { alarmState: 'taken', owner: second });
      },
    },
    {
      operation: 'shelveAlarm',
      async run(bench, { alarmIDs: [alarmID = ''] }) {
        const until = bench.nowS() + shelvedS;
        const body = { alarmID, until, text: 'Unit in repair' };
        await mustRefuse(bench, 'shelveAlarm', { as: 'operator', body, code: 'conflict' });
        await bench.call('shelveAlarm', { as: 'second', body });
        bench.changed('alarm.shelve', alarmID, 'second');
        const wanted = { alarmState: 'shelved', shelvedUntil: until, shelvedBy: second, note: body.text };
        await mustStand(bench, alarmID, wanted);
      },
    },
    {
      operation: 'unshelveAlarm',
      async run(bench, { alarmIDs: [alarmID = ''] }) {
        await bench.call('unshelveAlarm', { as: 'operator', body: { alarmID } });
        bench.changed('alarm.unshelve', alarmID, 'operator');
        await mustStand(bench, alarmID, { alarmState: 'taken', owner: second, shelvedUntil: 0 });
        await mustRefuse(bench, 'unshelveAlarm', { as: 'operator', body: { alarmID }, code: 'conflict' });
      },
    },
    {
      operation: 'addAlarmNote',
      async run(bench, { alarmIDs: [alarmID = ''] }) {
        const { version } = await readAlarm(bench, alarmID);
        const text = 'Driver called, no answer';
        await bench.call('addAlarmNote', { as: 'operator', body: { alarmID, version, text } });
        bench.changed('alarm.note', alarmID, 'operator');
        await mustStand(bench, alarmID, { notes: 1, note: text, owner: second });
        const late = { alarmID, version, text };
        await mustRefuse(bench, 'addAlarmNote', { as: 'operator', body: late, code: 'conflict' });
      },
    },
    {
      operation: 'closeAlarm',
      async run(bench, { alarmIDs: [alarmID = ''] }) {
        const body = { alarmID, reason: 'false_alarm', text: 'Pressed by mistake' };
        await mustRefuse(bench, 'closeAlarm', { as: 'operator', body, code: 'conflict' });
        await bench.call('closeAlarm', { as: 'second', body });
        bench.changed('alarm.close', alarmID, 'second');
        const wanted = { alarmState: 'closed', closedBy: second, closeReason: 'false_alarm' };
        await mustStand(bench, alarmID, wanted);
        await mustRefuse(bench, 'closeAlarm', { as: 'second', body, code: 'conflict' });
      },
    },
    {
      operation: 'takeAlarms',
      async run(bench, { alarmIDs: [, ...rest] }) {
        const all = [...rest, '999999999'].map((alarmID) => ({ alarmID }));
        const answer = await bench.call<object>('takeAlarms', { as: 'operator', body: { alarms: all } });
        mustShow(bench, 'alarms that were taken', {
          shown: answer,
          wanted: { done: rest.length, failed: 1 },
        });
        for (const alarmID of rest) {
          bench.changed('alarm.take', alarmID, 'operator');
          await mustStand(bench, alarmID, { alarmState: 'taken', owner: operator });
        }
      },
    },
    {
      operation: 'closeAlarms',
      async run(bench, { alarmIDs: [, ...rest] }) {
        const body = { alarms: rest.map((alarmID) => ({ alarmID })), reason: 'test' };
        await mustRefuse(bench, 'closeAlarms', { as: 'viewer', body, code: 'forbidden' });
        await bench.call('closeAlarms', { as: 'operator', body });
        for (const alarmID of rest) {
          bench.changed('alarm.close', alarmID, 'operator');
          await mustStand(bench, alarmID, { alarmState: 'closed', closedBy: operator, closeReason: 'test' });
        }
        const none = { alarms: [{ alarmID: '999999999' }], reason: 'test' };
        await mustRefuse(bench, 'closeAlarms', { body: none, code: 'not_found' });
      },
    },
  ],
);
