// Finds the recorded inputs that lie beside the checkout and are not part of it. A test that needs them is skipped by
// name where they are missing:  describe.skipIf(missing(data))(sharedTitle('what it shows', 'nmea'), () => …)
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { checkout } from './checkout.ts';

const besideCheckout = new URL('../shared/data/', checkout);

/** URL of a file or folder of the shared data, null where it is not there. FLEETWARD_TEST_SHARED_DATA names another folder. */
export function sharedData(relative: string): URL | null {
  const named = process.env['FLEETWARD_TEST_SHARED_DATA'];
  const base = named === undefined || named === '' ? besideCheckout : pathToFileURL(`${named}/`);
  const url = new URL(relative, base);
  return existsSync(url) ? url : null;
}

/** The title of a test on shared data; says what is missing when it is skipped for that. */
export function sharedTitle(title: string, relative: string): string {
  return sharedData(relative) === null
    ? `${title} [skipped: ../shared/data/${relative} is not there]`
    : title;
}

/** The bytes of a shared file, unpacked if its name ends in .gz. Call it only where the file is there. */
export function readShared(relative: string): Uint8Array {
  const url = sharedData(relative);
  if (url === null) throw new Error(`no shared data: ${relative}`);
  const bytes = readFileSync(url);
  return relative.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}
