// What takes publishes, for tests that say with a promise what becomes of one.

import { completed, completeWith } from '../../../broker/core/completion.ts';
import type { MqttServerOptions, Uplink } from '../../../broker/ports/mqtt-server.ts';
import type { DeviceRef } from '../../../broker/store/devices/devices.ts';

type OnUplink = MqttServerOptions['onUplink'];

/** Resolves when the publish may be acknowledged. */
export type TakeUplink = (device: DeviceRef, message: Uplink) => Promise<void>;

/** As a server wants it. */
export const takenBy =
  (take: TakeUplink): OnUplink =>
  (device, message, completion) =>
    completeWith(completion, () => take(device, message));

/** The other way round. */
export const promisedBy =
  (onUplink: OnUplink): TakeUplink =>
  (device, message) =>
    completed((completion) => onUplink(device, message, completion));
