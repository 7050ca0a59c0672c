// Checks that the broker accepts a client as a device and keeps it.
import type { MqttLink } from '../../../src/ports.ts';
import type { Target } from '../service/broker-access.ts';
import type { Provisioned } from '../service/provision.ts';
import type { RunPorts } from '../shared/run-ports.ts';
import { deviceLink } from './device-link.ts';

const patienceMs = 15_000;

export interface DeviceLogin {
  /** False: it was refused, or there was no answer in time. */
  readonly isIn: boolean;
  /** Whether its connection has ended. */
  isOver(): boolean;
  close(): void;
}

/** Connects as a device with a secret. */
export function logInAsDevice(
  ports: RunPorts,
  { mqtt: url, ca, login }: Target,
  { deviceID, secret }: Provisioned,
): Promise<DeviceLogin> {
  let isOver = false;
  return new Promise((done) => {
    let link: MqttLink | null = null;
    const end = (isIn: boolean): void => {
      cancel();
      done({ isIn, isOver: () => isOver, close: () => void link?.close() });
      if (!isIn) void link?.close();
    };
    const cancel = ports.clock.after(patienceMs, () => end(false));
    link = ports.openMqttLink(deviceLink({ url, ca, accountID: login.accountID, deviceID, secret }), {
      onUp: () => end(true),
      onMessage: () => undefined,
      onDown() {
        isOver = true;
        end(false);
      },
    });
  });
}
