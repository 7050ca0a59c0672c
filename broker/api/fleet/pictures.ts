// The pictures of all accounts: made at the first request of an account, the least recently used evicted first.
import type { Clock, Database } from '../../../src/ports.ts';
import type { FleetPictures, PictureCaller } from '../../ports/fleet-pictures.ts';
import { deviceRevision } from '../../store/devices/fleet.ts';
import { findDetails } from '../devices/device-details.ts';
import { AccountPicture } from './account-picture.ts';
import { deviceJson, deviceOfView } from './device-json.ts';
import { NoPicture } from './no-picture.ts';
import { createUnchangedAnswers } from './unchanged-answers.ts';

/** Bytes of JSON of all accounts: some 120,000 devices. */
const bytesDefault = 256 * 2 ** 20;
/** Single devices that are held besides the pictures. */
const singlesMost = 10_000;

interface Single {
  readonly revision: number;
  readonly json: Buffer;
}

/** A fleet that is too large is not tried again for this long. */
const tooLargeMs = 600_000;

export interface FleetPicturesOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Most bytes of JSON held for all accounts; an account gets half of it at most. */
  readonly bytesMost?: number | undefined;
}

export function createFleetPictures({
  db,
  clock,
  bytesMost = bytesDefault,
}: FleetPicturesOptions): FleetPictures {
  /** When an account was found too large, by `monoMs`. */
  const tooLarge = new Map<string, number>();
  /** In the order of use, the most recently used last. */
  const pictures = new Map<string, AccountPicture>();
  const singles = new Map<number, Single>();
  const unchanged = createUnchangedAnswers();

  function pictureOf(accountID: string): AccountPicture {
    const picture = pictures.get(accountID) ?? new AccountPicture(db, accountID, bytesMost / 2);
    pictures.delete(accountID);
    pictures.set(accountID, picture);
    return picture;
  }

  function makeRoom(): void {
    let bytes = 0;
    for (const picture of pictures.values()) bytes += picture.bytes;
    for (const [accountID, picture] of pictures) {
      if (bytes <= bytesMost || pictures.size === 1) return;
      bytes -= picture.bytes;
      pictures.delete(accountID);
    }
  }

  async function unlessTooLarge<T>(
    { scope }: PictureCaller,
    ask: (picture: AccountPicture) => Promise<T>,
  ): Promise<T | null> {
    const { accountID } = scope;
    const sinceMs = tooLarge.get(accountID);
    if (sinceMs !== undefined && clock.monoMs() - sinceMs < tooLargeMs) return null;
    tooLarge.delete(accountID);
    try {
      const answer = await ask(pictureOf(accountID));
      makeRoom();
      return answer;
    } catch (thrown) {
      pictures.delete(accountID);
      if (!(thrown instanceof NoPicture)) throw thrown;
      tooLarge.set(accountID, clock.monoMs());
      return null;
    }
  }

  async function readSingle(caller: PictureCaller, deviceID: string): Promise<Buffer | null> {
    const details = await findDetails(db, caller.scope, deviceID);
    if (details === null) return null;
    const { deviceNo, revision } = details.row;
    const json = deviceJson(details);
    singles.delete(deviceNo);
    singles.set(deviceNo, { revision, json });
    const [oldest] = singles.keys();
    if (singles.size > singlesMost && oldest !== undefined) singles.delete(oldest);
    return json;
  }

  return {
    part: (caller, range) => unlessTooLarge(caller, (picture) => picture.part(caller, range)),
    zones: (caller, mayUpdate) => unlessTooLarge(caller, (picture) => picture.zones(caller, mayUpdate)),
    unchanged: (caller, key, make) => unchanged.get(caller, key, make),
    device: (caller, deviceID, mayUpdate) =>
      unchanged.get(caller, `device ${deviceID} ${mayUpdate}`, async () => {
        const now = await deviceRevision(db, caller.scope, deviceID);
        if (now === null) return null;
        const known = singles.get(now.deviceNo);
        const json = known?.revision === now.revision ? known.json : await readSingle(caller, deviceID);
        return json === null ? null : deviceOfView(json, { mayUpdate, names: null });
      }),
  };
}
