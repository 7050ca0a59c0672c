// Ends live MQTT connections that would no longer be let in: the secret was replaced, the device deleted, the account
// suspended, over or deleted, whichever process did it. Every connection is compared with the database every two seconds,
// in slices, so that nothing has to tell this process what changed.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Log } from '../../src/ports.ts';
import type { MqttServer } from '../mqtt-server.ts';
import { createRounds } from '../rounds.ts';
import { credentialsMost, credentialsOf, type DeviceCredential } from '../store/credentials.ts';
import type { DeviceRef } from '../store/devices.ts';

export interface RevocationsOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly mqtt: Pick<MqttServer, 'connectedDevices' | 'connected' | 'kick'>;
  /** Hash of the secret that a connection logged in with. */
  readonly hashOf: (connection: DeviceRef) => string | undefined;
}

const periodMs = 2000;

/** Why a connection must end, or null. */
function faultOf(credential: DeviceCredential | undefined, hash: string | undefined): string | null {
  if (credential === undefined) return 'the device was deleted';
  if (!credential.isAccountActive) return 'its account is suspended, over or being deleted';
  return credential.secretHash === hash ? null : 'its secret was replaced';
}

async function look({ db, clock, mqtt, hashOf }: RevocationsOptions): Promise<void> {
  const connections = mqtt.connectedDevices();
  for (let at = 0; at < connections.length; at += credentialsMost) {
    const slice = connections.slice(at, at + credentialsMost);
    const nowS = Math.floor(clock.utcMs() / 1000);
    const numbers = slice.map(({ deviceNo }) => deviceNo);
    const found = await credentialsOf(db, numbers, nowS);
    for (const connection of slice) {
      const fault = faultOf(found.get(connection.deviceNo), hashOf(connection));
      // A newer connection of the same device was let in meanwhile, on what holds now.
      if (fault !== null && mqtt.connected(connection) === connection) mqtt.kick(connection, fault);
    }
  }
}

/** Starts to look; gives the way to stop. */
export function watchRevocations(options: RevocationsOptions): Cancel {
  const { clock, log } = options;
  const run = async (): Promise<number> => {
    await look(options).catch((thrown: unknown) => {
      log.error('revocations not read', { reason: messageOf(thrown) });
    });
    return periodMs;
  };
  const rounds = createRounds({ clock, firstMs: periodMs, run });
  return () => void rounds.close();
}
