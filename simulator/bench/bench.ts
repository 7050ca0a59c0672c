// The test bench: a board, a receiver and a driver behind two byte lines, controlled by text commands at the prompt, from a script and
// over the control port.
import { type FeatureName, featureNames, type InputName, inputNames } from '../../src/core/events/event.ts';
import type { Cancel, Clock } from '../../src/ports.ts';
import type { SeededEntropy } from '../core/random.ts';
import { type Board, createBoard, noBoardFaults } from '../hardware/board.ts';
import type { BoardName, WiringName } from '../hardware/board-maps.ts';
import { createGnss } from '../hardware/gnss.ts';
import { createLlsSenders } from '../hardware/lls-sender.ts';
import { createDriver } from '../world/driver.ts';
import type { Route } from '../world/routes.ts';
import { type BenchDeps, runBenchCommand } from './bench-commands.ts';
import type { BenchState, Cables, Device } from './bench-state.ts';

export interface BenchOptions {
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
  readonly boardName: BoardName;
  readonly wiring: WiringName;
  /** Speed of its line. */
  readonly boardBaud: number;
  readonly route: Route;
  send(device: Device, bytes: Uint8Array): void;
  /** Bytes of the digital fuel sender. */
  sendFuel(bytes: Uint8Array): void;
  readonly cables: Cables;
}

export interface Bench {
  receive(bytes: Uint8Array): void;
  /** Bytes to the digital fuel sender. */
  receiveFuel(bytes: Uint8Array): void;
  state(): BenchState;
  relayLog(): ReturnType<Board['relayLog']>;
  /** Runs one command line. @returns its output. Rejects with AppError `usage`. */
  run(line: string): Promise<string>;
  close(): void;
}

export function createBench(options: BenchOptions): Bench {
  const { clock, entropy } = options;
  const manual = new Map<InputName, boolean>([['externalPower', true]]);
  let fuel = 0.62;
  let cutWhileMoving = 0;
  /** Brings the terminals up to what the driver does. */
  const refresh = (to: Board): void => {
    const moment = driver.now();
    to.setSignal('ignition', moment.ignition);
    to.setSignal('cabinDoor', manual.get('cabinDoor') ?? moment.cabinDoor);
    to.setSignal('cargoDoor', manual.get('cargoDoor') ?? moment.cargoDoor);
    to.setSignal('motion', manual.get('motion') ?? moment.speedKmh > 1);
  };
  const board = createBoard({
    name: options.boardName,
    wiring: options.wiring,
    baudRate: options.boardBaud,
    clock,
    entropy: entropy.stream('board'),
    send: (bytes) => options.send('board', bytes),
    refresh,
    onRelayChange(change) {
      const isCut = change.feature === 'enginecutoff' && change.energised;
      if (isCut && driver.now().speedKmh > 0) cutWhileMoving += 1;
    },
  });
  const isStarterCut = (): boolean => board.isEnergised('enginecutoff');
  const driver = createDriver({ clock, route: options.route, isStarterCut, startS: null });
  const gnss = createGnss({
    clock,
    entropy: entropy.stream('gnss'),
    utcMs: () => clock.utcMs(),
    truth: () => driver.now(),
    send: (bytes) => options.send('gnss', bytes),
    extra: ['ZDA'],
  });
  const sender = createLlsSenders({ clock, level: () => fuel, send: options.sendFuel });
  const setFuel = (fraction: number): void => {
    fuel = fraction;
    board.setFuel(fraction);
  };
  const state = (): BenchState => {
    refresh(board);
    const relays = featureNames.map((name: FeatureName) => [name, board.isEnergised(name)] as const);
    return {
      board: options.boardName,
      plugged: { board: options.cables.isPlugged('board'), gnss: options.cables.isPlugged('gnss') },
      vehicle: driver.now(),
      inputs: Object.fromEntries(inputNames.map((name) => [name, board.signal(name)])),
      relays: Object.fromEntries(relays),
      fuel,
      gnss: gnss.state(),
      faults: board.faults(),
      counts: board.counts(),
      cutWhileMoving,
    };
  };
  setFuel(fuel);
  const { cables } = options;
  const deps: BenchDeps = { clock, cables, board, gnss, sender, driver, manual, setFuel, state };
  // The driver is updated every second: after a long gap the vehicle must not jump.
  let tick: Cancel | null = null;
  const keepDriving = (): void => {
    driver.now();
    tick = clock.after(1000, keepDriving);
  };
  keepDriving();
  return {
    receive: (bytes) => board.receive(bytes),
    receiveFuel: (bytes) => sender.receive(bytes),
    state,
    relayLog: () => board.relayLog(),
    run: (line) => runBenchCommand(line, deps),
    close() {
      tick?.();
      gnss.close();
      sender.close();
      board.setFaults(noBoardFaults);
    },
  };
}
