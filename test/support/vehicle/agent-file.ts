// A configuration file of the agent with what each vehicle needs, for tests of single tables.
import { agentFileSchema } from '../../../agent/config.ts';
import { loadConfig } from '../../../src/config.ts';

/** The file as it was read. @param tables further tables, as TOML. */
export function agentFileOf(tables: string) {
  const text = `
[device]
account = "acme"
id = "truck-1"
[broker]
secretFile = "/run/secret"
publicKey = "${'A'.repeat(43)}="
[board]
profile = "waveshare-relay-d"
port = "/dev/fleet-board"
[gnss]
port = "/dev/fleet-gnss"
${tables}`;
  return loadConfig({ schema: agentFileSchema, file: { path: 'agent.toml', text }, env: {}, flags: null })
    .value;
}

/** What `toAgentConfig` takes beside the file. */
export const givenOfMachine = { secret: 'x', agentVersion: '0.0.0', hardwareID: '' } as const;
