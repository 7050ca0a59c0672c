// Messages both ways: a user's message reaches the unit once, a driver's the users once.
import type { VehicleNotes } from '../../core/ledger/ledger-types.ts';
import { createFindings, type Exercise, eventually, post, read } from './exercise.ts';

interface SentMessages {
  readonly messages: readonly { readonly message: string; readonly delivered: number }[];
}

interface DriverMessages {
  readonly messages: readonly {
    readonly messageNo: number;
    readonly deviceID: string;
    readonly message: string;
  }[];
}

const vehiclesMost = 2;
const toDrivers = 'Dock 4 is closed – go to dock 7 “north” 🚚';
const toUsers = 'Understood: dock 7, in ½ hour';

const timesIn = (texts: readonly string[], text: string): number =>
  texts.filter((one) => one === text).length;
const onceOr = (times: number, what: string): string | null =>
  times === 1 ? null : `${what}: ${times} times instead of once`;

export const exerciseMessages: Exercise = async (context) => {
  const { access, workers, vehicles, changes } = context;
  const { service, target } = access;
  const { look, outcome } = createFindings('messagesWrong');
  const ids = vehicles.slice(0, vehiclesMost).map(({ deviceID }) => deviceID);
  await post(service, '/notificationqueue/setMessages', { deviceIDs: ids, message: toDrivers });
  for (const object of ids) {
    changes.push({ userID: target.login.userID, action: 'message.send', object });
    workers.instruct({ kind: 'crew', deviceID: object, act: { kind: 'write', text: toUsers } });
  }
  for (const deviceID of ids) {
    const isDelivered = await eventually(context, async () => {
      const { messages } = await read<SentMessages>(service, `/notificationqueue/sentmessages/${deviceID}`);
      return messages.some(({ message, delivered }) => message === toDrivers && delivered > 0);
    });
    look(deviceID, isDelivered ? null : 'a message to its driver was not confirmed in time');
  }
  return async ({ ledger }) => {
    const of = (deviceID: string): VehicleNotes['crew'] | undefined => ledger.vehicles.get(deviceID)?.crew;
    const { messages } = await read<DriverMessages>(service, '/notificationqueue/getMessages');
    for (const deviceID of ids) {
      look(deviceID, onceOr(timesIn(of(deviceID)?.held ?? [], toDrivers), 'message at the unit'));
      const written = of(deviceID)?.written ?? [];
      const shown = messages.filter((one) => one.deviceID === deviceID).map(({ message }) => message);
      for (const text of written) look(deviceID, onceOr(timesIn(shown, text), 'message of the driver'));
      const more = shown.length > written.length;
      look(deviceID, more ? `${shown.length} messages of the driver, who wrote ${written.length}` : null);
    }
    const newest = Math.max(0, ...messages.map(({ messageNo }) => messageNo));
    await post(service, '/notificationqueue/readmessages', { upTo: newest });
    const left = await read<DriverMessages>(service, '/notificationqueue/getMessages');
    const words = `${left.messages.length} messages are shown as unread after they were read`;
    look(ids[0] ?? '', left.messages.length === 0 ? null : words);
    return outcome();
  };
};
