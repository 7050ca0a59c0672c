// Explains why a serial port does not open, as a text that an installer can act on. It must never touch the
// port itself.
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../src/core/errors.ts';

export interface OpenFault {
  readonly path: string;
  readonly cause: unknown;
  readonly message: string;
  readonly baudRate?: number;
}

export function notASerialPort(path: string, cause?: unknown): AppError {
  const hint = 'Take a device such as /dev/ttyUSB0.';
  return new AppError('serial', `${path} is not a serial port`, { hint, cause });
}

/** AppError `serial` from an error of the system or driver. */
export async function openError(fault: OpenFault): Promise<AppError> {
  const { path, cause, message } = fault;
  const serial = (text: string, hint: string) => new AppError('serial', text, { hint, cause });
  if (/ENOENT|No such file|ENXIO|ENODEV|No such device|ELOOP/i.test(message)) {
    const found = await similarNames(path);
    return serial(
      `Serial port ${path} is not there`,
      found.length > 0
        ? `There is ${found.join(', ')}.`
        : 'No serial port was found; is the adapter plugged in?',
    );
  }
  if (/EACCES|EPERM|Permission denied|not permitted/i.test(message)) {
    return serial(
      `No permission for serial port ${path}`,
      'Add the user to the group of the device, usually dialout, and log in again.',
    );
  }
  if (/lock|EBUSY|busy/i.test(message)) {
    return serial(`Serial port ${path} is in use by another program`, `See who has it: fuser ${path}`);
  }
  if (/ENOTTY|Inappropriate ioctl|Not a typewriter|EISDIR|Is a directory|ENOTDIR/i.test(message))
    return notASerialPort(path, cause);
  if (/baud|EINVAL|Invalid argument|invalid/i.test(message)) {
    const speed = fault.baudRate === undefined ? '' : ` at ${fault.baudRate} baud`;
    return serial(
      `Serial port ${path} refuses these settings${speed}: ${message}`,
      'Check the speed and framing of board and adapter.',
    );
  }
  return serial(`Serial port ${path} cannot be opened: ${message}`, 'See the kernel log.');
}

/** Names an installer may have meant: serial devices beside the path, and in the usual places. */
async function similarNames(path: string): Promise<readonly string[]> {
  const looks = /^(ttyUSB|ttyACM|ttyAMA|ttyS|fleet-|usb-|serial)/;
  const stem = basename(path).replace(/\d+$/, '');
  const found = new Set<string>();
  for (const folder of [dirname(path), '/dev', '/dev/serial/by-id', '/dev/serial/by-path']) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) {
      const isAlike = stem.length > 2 && name.startsWith(stem);
      if (isAlike || (looks.test(name) && !name.startsWith('ttyS'))) found.add(join(folder, name));
    }
  }
  return [...found].sort().slice(0, 8);
}
