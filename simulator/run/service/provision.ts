// Creates the devices of a run and their secrets through the HTTP service, as an operator's program does, and deletes them again.
// Device ids are new for every run, so that no record of an earlier run is mistaken for one of this run.
import { AppError } from '../../../src/core/errors.ts';
import { countOf } from '../../core/text/number-text.ts';
import { forAll } from '../shared/for-all.ts';
import type { Service } from './service.ts';

export interface Provisioned {
  readonly deviceID: string;
  readonly secret: string;
}

/** Lines of one import; the limit of the service is 10,000 and 1 MiB. */
const linesMost = 5000;
/** A token may make 30 requests a second. */
const devicesPerToken = 150;
const tokensMost = 16;

/** `sim-<run>-00001` ... */
export function deviceIDs(runID: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `sim-${runID}-${String(at + 1).padStart(5, '0')}`);
}

/**
 * Creates devices in bulk and issues each its secret.
 * @param onDone called with the number of secrets so far.
 * @throws AppError with the error of the service.
 */
export async function provision(
  service: Service,
  ids: readonly string[],
  onDone: (count: number) => void,
): Promise<readonly Provisioned[]> {
  await service.addTokens(Math.min(tokensMost, Math.ceil(ids.length / devicesPerToken)));
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

/** Names of devices in a text; of more, the first and the last. */
const namesMost = 12;

/** Text for people: devices that a run leaves at a broker, and how to delete them. */
export function leftText(http: string, ids: readonly string[]): string {
  const names = ids.length > namesMost ? `${ids[0]} ... ${ids.at(-1)}` : ids.join(', ');
  return `${countOf(ids.length, 'device')} of the run may be left at ${http}: ${names}
  Delete them with POST /api/v1/device/deletedevices/authorization and {"deviceIDs":["${ids[0]}", ...]}, 100 at a time
`;
}

/** How long a deletion is retried, ms. */
const deleteRetryForMs = 10_000;

/** Deletes the devices and their records; gives up when the service is gone. @returns those that could not be deleted. */
export async function removeDevices(service: Service, ids: readonly string[]): Promise<readonly string[]> {
  const kept: string[] = [];
  let isGone = false;
  await forAll(ids, async (deviceID) => {
    const path = '/device/deletedevice/authorization';
    const call = { method: 'POST', path, body: { deviceID }, retryForMs: deleteRetryForMs } as const;
    if (isGone) return void kept.push(deviceID);
    await service.call(call).catch((thrown: unknown) => {
      const code = thrown instanceof AppError ? thrown.code : 'internal';
      isGone ||= code === 'unavailable';
      // A run that failed early has not created all of them.
      if (code !== 'not_found') kept.push(deviceID);
    });
  });
  return kept;
}
