// One vehicle on a road in real time: true speed, ignition and position, with a board and a GNSS receiver that observe
// them on pseudo-terminals. Only this file knows the truth; it must import nothing of the agent.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import { waitUntil } from '../machine/wait-until.ts';
import { createRoadBoard, type RoadBoard } from './road-board.ts';
import { createRoadReceiver, type RoadReceiver } from './road-receiver.ts';

export interface RoadWorld {
  readonly board: RoadBoard;
  readonly receiver: RoadReceiver;
  readonly boardPort: string;
  readonly gnssPort: string;
  isIgnitionOn: boolean;
  isCargoDoorOpen: boolean;
  speedKmh(): number;
  /** Longest delay of a receiver epoch: how far this machine was behind real time. */
  longestDelayMs(): number;
  /** How many the receiver has sent: seconds of this world, which pass more slowly on a busy machine. */
  epochs(): number;
  /** Spans of more than 0.8 s in which the agent asked the board nothing: its inputs become unknown. */
  pauses(): readonly Pause[];
  /** Changes the true speed at a plausible rate; resolves when it is reached. */
  drive(speedKmh: number): Promise<void>;
  /** Hangs up the board's terminal and removes its name. */
  unplugBoard(): Promise<void>;
  plugBoard(): Promise<void>;
  close(): Promise<void>;
}

export interface Pause {
  /** Epochs of the receiver when it ended. */
  readonly epoch: number;
  readonly ms: number;
}

export interface RoadWorldOptions {
  readonly folder: string;
  readonly seed: string;
  readonly gnssPeriodMs: number;
}

interface SerialLine {
  write(bytes: Uint8Array): void;
  close(): Promise<void>;
}

const accelerationKmhPerS = 5;
const voltsRunning = 14.2;
const voltsResting = 12.6;
/** From the epoch to its first byte. */
const receiverDelayMs = 120;

/** A pseudo-terminal at `path`; its other end is a pipe to this process. */
async function openLine(path: string, onBytes: (bytes: Uint8Array) => void): Promise<SerialLine> {
  const child = spawn('socat', [`pty,raw,echo=0,link=${path}`, 'STDIO'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdout.on('data', onBytes);
  child.stdin.on('error', () => undefined);
  await waitUntil(`socat at ${path}`, () => existsSync(path)).catch((thrown: unknown) => {
    child.kill('SIGKILL');
    throw thrown;
  });
  return {
    write: (bytes) => void child.stdin.write(bytes),
    async close() {
      // The name goes first: the kernel may give the number of a closed terminal to the next one.
      rmSync(path, { force: true });
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** True speed and position; speed moves toward its target at a constant rate. */
function createMotion() {
  let [speedKmh, targetKmh, eastM] = [0, 0, 0];
  let lastMs = performance.now();
  const advance = (): void => {
    const nowMs = performance.now();
    const elapsedS = (nowMs - lastMs) / 1000;
    lastMs = nowMs;
    const stepKmh = accelerationKmhPerS * elapsedS;
    const before = speedKmh;
    speedKmh += Math.max(-stepKmh, Math.min(stepKmh, targetKmh - speedKmh));
    eastM += ((before + speedKmh) / 2 / 3.6) * elapsedS;
  };
  return {
    now() {
      advance();
      return { speedKmh, eastM };
    },
    setTarget(kmh: number): void {
      advance();
      targetKmh = kmh;
    },
  };
}

const pauseMs = 800;

/** Calls `onEpoch` at every multiple of the period in UTC, a little late as a receiver does. */
function startEpochs(periodMs: number, onEpoch: (utcMs: number, delayMs: number) => void): () => void {
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    const utcMs = (Math.floor((Date.now() - receiverDelayMs) / periodMs) + 1) * periodMs;
    timer = setTimeout(
      () => {
        onEpoch(utcMs, Date.now() - utcMs - receiverDelayMs);
        schedule();
      },
      utcMs + receiverDelayMs - Date.now(),
    );
  };
  schedule();
  return () => clearTimeout(timer);
}

export async function createRoadWorld(options: RoadWorldOptions): Promise<RoadWorld> {
  const { folder, seed, gnssPeriodMs } = options;
  const entropy = createSeededEntropy(seed);
  const motion = createMotion();
  const [boardPort, gnssPort] = ['board', 'gnss'].map((name) => join(folder, `tty-${name}`)) as [
    string,
    string,
  ];
  let boardLine: SerialLine | null = null;
  const receiver = createRoadReceiver(entropy.stream('receiver'));
  const board = createRoadBoard({
    entropy: entropy.stream('board'),
    truth: () => ({
      speedKmh: motion.now().speedKmh,
      isIgnitionOn: world.isIgnitionOn,
      isCargoDoorOpen: world.isCargoDoorOpen,
      supplyV: world.isIgnitionOn ? voltsRunning : voltsResting,
    }),
    send: (bytes) => boardLine?.write(bytes),
  });
  const gnssLine = await openLine(gnssPort, () => undefined);
  let longestDelayMs = 0;
  let epochs = 0;
  const pauses: Pause[] = [];
  let askedMs = performance.now();
  const receive = (bytes: Uint8Array): void => {
    const ms = performance.now() - askedMs;
    askedMs += ms;
    if (ms > pauseMs) pauses.push({ epoch: epochs, ms });
    board.receive(bytes);
  };
  const stopEpochs = startEpochs(gnssPeriodMs, (utcMs, delayMs) => {
    longestDelayMs = Math.max(longestDelayMs, delayMs);
    epochs += 1;
    gnssLine.write(new TextEncoder().encode(receiver.burst(motion.now(), utcMs)));
  });
  const world: RoadWorld = {
    board,
    receiver,
    boardPort,
    gnssPort,
    isIgnitionOn: false,
    isCargoDoorOpen: false,
    speedKmh: () => motion.now().speedKmh,
    longestDelayMs: () => longestDelayMs,
    epochs: () => epochs,
    pauses: () => pauses,
    async drive(speedKmh) {
      motion.setTarget(speedKmh);
      await waitUntil(`${speedKmh} km/h`, () => motion.now().speedKmh === speedKmh, { everyMs: 50 });
    },
    async unplugBoard() {
      await boardLine?.close();
      boardLine = null;
    },
    async plugBoard() {
      boardLine = await openLine(boardPort, receive);
    },
    async close() {
      stopEpochs();
      await Promise.all([gnssLine.close(), world.unplugBoard()]);
    },
  };
  await world.plugBoard();
  return world;
}
