// What takes publishes, for tests that say with a promise what becomes of one.

import { answerBy, answered } from '../../broker/ingest/uplink-answer.ts';
import type { MqttServerOptions, Uplink } from '../../broker/mqtt-server.ts';
import type { DeviceRef } from '../../broker/store/devices.ts';

type OnUplink = MqttServerOptions['onUplink'];

/** Resolves when the publish may be acknowledged. */
export type TakeUplink = (device: DeviceRef, message: Uplink) => Promise<void>;

/** As a server wants it. */
export const takenBy =
  (take: TakeUplink): OnUplink =>
  (device, message, answer) =>
    answerBy(answer, () => take(device, message));

/** The other way round. */
export const promisedBy =
  (onUplink: OnUplink): TakeUplink =>
  (device, message) =>
    answered((answer) => onUplink(device, message, answer));
