// A serial port as ByteLink, over the native binding of serialport 13 (its stream layer is left out). It must never
// keep bytes for later, never outlive a vanished tty, and never wait for the driver without a limit.
//
// Why not its stream: a write on a closed port is kept and sent at the next open (a stale "relay on"); and its
// reader takes 0 bytes, which is what a hung-up tty reads, for "try again" without yielding (bindings-cpp #162):
// 200 000 rounds in 0.1 s and memory climbing. So the read loop is ours: 0 bytes = the port is gone. `drain` is never
// called and `close` has a deadline, because both can hang in the driver (bindings-cpp #237). `hupcl: false`:
// dropping DTR on close resets some boards.
import { read } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SerialPort } from 'serialport';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { ByteLink, ByteLinkHandlers, OpenByteLink, SerialSettings } from '../../src/ports.ts';

type Binding = Awaited<ReturnType<typeof SerialPort.binding.open>>;

/** What we use of the binding's port on Linux and macOS. */
interface PollingBinding {
  readonly fd: number | null;
  readonly isOpen: boolean;
  readonly poller: { once(event: 'readable', done: (fault: Error | null) => void): unknown };
  write(bytes: Buffer): Promise<void>;
  set(flags: Record<string, boolean>): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const readFd = promisify(read);
const readBytes = 4096;
/** More than this not yet taken by the driver: nobody is reading at the far end. */
const maxUnsentBytes = 8192;
const closeDeadlineMs = 3000;
/** A write that the driver does not take ends only when the port is closed. */
const settleMs = 200;
const openDeadlineMs = 8000;
/** How often the path is looked at: a replug gives a new node while the old descriptor may stay silent for ever. */
const watchMs = 2000;

/**
 * Opens a serial port, raw, locked, without hang-up on close. Rejects with AppError `serial` that says what is wrong
 * with which path: missing, no permission, busy, not a terminal, speed or framing refused.
 */
export const openSerialPort: OpenByteLink = async (settings, handlers) => {
  const node = await look(settings.path);
  const port = await openBinding(settings);
  return createLink(port, handlers, { path: settings.path, node });
};

interface Node {
  readonly rdev: number;
  readonly ino: number;
}

/** The device behind a path (symbolic links followed), or the error that says it is not there. */
async function look(path: string): Promise<Node> {
  try {
    const { rdev, ino } = await stat(path);
    return { rdev, ino };
  } catch (cause) {
    throw await openError({ path, cause, message: messageOf(cause) });
  }
}

async function openBinding(settings: SerialSettings): Promise<PollingBinding> {
  const { path, baudRate, dataBits, parity, stopBits } = settings;
  const options = { path, baudRate, dataBits, parity, stopBits, lock: true, hupcl: false };
  const opening: Promise<Binding> = SerialPort.binding.open(options);
  try {
    const port = await withDeadline(
      opening,
      openDeadlineMs,
      `the driver did not answer in ${openDeadlineMs} ms`,
    );
    return port as unknown as PollingBinding;
  } catch (cause) {
    // An open that succeeds after all must not keep the lock.
    opening.then((port) => port.close()).catch(() => {});
    throw await openError({ path, cause, message: messageOf(cause), baudRate });
  }
}

async function withDeadline<T>(work: Promise<T>, deadlineMs: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(message));
    }, deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface OpenFault {
  readonly path: string;
  readonly cause: unknown;
  readonly message: string;
  readonly baudRate?: number;
}

async function openError(fault: OpenFault): Promise<AppError> {
  const { path, cause, message } = fault;
  const serial = (text: string, hint: string) => new AppError('serial', text, { hint, cause });
  if (/ENOENT|No such file|ENXIO|ENODEV|No such device/i.test(message)) {
    const found = await similarNames(path);
    return serial(
      `Serial port ${path} is not there`,
      found.length > 0
        ? `There is ${found.join(', ')}.`
        : 'No serial port was found; is the adapter plugged in?',
    );
  }
  if (/EACCES|EPERM|Permission denied/i.test(message)) {
    return serial(
      `No permission for serial port ${path}`,
      'Add the user to the group of the device, usually dialout, and log in again.',
    );
  }
  if (/lock|EBUSY|busy/i.test(message)) {
    return serial(`Serial port ${path} is in use by another program`, `See who has it: fuser ${path}`);
  }
  if (/ENOTTY|Inappropriate ioctl|Not a typewriter|EISDIR|Is a directory/i.test(message)) {
    return serial(`${path} is not a serial port`, 'Take a device such as /dev/ttyUSB0.');
  }
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

function createLink(
  port: PollingBinding,
  handlers: ByteLinkHandlers,
  at: { readonly path: string; readonly node: Node },
): ByteLink {
  let isOpen = true;
  let unsentBytes = 0;
  let writing = Promise.resolve();
  let reading: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | null = null;

  const shut = (): Promise<void> => {
    isOpen = false;
    clearInterval(watch);
    closing ??= closeBinding(port, Promise.allSettled([reading, writing]));
    return closing;
  };
  const fail = (reason: string): void => {
    if (!isOpen) return;
    void shut();
    handlers.onDown(reason);
  };
  const check = async (): Promise<void> => {
    const node = await stat(at.path).catch(() => null);
    if (node === null) fail(`${at.path} has vanished`);
    else if (node.rdev !== at.node.rdev || node.ino !== at.node.ino) fail(`${at.path} is another device now`);
  };
  const watch = setInterval(() => void check(), watchMs);
  watch.unref();

  /** One after the other: two writes in the thread pool may overtake each other. */
  const send = async (before: Promise<void>, bytes: Uint8Array): Promise<void> => {
    await before;
    if (!isOpen) return;
    try {
      await port.write(Buffer.from(bytes));
      unsentBytes -= bytes.length;
    } catch (fault) {
      fail(`${at.path} cannot be written: ${messageOf(fault)}`);
    }
  };
  const readUntilGone = async (): Promise<void> => {
    const buffer = Buffer.alloc(readBytes);
    while (port.isOpen && port.fd !== null) {
      const chunk = readChunk(port.fd, buffer);
      reading = chunk;
      const got = await chunk;
      if (!isOpen) return;
      if (typeof got === 'string') return fail(got);
      if (got !== null) handlers.onBytes(got);
      else {
        const fault = await readable(port);
        if (fault !== null) return fail(fault);
      }
    }
  };

  // RTS and DTR have a known level only if set; ptys and some adapters have neither.
  port.set({ dtr: true, rts: true, brk: false, cts: false, dsr: false }).catch(() => {});
  void readUntilGone();

  return {
    write(bytes) {
      if (!isOpen || !port.isOpen) return false;
      if (unsentBytes + bytes.length > maxUnsentBytes) {
        fail(`${at.path} takes no bytes: ${unsentBytes} are waiting`);
        return false;
      }
      unsentBytes += bytes.length;
      writing = send(writing, bytes);
      return true;
    },
    close: shut,
  };
}

/** Lets reads and writes that are in the thread pool end first: the descriptor's number may be someone else's next. */
async function closeBinding(port: PollingBinding, busy: Promise<unknown>): Promise<void> {
  await withDeadline(busy, settleMs, 'busy').catch(() => {});
  // The descriptor is abandoned to a driver that does not let go in time.
  await withDeadline(port.close(), closeDeadlineMs, 'close hangs').catch(() => {});
}

/** Bytes; null when there are none yet; a text when there never will be again. Never throws. */
async function readChunk(fd: number, buffer: Buffer): Promise<Uint8Array | string | null> {
  try {
    const { bytesRead } = await readFd(fd, buffer, 0, buffer.length, null);
    return bytesRead === 0 ? 'the device hung up' : Uint8Array.from(buffer.subarray(0, bytesRead));
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    const isEmpty = code === 'EAGAIN' || code === 'EWOULDBLOCK' || code === 'EINTR';
    return isEmpty ? null : `the device is gone: ${messageOf(fault)}`;
  }
}

/** Null once there is something to read, else why there never will be. */
function readable(port: PollingBinding): Promise<string | null> {
  return new Promise((resolve) => {
    if (!port.isOpen) return resolve('closed');
    port.poller.once('readable', (fault) => {
      resolve(fault === null ? null : messageOf(fault));
    });
    return undefined;
  });
}
