// Reads devices of an account from the store, as bytes of JSON.
import type { Database } from '../../../src/ports.ts';
import { wholeAccount } from '../../store/base/scope.ts';
import { listDetails } from '../devices/device-details.ts';
import { deviceJson } from './device-json.ts';
import type { Fragment } from './fragments.ts';

/** The devices that changed after a revision, page by page; null: all. */
export async function* readFragments(
  db: Database,
  accountID: string,
  since: number | null,
): AsyncGenerator<readonly Fragment[]> {
  for await (const page of listDetails(db, wholeAccount(accountID), { after: '', since })) {
    yield page.map((details) => {
      const { deviceNo, deviceID, revision } = details.row;
      return { deviceNo, deviceID, revision, json: deviceJson(details) };
    });
  }
}
