// Where the last picture is kept: one record of one database of this browser. Each access opens it and closes it, so that a sign-out in
// another tab removes it at once.
import type { Picture } from '../../state/offline/picture.ts';
import { pictureDatabase } from '../session.ts';

const table = 'pictures';
const key = 'last';

const fault = (done: string, thrown: DOMException | null): Error =>
  new Error(`The picture of the fleet was not ${done}: ${thrown?.message ?? 'no reason given'}`);

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(pictureDatabase, 1);
    asked.addEventListener('upgradeneeded', () => void asked.result.createObjectStore(table));
    asked.addEventListener('success', () => resolve(asked.result));
    asked.addEventListener('error', () => reject(fault('opened', asked.error)));
  });
}

/** @param mayStill asked when the database is open: the session may have ended meanwhile. @throws Error when the browser keeps nothing. */
export async function writePicture(picture: Picture, mayStill: () => boolean): Promise<void> {
  const database = await open();
  try {
    if (!mayStill()) return;
    const written = database.transaction(table, 'readwrite');
    written.objectStore(table).put(picture, key);
    await new Promise<void>((resolve, reject) => {
      written.addEventListener('complete', () => resolve());
      written.addEventListener('abort', () => reject(fault('written', written.error)));
    });
  } finally {
    database.close();
  }
}

/** What was kept, of whatever form; undefined without any. */
export async function readPicture(): Promise<unknown> {
  const database = await open();
  try {
    const read = database.transaction(table).objectStore(table).get(key);
    return await new Promise<unknown>((resolve, reject) => {
      read.addEventListener('success', () => resolve(read.result));
      read.addEventListener('error', () => reject(fault('read', read.error)));
    });
  } finally {
    database.close();
  }
}
