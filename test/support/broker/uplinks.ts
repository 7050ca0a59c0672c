// Handlers of publishes for tests that report the outcome by a promise.

import { completed, completeWith } from '../../../broker/core/completion.ts';
import type { DeviceRef } from '../../../broker/core/device-key.ts';
import type { MqttServerOptions, Uplink } from '../../../broker/ports/mqtt-server.ts';

type OnUplink = MqttServerOptions['onUplink'];

/** Resolves when the publish may be acknowledged. */
export type HandleUplink = (device: DeviceRef, message: Uplink) => Promise<void>;

/** The handler as `MqttServerOptions` has it. */
export const onUplinkOf =
  (take: HandleUplink): OnUplink =>
  (device, message, completion) =>
    completeWith(completion, () => take(device, message));

/** The same as a promise. */
export const handleUplinkOf =
  (onUplink: OnUplink): HandleUplink =>
  (device, message) =>
    completed((completion) => onUplink(device, message, completion));
