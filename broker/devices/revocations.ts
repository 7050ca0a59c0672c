// Closes MQTT connections whose login would be refused now: the secret was replaced, a certificate revoked or expired, the
// device deleted, the account suspended, expired or deleted, by whichever process. Every connection is compared with the database
// every two seconds, in slices, so that no notification of changes is needed.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Log } from '../../src/ports.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { MqttServer } from '../ports/mqtt-server.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { credentialsMost, credentialsOf, type DeviceCredential } from '../store/devices/credentials.ts';
import type { Login } from './device-login.ts';

export interface RevocationsOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly mqtt: Pick<MqttServer, 'connectedDevices' | 'connected' | 'kick'>;
  /** What a connection logged in with. */
  readonly loginOf: (connection: DeviceRef) => Login | undefined;
  /** What the operator allows an account, for each connection; null: the limit of the service. */
  readonly onAccountLimit?: (accountID: string, eventsPerS: number | null) => void;
}

const periodMs = 2000;

/** Why a connection must end, or null. */
function faultOf(
  credential: DeviceCredential | undefined,
  login: Login | undefined,
  nowMs: number,
): string | null {
  if (credential === undefined) return 'the device was deleted';
  if (!credential.isAccountActive) return 'its account is suspended, over or being deleted';
  if (login === undefined) return 'its credentials are unknown';
  const { secretHash, certificate } = login;
  if (secretHash !== null && credential.secretHash !== secretHash) return 'its secret was replaced';
  if (certificate === null) return null;
  // Perhaps that of another unit, or an older one: with its own the device is back at once.
  if (certificate.changes !== credential.certificateChanges) return 'a certificate of the device was revoked';
  return certificate.untilMs <= nowMs ? 'its certificate has expired' : null;
}

async function closeRevoked({ db, clock, mqtt, loginOf, onAccountLimit }: RevocationsOptions): Promise<void> {
  const connections = mqtt.connectedDevices();
  for (let at = 0; at < connections.length; at += credentialsMost) {
    const slice = connections.slice(at, at + credentialsMost);
    const nowMs = clock.utcMs();
    const numbers = slice.map(({ deviceNo }) => deviceNo);
    const found = await credentialsOf(db, numbers, Math.floor(nowMs / 1000));
    for (const connection of slice) {
      const credential = found.get(connection.deviceNo);
      if (credential !== undefined) onAccountLimit?.(connection.accountID, credential.accountEventsPerS);
      const fault = faultOf(credential, loginOf(connection), nowMs);
      // A newer connection of the same device was let in meanwhile, on what holds now.
      if (fault !== null && mqtt.connected(connection) === connection) mqtt.kick(connection, fault);
    }
  }
}

/** @returns stops it. */
export function watchRevocations(options: RevocationsOptions): Cancel {
  const { clock, log } = options;
  const run = async (): Promise<number> => {
    await closeRevoked(options).catch((thrown: unknown) => {
      log.error('revocation_check_failed', { reason: messageOf(thrown) });
    });
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: periodMs, run });
  return () => void task.close();
}
