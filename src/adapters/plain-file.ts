// Reads of files that another user may have written.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The bytes of a plain file, never more than `mostBytes`, never through a symbolic link at its end, never waiting for
 * a pipe. Throws a plain Error.
 */
export function readPlainFile(
  path: string,
  mostBytes: number,
): { readonly bytes: Buffer; readonly uid: number; readonly mode: number } {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new Error(`${path} is not a plain file`);
    if (stat.size > mostBytes) throw new Error(`${path} is larger than ${mostBytes} bytes`);
    const bytes = Buffer.alloc(stat.size + 1);
    let length = 0;
    for (let got = -1; got !== 0 && length < bytes.length; length += got)
      got = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (length !== stat.size) throw new Error(`${path} changed while it was read`);
    return { bytes: bytes.subarray(0, length), uid: stat.uid, mode: stat.mode };
  } finally {
    closeSync(descriptor);
  }
}
