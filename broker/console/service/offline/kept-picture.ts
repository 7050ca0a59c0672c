// Keeps the last picture of the fleet for a start without network, while a user is signed in and has chosen that on this device.
import {
  deviceOwnerText,
  isSameOwner,
  type Keeping,
  parseDeviceOwner,
  pictureOf,
} from '../../state/offline/picture.ts';
import { createValue } from '../../state/value.ts';
import { connection, fleetReadMs, vehicles } from '../live.ts';
import { deviceOwnerKey, removePicture, session } from '../session.ts';
import { writePicture } from './picture-store.ts';

const keepMs = 30_000;

const isInstalled = (): boolean => matchMedia('(display-mode: standalone)').matches;

const readKeeping = (): Keeping => {
  const owner = parseDeviceOwner(localStorage.getItem(deviceOwnerKey));
  return owner !== null && isSameOwner(owner, session.get()) ? owner.keeping : 'off';
};

/** The choice of this user on this device. */
export const keeping = createValue<Keeping>(readKeeping());

/** The picture of this user is kept, and no other. */
export function isKept(): boolean {
  const wanted = readKeeping();
  return wanted === 'on' || (wanted === 'installed' && isInstalled());
}

export function chooseKeeping(wanted: Keeping): void {
  const present = session.get();
  if (present === null) return;
  const { accountID, userID } = present;
  localStorage.setItem(deviceOwnerKey, deviceOwnerText({ accountID, userID, keeping: wanted }));
  keeping.set(wanted);
  if (isKept()) void keepPicture();
  else removePicture();
}

/** Of what was shown last: its time is that of the last sign of life. */
async function keepPicture(): Promise<void> {
  const present = session.get();
  const { aliveMs } = connection.get();
  if (present === null || aliveMs === 0 || fleetReadMs.get() === null || !isKept()) return;
  const picture = pictureOf(present, [...vehicles.get().values()], aliveMs);
  const mayStill = (): boolean => session.get() === present && isKept();
  // A browser that keeps nothing has no picture offline; the console goes on.
  await writePicture(picture, mayStill).catch(() => undefined);
}

/** Keeps it every half a minute, when the page is left and when the connection is lost, until the returned function is called. */
export function followPicture(): () => void {
  keeping.set(readKeeping());
  const keep = (): void => void keepPicture();
  const timer = setInterval(keep, keepMs);
  const leaveList = fleetReadMs.subscribe(() => {
    // The list is read again with every change; the first one is kept at once.
    leaveList();
    keep();
  });
  let before = connection.get().state;
  const leaveConnection = connection.subscribe(() => {
    const { state } = connection.get();
    if (state === 'down' && before !== 'down') keep();
    before = state;
  });
  document.addEventListener('visibilitychange', keep);
  return () => {
    clearInterval(timer);
    leaveList();
    leaveConnection();
    document.removeEventListener('visibilitychange', keep);
  };
}
