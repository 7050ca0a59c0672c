// python-can's SLCAN as a foreign peer over pseudo-terminals: as the adapter before our reader, and as the program behind our simulated
// adapter. Every frame of one side is the frame of the other, in order. Everything is counted; nothing is timed.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { openListening } from '../../agent/bus/listening-link.ts';
import type { CanFrame } from '../../agent/core/bus/slcan-line.ts';
import { slcanLine } from '../../simulator/hardware/j1939-frames.ts';
import { createSlcanAdapter } from '../../simulator/hardware/slcan-adapter.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { truckBusConfig } from '../support/bus/truck-bus.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';
import { createPluggedPort } from '../support/serial/plugged-port.ts';
import { ptyPair } from '../support/serial/pty-bus.ts';

const { missing, python } = requires({
  commands: ['socat'],
  python: ['can.interfaces.slcan', 'serial'],
  debian: ['socat', 'python3-can'],
});
const name = `python-can as a peer${missing === null ? '' : ` (${missing})`}`;

/** A frame as the peer writes it. */
type Told = readonly [id: number, isExtended: boolean, data: string];

const count = 10_000;
/** Frames on the way at most: terminals and the link between them hold some 16 kB, and a frame has up to 28. */
const onTheWayMost = 250;

const told = ({ id, isExtended, data }: CanFrame): Told => [
  id,
  isExtended,
  Buffer.from(data).toString('hex'),
];

/** Frames of both kinds, of every length, with every byte. */
function randomFrames(seed: number): readonly CanFrame[] {
  const random = seededRandom(seed);
  const below = (most: number): number => Math.floor(random() * most);
  return Array.from({ length: count }, (_, n) => {
    const isExtended = random() < 0.7;
    const data = Uint8Array.from({ length: n % 9 }, () => below(256));
    return { id: below(isExtended ? 0x2000_0000 : 0x800), isExtended, data };
  });
}

let folder: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-can-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

interface Peer {
  readonly received: Told[];
  send(frame: CanFrame): void;
}

async function startPeer(path: string, role: 'adapter' | 'host'): Promise<Peer> {
  const script = new URL('../support/bus/slcan-peer.py', import.meta.url).pathname;
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(python ?? '', [script, path, role], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanups.unshift(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const received: Told[] = [];
  let isReady = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const fact = JSON.parse(line) as 'ready' | Told;
    if (fact === 'ready') isReady = true;
    else received.push(fact);
  });
  await waitUntil('python-can', () => isReady || child.exitCode !== null);
  expect(child.exitCode).toBeNull();
  return { received, send: (frame) => void child.stdin.write(`${JSON.stringify(told(frame))}\n`) };
}

/** Sends frames no faster than they arrive. */
async function sendAll(
  frames: readonly CanFrame[],
  send: (frame: CanFrame) => void,
  arrived: () => number,
): Promise<void> {
  for (const [n, frame] of frames.entries()) {
    send(frame);
    if (n % onTheWayMost === 0) await waitUntil(`frame ${n}`, () => arrived() > n);
  }
  await waitUntil('all frames', () => arrived() >= frames.length);
}

describe.skipIf(missing !== null)(name, () => {
  it('sends frames, of which our reader reads every one', async () => {
    const pair = await ptyPair(folder, 'can');
    cleanups.unshift(pair.close);
    const peer = await startPeer(pair.far, 'adapter');
    const read: Told[] = [];
    let rejected = 0;
    const outcome = await openListening(
      {
        clock: createSystemClock(),
        openByteLink: openSerialPort,
        config: { ...truckBusConfig, port: { ...truckBusConfig.port, path: pair.near } },
        bitRate: 250_000,
      },
      {
        onLines(lines) {
          read.push(...lines.frames.map(told));
          rejected += lines.rejected;
        },
        onDown: () => undefined,
        onWritten: () => undefined,
      },
    );
    if (outcome.kind !== 'listening') return expect.fail(JSON.stringify(outcome));
    cleanups.unshift(() => outcome.link.close());
    expect(outcome.opening.dialect).toBe('canable');
    const sent = randomFrames(27);
    await sendAll(sent, peer.send, () => read.length);
    expect(read).toEqual(sent.map(told));
    expect(rejected).toBe(0);
  });

  it('reads every frame of our simulated adapter, which gets every frame that it sends', async () => {
    const path = join(folder, 'can');
    const adapter = createSlcanAdapter({
      dialect: 'lawicel',
      send: (text) => port.send(Buffer.from(text, 'latin1')),
    });
    const port = createPluggedPort({ folder, path, onBytes: adapter.receive });
    await port.plug();
    cleanups.unshift(port.unplug);
    const peer = await startPeer(path, 'host');
    await waitUntil('the adapter to be open', () => adapter.mode() === 'normal');
    const sent = randomFrames(28);
    await sendAll(sent, adapter.frame, () => peer.received.length);
    expect(peer.received).toEqual(sent.map(told));
    const back = randomFrames(29);
    await sendAll(back, peer.send, () => adapter.transmissions.length);
    expect(adapter.transmissions).toEqual(back.map((frame) => slcanLine(frame).trimEnd()));
  });
});
