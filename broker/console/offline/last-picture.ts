// The picture that may be shown on this device now: that of the session of this tab, or without one that of the last signed-in user.

import { readPicture } from '../service/offline/picture-store.ts';
import { deviceOwnerKey, removePicture, session } from '../service/session.ts';
import { isSameOwner, type Picture, parseDeviceOwner, shownPicture } from '../state/offline/picture.ts';

/** What may not be shown, or is too old, is removed. */
export async function findPicture(): Promise<Picture | null> {
  const owner = parseDeviceOwner(localStorage.getItem(deviceOwnerKey));
  const present = session.get();
  const mayShow =
    owner !== null && owner.keeping !== 'off' && (present === null || isSameOwner(owner, present));
  const picture = shownPicture(
    await readPicture().catch(() => undefined),
    mayShow ? owner : null,
    Date.now(),
  );
  if (picture === null) removePicture();
  return picture;
}
