// The agent process of a vehicle that has neither board, receiver nor broker: for what it reads from one further port.
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { askUnixSocket } from '../../../agent/adapters/unix-http.ts';
import { writeAgentConfig } from './fleet-processes.ts';

const socketOf = (folder: string): string => join(folder, 'agent.sock');

/** Writes its configuration. @param tables further tables, as TOML. @returns the path of the file. */
export function writeLoneConfig(folder: string, tables: string): string {
  const publicKey = generateKeyPairSync('ed25519')
    .publicKey.export({ format: 'der', type: 'spki' })
    .subarray(-32);
  const config = writeAgentConfig({
    folder,
    secret: 'a-secret-of-a-vehicle-that-is-not-enrolled',
    publicKey: publicKey.toString('base64'),
    mqttPort: 1,
    boardPort: join(folder, 'no-board'),
    gnssPort: join(folder, 'no-receiver'),
  });
  appendFileSync(config, `[local]\nsocket = "${socketOf(folder)}"\n${tables}`);
  return config;
}

/** The text of its status, as JSON. */
export const loneStatus = async (folder: string): Promise<string> =>
  (await askUnixSocket(socketOf(folder), { method: 'GET', path: '/status' })).body;
