// The `hardware` command: the simulated board and receiver on two pseudo terminals, for an agent with real serial ports. Real time, real
// baud rate, a prompt and a control port. It leaves no pty and no child behind.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import { createSeededEntropy, type SeededEntropy } from '../core/random.ts';
import { type BoardName, boardMaps, fittedOverrides, type WiringName } from '../hardware/board-maps.ts';
import { createLane, type Lane, noPipeFaults } from '../hardware/pipe.ts';
import { openPty, type Pty } from '../hardware/pty.ts';
import { createCityRoute } from '../world/city-route.ts';
import type { Route } from '../world/routes.ts';
import { createTrackRoute } from '../world/track-route.ts';
import { type Bench, createBench } from './bench.ts';
import { formatBenchHelp } from './bench-commands.ts';
import type { Device } from './bench-state.ts';
import { type Control, createControl } from './control-server.ts';

export interface HardwareOptions {
  readonly clock: Clock;
  readonly seed: string;
  readonly boardName: BoardName;
  readonly wiring: WiringName;
  /** Folder for an `agent.toml`; null: none is written. */
  readonly desk: string | null;
  readonly boardLink: string;
  readonly gnssLink: string;
  /** With a digital fuel sender at a port of its own; null: none. */
  readonly fuelLink: string | null;
  /** A track file, or else a city. */
  readonly routeFile: string | null;
  readonly city: { readonly latitude: number; readonly longitude: number };
  /** Speed of the board's line. */
  readonly boardBaud: (typeof boardBauds)[number];
  readonly controlPort: number | null;
  readonly json: boolean;
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

const line = { baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 } as const;
const fuelLine = { ...line, baudRate: 19_200 } as const;
/** That boards can be set to. */
export const boardBauds = [4800, 9600, 19_200, 38_400, 57_600, 115_200] as const;

async function loadRoute(options: HardwareOptions, entropy: SeededEntropy): Promise<Route> {
  if (options.routeFile === null)
    return createCityRoute({ centre: options.city, entropy: entropy.stream('route') });
  const text = await readFile(options.routeFile, 'utf8').catch((error: unknown) => {
    throw new AppError('usage', `Cannot read --route ${options.routeFile}: ${messageOf(error)}`, {
      hint: 'Check the path and its rights.',
    });
  });
  return createTrackRoute(text, options.routeFile);
}

interface HardwareBench {
  readonly bench: Bench;
  readonly ptys: Readonly<Record<Device, Pty>> & { readonly fuel: Pty | null };
  close(): Promise<void>;
}

/** Sentence by sentence: a receiver's burst takes half a second at 9600 baud and does not arrive at once. */
function carryBySentence(lane: Lane, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from);
    const to = end < 0 ? bytes.length : end + 1;
    lane.carry(bytes.subarray(from, to), noPipeFaults);
    from = to;
  }
}

async function openHardware(
  options: HardwareOptions,
  onLost: (reason: string) => void,
): Promise<HardwareBench> {
  const { clock } = options;
  const entropy = createSeededEntropy(options.seed);
  const route = await loadRoute(options, entropy);
  const boardLine = { ...line, baudRate: options.boardBaud };
  const lane = (of: typeof boardLine, deliver: (bytes: Uint8Array) => void): Lane =>
    createLane({ clock, entropy: entropy.stream('line'), line: of }, deliver);
  const fromAgent = lane(boardLine, (bytes) => bench.receive(bytes));
  const onBytes = (bytes: Uint8Array): void => {
    fromAgent.carry(bytes, noPipeFaults);
  };
  const board = await openPty({ linkPath: options.boardLink, onBytes, onLost });
  const gnss = await openPty({ linkPath: options.gnssLink, onBytes: () => undefined, onLost }).catch(
    async (error: unknown) => {
      await board.close();
      throw error;
    },
  );
  const toSender = lane(fuelLine, (bytes) => bench.receiveFuel(bytes));
  const fuel =
    options.fuelLink === null
      ? null
      : await openPty({
          linkPath: options.fuelLink,
          onBytes: (bytes) => void toSender.carry(bytes, noPipeFaults),
          onLost,
        }).catch(async (error: unknown) => {
          await Promise.all([board.close(), gnss.close()]);
          throw error;
        });
  const ptys = { board, gnss, fuel };
  const fromSender = lane(fuelLine, (bytes) => void fuel?.write(bytes));
  const lanes = {
    board: lane(boardLine, (bytes) => ptys.board.write(bytes)),
    gnss: lane(line, (bytes) => ptys.gnss.write(bytes)),
  };
  const bench = createBench({
    clock,
    entropy,
    route,
    boardName: options.boardName,
    wiring: options.wiring,
    boardBaud: options.boardBaud,
    send: (device, bytes) => carryBySentence(lanes[device], bytes),
    sendFuel: (bytes) => void fromSender.carry(bytes, noPipeFaults),
    cables: {
      plug: (device) => ptys[device].plug(),
      unplug: (device) => ptys[device].unplug(),
      isPlugged: (device) => ptys[device].isPlugged(),
    },
  });
  return {
    bench,
    ptys,
    async close() {
      bench.close();
      await Promise.all([board.close(), gnss.close(), fuel?.close()]);
    },
  };
}

/** The proving wires of the board as settings of the agent. */
function proofLines({ boardName, wiring }: HardwareOptions): readonly string[] {
  const { inputs, life, loopback, polls } = fittedOverrides(boardName, wiring);
  const ignition = inputs?.ignition;
  if (ignition === undefined) return [];
  const tables = { 'inputs.ignition': ignition, life, loopback, polls };
  return Object.entries(tables).flatMap(([name, table]) =>
    table === undefined || table === false ? [] : tableLines(`board.overrides.${name}`, table),
  );
}

function tableLines(name: string, table: object): readonly string[] {
  const entries: (readonly [string, unknown])[] = Object.entries(table);
  const values = entries.filter(([, value]) => typeof value !== 'object');
  const tables = entries.flatMap(([key, value]) =>
    typeof value === 'object' && value !== null ? [[key, value] as const] : [],
  );
  return [
    ...(values.length === 0 ? [] : [`  [${name}]`]),
    ...values.map(([key, value]) => `  ${key} = ${JSON.stringify(value)}`),
    ...tables.flatMap(([key, value]) => tableLines(`${name}.${key}`, value)),
  ];
}

/** The tables of board and receiver in the agent's file. */
function portLines(
  options: HardwareOptions,
  { ptys: { board, gnss, fuel } }: HardwareBench,
): readonly string[] {
  return [
    '  [board]',
    `  port = "${board.linkPath}"`,
    `  profile = "${options.boardName}"`,
    ...(options.boardBaud === line.baudRate
      ? []
      : ['  [board.overrides.serial]', `  baudRate = ${options.boardBaud}`]),
    ...(fuel === null || boardMaps[options.boardName].wiring.fuel === null
      ? []
      : ['  [board.overrides.analogs]', '  fuel = false']),
    ...proofLines(options),
    '  [gnss]',
    `  port = "${gnss.linkPath}"`,
    '  baud = 9600',
    ...(fuel === null ? [] : ['  [fuelSender]', `  port = "${fuel.linkPath}"`]),
  ];
}

/** Writes the file of an agent that is not enrolled yet; one that is there stays. */
async function writeAgentFile(desk: string, ports: readonly string[]): Promise<void> {
  const folder = resolve(desk);
  const path = join(folder, 'agent.toml');
  const text = [
    '[storage]',
    `path = "${join(folder, 'outbox.db')}"`,
    'windowS = 2',
    '[local]',
    `socket = "${join(folder, 'agent.sock')}"`,
    ...ports.map((one) => one.trim()),
    '',
  ].join('\n');
  await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

function formatWelcome(options: HardwareOptions, hardware: HardwareBench, control: Control | null): string {
  const { board, gnss, fuel } = hardware.ptys;
  if (options.json) {
    return JSON.stringify({
      event: 'ready',
      board: { path: board.linkPath, profile: options.boardName },
      gnss: { path: gnss.linkPath },
      ...(fuel === null ? {} : { fuelSender: { path: fuel.linkPath } }),
      control: control === null ? null : `http://127.0.0.1:${control.port}`,
    });
  }
  const curl = `curl -s http://127.0.0.1:${control?.port}/command -d 'ignition on'`;
  return [
    `Simulated hardware: ${options.boardName} at ${options.boardBaud} baud and a GNSS receiver at 9600 baud.`,
    ...(options.desk === null
      ? ['For agent.toml:', '', ...portLines(options, hardware)]
      : [`Settings of the agent: ${join(options.desk, 'agent.toml')}`]),
    '',
    ...(control === null
      ? ['No control port and no panel (--control-port 0 opens both).']
      : [`Panel: http://127.0.0.1:${control.port}/ in a browser`, `Control: ${curl}`]),
    'help lists the commands, Ctrl-C ends.',
    '',
  ].join('\n');
}

/** Runs lines one after the other, in the order they came, until the input ends or says `quit`. */
function attachPrompt(options: HardwareOptions, bench: Bench, onQuit: () => void): Interface {
  const isTerminal = options.input.isTTY === true && options.output.isTTY === true;
  const prompt = createInterface({
    input: options.input,
    output: isTerminal ? options.output : undefined,
    prompt: '> ',
  });
  const print = (text: string): void => {
    options.output.write(`${text}\n`);
    if (isTerminal) prompt.prompt();
  };
  const runLine = async (typed: string): Promise<void> => {
    const text = typed.trim();
    if (text === '' || text.startsWith('#')) return;
    if (text === 'quit' || text === 'exit') {
      onQuit();
      return;
    }
    try {
      print(await bench.run(text));
    } catch (error) {
      const hint = error instanceof AppError && error.hint !== undefined ? ` (${error.hint})` : '';
      print(`${messageOf(error)}${hint}`);
    }
  };
  let queue = Promise.resolve();
  prompt.on('line', (typed) => {
    queue = queue.then(() => runLine(typed));
  });
  // In raw mode Ctrl-C is a key: only readline sees it.
  prompt.on('SIGINT', onQuit);
  if (isTerminal) {
    prompt.on('close', onQuit);
    prompt.prompt();
  }
  return prompt;
}

/**
 * Runs until `stop` resolves, `quit` is typed or a pty is lost. Rejects with AppError: socat missing, link taken, port
 * taken, bad route. The end of a script on standard input does not end the bench: a test may go on by HTTP.
 */
export async function runHardware(options: HardwareOptions, stop: Promise<void>): Promise<void> {
  let lost: string | null = null;
  let quit = (): void => undefined;
  const ended = new Promise<void>((done) => {
    quit = done;
  });
  if (options.desk !== null) await mkdir(options.desk, { recursive: true, mode: 0o700 });
  const hardware = await openHardware(options, (reason) => {
    lost = reason;
    quit();
  });
  let control: Control | null = null;
  let prompt: Interface | null = null;
  try {
    if (options.desk !== null) await writeAgentFile(options.desk, portLines(options, hardware));
    control = options.controlPort === null ? null : await createControl(hardware.bench, options.controlPort);
    options.output.write(`${formatWelcome(options, hardware, control)}\n`);
    prompt = attachPrompt(options, hardware.bench, quit);
    await Promise.race([stop, ended]);
  } finally {
    prompt?.close();
    await control?.close();
    await hardware.close();
  }
  if (lost !== null) throw new AppError('serial', lost);
}

export const hardwareEpilogue = `Commands at the prompt, on standard input and over the control port:\n${formatBenchHelp()}`;
