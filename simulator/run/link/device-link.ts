// Connection options of a client as one of the simulator's devices.
import type { MqttLinkOptions } from '../../../src/ports.ts';

interface DeviceLogin {
  readonly url: string;
  readonly accountID: string;
  readonly deviceID: string;
  readonly secret: string;
  /** PEM of the authority to trust; absent: the system's list. */
  readonly ca?: string | null | undefined;
}

/** Options of the link of a device, with the will that its agent has. */
export function deviceLink({ url, accountID, deviceID, secret, ca }: DeviceLogin): MqttLinkOptions {
  const user = `${accountID}/${deviceID}`;
  return {
    url,
    clientId: user,
    username: user,
    password: secret,
    keepaliveS: 60,
    connectTimeoutMs: 10_000,
    will: { topic: `fleet/v1/${user}/presence`, payload: new TextEncoder().encode('offline'), qos: 1 },
    ...(ca === null || ca === undefined ? {} : { ca }),
  };
}
