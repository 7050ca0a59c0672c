// Creates the devices of a run and their secrets through the HTTP service, as an operator's own program would, and removes them
// again. Every run has device ids of its own, so that nothing of an earlier one can be taken for this one's.
import { AppError } from '../../src/core/errors.ts';
import type { Service } from './service.ts';

export interface Provisioned {
  readonly deviceID: string;
  readonly secret: string;
}

/** Lines of one file: the service takes 10,000 and 1 MiB. */
const linesMost = 5000;
const atOnce = 8;
/** A token is good for 30 requests a second. */
const devicesPerToken = 150;
const tokensMost = 16;

/** `sim-<run>-00001` ... */
export function deviceIDs(runID: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `sim-${runID}-${String(at + 1).padStart(5, '0')}`);
}

/** Runs `work` on all of them, some at once, and stops at the first that fails. */
export async function forAll<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  most = atOnce,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}

/**
 * Creates devices in bulk and issues each its secret.
 * @param onDone told how many have their secret.
 * @throws AppError with the service's words.
 */
export async function provision(
  service: Service,
  ids: readonly string[],
  onDone: (count: number) => void,
): Promise<readonly Provisioned[]> {
  await service.widen(Math.min(tokensMost, Math.ceil(ids.length / devicesPerToken)));
  for (let start = 0; start < ids.length; start += linesMost) {
    const lines = ids.slice(start, start + linesMost).map((id) => `${id},simulated vehicle`);
    const content = `deviceID,deviceDescription\r\n${lines.join('\r\n')}\r\n`;
    const text = { mediaType: 'text/csv', content };
    await service.call({ method: 'POST', path: '/device/import/authorization', text });
  }
  const secrets = new Map<string, string>();
  await forAll(ids, async (deviceID) => {
    const path = '/device/issuesecret/authorization';
    const { secret } = await service.call<{ secret: string }>({ method: 'POST', path, body: { deviceID } });
    secrets.set(deviceID, secret);
    onDone(secrets.size);
  });
  return ids.map((deviceID) => {
    const secret = secrets.get(deviceID);
    if (secret === undefined) throw new AppError('internal', `${deviceID} has no secret`);
    return { deviceID, secret };
  });
}

/** Deletes the devices with all that they reported; says which could not be. */
export async function removeDevices(service: Service, ids: readonly string[]): Promise<readonly string[]> {
  const kept: string[] = [];
  await forAll(ids, async (deviceID) => {
    const path = '/device/deletedevice/authorization';
    await service.call({ method: 'POST', path, body: { deviceID } }).catch(() => kept.push(deviceID));
  });
  return kept;
}
