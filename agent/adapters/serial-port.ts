// A serial port as ByteLink, over the native binding of serialport 13 (its stream layer is left out). It must never keep
// bytes for later, never outlive a vanished tty, and never wait for the driver without a limit. Why not its stream: a
// write on a closed port is kept and sent at the next open (a stale "relay on"); and its reader retries after 0 bytes,
// which a hung-up tty reads, without yielding (bindings-cpp #162): 200,000 rounds in 0.1 s, with growing memory. So the
// read loop is here: 0 bytes = the port is gone. `drain` is never called and `close` has a deadline, because both can
// hang in the driver (bindings-cpp #237; `serial-driver.ts` counts hanging calls). Bytes that the driver has not sent by
// then are discarded: a relay order must not leave after its link. `hupcl: false`: dropping DTR on close resets some
// boards.
import { readSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SerialPort } from 'serialport';
import { messageOf } from '../../src/core/errors.ts';
import type { ByteLink, ByteLinkHandlers, OpenByteLink, SerialSettings } from '../../src/ports.ts';
import { assertDriverAnswers, callDriver } from './serial-driver.ts';
import { notASerialPort, openError } from './serial-fault.ts';

type Binding = Awaited<ReturnType<typeof SerialPort.binding.open>>;

/** The members used of the binding's port on Linux and macOS. */
interface PollingBinding {
  readonly fd: number | null;
  readonly isOpen: boolean;
  readonly poller: { once(event: 'readable', done: (fault: Error | null) => void): unknown; stop(): void };
  write(bytes: Buffer): Promise<void>;
  set(flags: Record<string, boolean>): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const readBytes = 4096;
/** More than this not yet taken by the driver: the far end does not read. */
const maxUnsentBytes = 8192;
const closeDeadlineMs = 3000;
const openDeadlineMs = 8000;
/** Period of the path check: a replug gives a new node while the old descriptor may stay silent for ever. */
const watchMs = 1000;
/**
 * More than this in a window comes from a babbling adapter (921600 baud bring 9 kB). It is read no faster, so everything
 * else gets its turn; bytes beyond the kernel's buffer are lost.
 */
const floodBytes = 32 * 1024;
const floodWindowMs = 100;

/**
 * Opens a serial port, raw, locked, without hang-up on close. Rejects with AppError `serial` that names the path
 * and the fault: missing, no permission, busy, not a terminal, speed or framing refused.
 */
export const openSerialPort: OpenByteLink = async (settings, handlers) => {
  assertDriverAnswers(settings.path);
  const node = await look(settings.path);
  const port = await openBinding(settings);
  return createLink(port, handlers, { path: settings.path, node, gatherMs: settings.gatherMs ?? 0 });
};

/** Calls the native part, which must refuse a port that cannot exist; throws when it does not fit this machine. */
export async function loadSerialBinding(): Promise<void> {
  const path = '/dev/null/port';
  // The list of ports would call udevadm and nothing native.
  const refusal = await SerialPort.binding
    .open({ path, baudRate: 9600 })
    .then(() => 'a port that does not exist was opened', messageOf);
  if (!refusal.includes(path)) throw new Error(refusal);
}

interface Node {
  readonly rdev: number;
  readonly ino: number;
}

/** The device behind a path (symbolic links followed), or the error that describes it. */
async function look(path: string): Promise<Node> {
  const found = await stat(path).catch(async (cause: unknown) => {
    throw await openError({ path, cause, message: messageOf(cause) });
  });
  // Opening a FIFO or a file would have effects, and then fail all the same.
  if (!found.isCharacterDevice()) throw notASerialPort(path);
  return { rdev: found.rdev, ino: found.ino };
}

async function openBinding(settings: SerialSettings): Promise<PollingBinding> {
  const { path, baudRate, dataBits, parity, stopBits } = settings;
  const options = { path, baudRate, dataBits, parity, stopBits, lock: true, hupcl: false };
  const opening: Promise<Binding> = SerialPort.binding.open(options);
  try {
    const port = await callDriver({ path, deadlineMs: openDeadlineMs }, opening);
    return port as unknown as PollingBinding;
  } catch (cause) {
    // An open that succeeds after all must not keep the lock.
    opening.then((port) => callDriver({ path, deadlineMs: closeDeadlineMs }, port.close())).catch(() => {});
    throw await openError({ path, cause, message: messageOf(cause), baudRate });
  }
}

function createLink(
  port: PollingBinding,
  handlers: ByteLinkHandlers,
  at: { readonly path: string; readonly node: Node; readonly gatherMs: number },
): ByteLink {
  let isOpen = true;
  let unsentBytes = 0;
  let writing = Promise.resolve();
  let closing: Promise<void> | null = null;

  const shut = (): Promise<void> => {
    isOpen = false;
    clearInterval(watch);
    closing ??= closeBinding(port, { path: at.path, writing });
    return closing;
  };
  const fail = (reason: string): void => {
    if (!isOpen) return;
    void shut();
    handlers.onDown(reason);
  };
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const node = await stat(at.path).catch(() => null);
    isChecking = false;
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
    const pace = createPace();
    while (port.isOpen && port.fd !== null) {
      const fault = await readable(port);
      if (!isOpen || !port.isOpen) return;
      if (fault !== null) return fail(fault);
      const got = readChunk(port.fd, buffer);
      if (typeof got === 'string') return fail(got);
      if (got === null) continue;
      handlers.onBytes(got);
      await pace(got.length);
      if (at.gatherMs > 0) await sleep(at.gatherMs);
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
      const rest = unsentBytes === 0 ? bytes.subarray(writeNow(port.fd, bytes)) : bytes;
      if (rest.length === 0) return true;
      unsentBytes += rest.length;
      writing = send(writing, rest);
      return true;
    },
    close: shut,
  };
}

/** Waits, after this many bytes, until no more than `floodBytes` were taken in any window. */
function createPace(): (bytes: number) => Promise<void> {
  let windowMs = 0;
  let taken = 0;
  return async (bytes) => {
    const nowMs = performance.now();
    if (nowMs - windowMs >= floodWindowMs) {
      windowMs = nowMs;
      taken = 0;
    }
    taken += bytes;
    if (taken >= floodBytes) await sleep(windowMs + floodWindowMs - nowMs);
  };
}

/**
 * Lets a write that is in the thread pool end first: the descriptor's number may be reused. One call after the
 * other, so that a driver that hangs holds one thread; it is abandoned then.
 */
async function closeBinding(
  port: PollingBinding,
  busy: { readonly path: string; readonly writing: Promise<void> },
): Promise<void> {
  const letGo = async (): Promise<void> => {
    // Ends a write that waits for buffer space: it must not continue in the space that flushing makes.
    port.poller.stop();
    await busy.writing;
    await port.flush().catch(() => {});
    await port.close();
  };
  await callDriver({ path: busy.path, deadlineMs: closeDeadlineMs }, letGo()).catch(() => {});
}

/**
 * Bytes; null when there are none yet; a text when there never will be again. Never throws. The descriptor is non-
 * blocking and was just reported readable, so this takes the kernel's buffer and no thread of the pool.
 */
function readChunk(fd: number | null, buffer: Buffer): Uint8Array | string | null {
  if (fd === null) return 'closed';
  try {
    const bytesRead = readSync(fd, buffer, 0, buffer.length, null);
    return bytesRead === 0 ? 'the device hung up' : new Uint8Array(buffer.subarray(0, bytesRead));
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    const isEmpty = code === 'EAGAIN' || code === 'EWOULDBLOCK' || code === 'EINTR';
    return isEmpty ? null : `the device is gone: ${messageOf(fault)}`;
  }
}

/** Bytes that the driver accepted now; the binding waits with the rest, or reports the fault. */
function writeNow(fd: number | null, bytes: Uint8Array): number {
  try {
    return fd === null ? 0 : writeSync(fd, bytes);
  } catch {
    return 0;
  }
}

/** Null once there is something to read, else why there never will be. */
function readable(port: PollingBinding): Promise<string | null> {
  return new Promise((resolve) => {
    if (!port.isOpen) return resolve('closed');
    port.poller.once('readable', (fault) => {
      resolve(fault === null ? null : `the device is gone: ${messageOf(fault)}`);
    });
    return undefined;
  });
}
