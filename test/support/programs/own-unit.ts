// A unit of its own beside the simulated fleet of a demo, which reports exactly what a test says.
import { connectPacket, connectRaw, publishPacket } from '../mqtt/raw-mqtt.ts';
import type { DemoProgram } from './demo-program.ts';

export interface OwnUnit {
  /** Reports one event; resolves once it is stored. */
  report(event: { readonly statusCode: number } & Readonly<Record<string, unknown>>): Promise<void>;
  end(): void;
}

/** Makes the device, with a secret, and connects. @param token of an administrator. */
export async function connectOwnUnit(demo: DemoProgram, token: string, deviceID: string): Promise<OwnUnit> {
  await demo.call('device/createdevice/authorization', { token, body: { deviceID } });
  const { username, secret } = await demo.call('device/issuesecret/authorization', {
    token,
    body: { deviceID },
  });
  const client = await connectRaw(demo.ports[1]);
  client.send(connectPacket(String(username), String(secret)));
  const { returnCode } = await client.next('connack');
  if (returnCode !== 0) throw new Error(`CONNACK ${returnCode}`);
  let sent = 0;
  let lastS = 0;
  return {
    async report(event) {
      sent += 1;
      // No two at one second: what is newest goes by the time of the event.
      const timestamp = Math.max(Math.floor(Date.now() / 1000), lastS + 1);
      lastS = timestamp;
      client.send(
        publishPacket(`fleet/v1/${String(username)}/events`, JSON.stringify({ timestamp, ...event }), sent),
      );
      await client.next('puback');
    },
    end: () => client.end(),
  };
}
