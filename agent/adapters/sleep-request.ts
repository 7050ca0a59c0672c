// Asks for a suspend of the machine: a file beside the local socket with the seconds until it is to wake. The agent has no right to suspend; a unit of
// the service manager that watches for the file has (systemd/fleetward-agent-sleep.path), if it was enabled.
import { rename, writeFile } from 'node:fs/promises';

/** Path in the service's RuntimeDirectory; a stop of the service removes both. */
export const standardSleepRequest = '/run/fleetward-agent/sleep';

/** Writes the request, whole or not at all. Rejects where there is no such folder. */
export async function requestSleep(seconds: number, path = standardSleepRequest): Promise<void> {
  await writeFile(`${path}.new`, `${Math.round(seconds)}\n`);
  await rename(`${path}.new`, path);
}
