// One virtual vehicle: the real agent on simulated hardware. No product code is bypassed: what is simulated is at the
// far end of two serial cables, the disk and the clock are given, and the truth is noted beside the agent, not in it.
import { type Agent, type AgentPorts, createAgent, createMemorySlots } from '../agent/agent.ts';
import type { AgentConfig } from '../agent/config.ts';
import type {
  Cancel,
  Clock,
  Entropy,
  Log,
  OpenMqttLink,
  SerialSettings,
  Supervisor,
  Verifier,
} from '../src/ports.ts';
import { serviceCodesOfSecret } from '../src/service-codes.ts';
import { type Board, createBoard } from './board.ts';
import type { BoardName } from './board-maps.ts';
import { type ClockErrors, createWrongClock, type WrongClock } from './clock.ts';
import type { RelayChange } from './contacts.ts';
import { createDriver, type Driver, type DriverMoment } from './driver.ts';
import { createGnss, type Gnss } from './gnss.ts';
import { createSimulatedHost } from './host-facts.ts';
import { createPipe, type Pipe } from './pipe.ts';
import type { SeededEntropy } from './random.ts';
import type { Route } from './routes.ts';

export interface VehicleOptions {
  readonly config: AgentConfig;
  readonly boardName: BoardName;
  readonly route: Route;
  /** Where on the route's timetable the vehicle is, seconds. */
  readonly startS: number;
  /** True time; the vehicle's own clock is wrong by `clockErrors`. */
  readonly clock: Clock;
  readonly clockErrors?: ClockErrors;
  /** The world: noise and faults. */
  readonly entropy: SeededEntropy;
  /** The agent's own: boot ids must differ from run to run, or the broker takes new events for repeated ones. */
  readonly agentEntropy: Entropy;
  readonly log: Log;
  readonly verifier: Verifier;
  readonly openMqttLink: OpenMqttLink;
  /** The disk; given the vehicle's own clock. */
  openOutbox(
    clock: Clock,
    ...boot: Parameters<AgentPorts['openOutbox']>
  ): ReturnType<AgentPorts['openOutbox']>;
}

/** What the agent must never have done. */
interface VehicleTruth {
  /** The engine cut-off was energised while the vehicle moved. */
  readonly cutWhileMoving: number;
  readonly relayChanges: readonly RelayChange[];
}

export interface Vehicle {
  readonly agent: Agent;
  readonly board: Board;
  readonly gnss: Gnss;
  readonly clock: WrongClock;
  readonly boardCable: Pipe;
  readonly gnssCable: Pipe;
  now(): DriverMoment;
  /** Presses the panic button for `ms`. */
  panic(ms: number): void;
  truth(): VehicleTruth;
  /** Stops the agent in good order, then the hardware. */
  close(): Promise<void>;
}

const noSupervisor: Supervisor = {
  ready: () => undefined,
  alive: () => undefined,
  status: () => undefined,
  stopping: () => undefined,
};

const litresPerKm = 0.12;
const tankLitres = 70;
/** The tank is filled at a stop once it is this empty. */
const refillBelow = 0.25;
const refillTo = 0.95;
const runningVolts = 13.9;
const restingVolts = 12.6;

/** A tank that empties by distance, sloshes while the vehicle moves and is filled while it stands. */
function createTank(startFraction: number): (moment: DriverMoment) => number {
  let fraction = startFraction;
  let atM: number | null = null;
  return (moment) => {
    const drivenKm = (moment.odometerM - (atM ?? moment.odometerM)) / 1000;
    atM = moment.odometerM;
    fraction = Math.max(0, fraction - (drivenKm * litresPerKm) / tankLitres);
    if (fraction < refillBelow && !moment.ignition) fraction = refillTo;
    const slosh = moment.speedKmh > 5 ? 0.015 * Math.sin(moment.odometerM / 6) : 0;
    return Math.min(1, Math.max(0, fraction + slosh));
  };
}

interface Hardware {
  readonly board: Board;
  readonly gnss: Gnss;
  readonly driver: Driver;
  readonly boardCable: Pipe;
  readonly gnssCable: Pipe;
  cutWhileMoving(): number;
  close(): void;
}

const line = (settings: SerialSettings): Omit<SerialSettings, 'path'> => settings;

/** The board's terminals as the vehicle is now. */
function createTerminalUpdate(
  driver: Driver,
  tank: (moment: DriverMoment) => number,
): (board: Board) => void {
  return (board) => {
    const moment = driver.now();
    board.setSignal('ignition', moment.ignition);
    board.setSignal('cabinDoor', moment.cabinDoor);
    board.setSignal('cargoDoor', moment.cargoDoor);
    board.setSignal('motion', moment.speedKmh > 1);
    board.setFuel(tank(moment));
    board.setSupplyVolts(moment.engine === 'running' ? runningVolts : restingVolts);
  };
}

function createHardware(options: VehicleOptions): Hardware {
  const { clock, config, entropy } = options;
  let cutWhileMoving = 0;
  const driver: Driver = createDriver({
    clock,
    route: options.route,
    startS: options.startS,
    isStarterCut: () => board.isEnergised('enginecutoff'),
  });
  const board: Board = createBoard({
    name: options.boardName,
    clock,
    entropy: entropy.stream('board'),
    baudRate: config.boardPort.baudRate,
    send: (bytes) => boardCable.send(bytes),
    refresh: createTerminalUpdate(driver, createTank(0.4 + entropy.stream('fuel').fraction() * 0.5)),
    onRelayChange(change) {
      const isCut = change.feature === 'enginecutoff' && change.energised;
      if (isCut && driver.now().speedKmh > 0) cutWhileMoving += 1;
    },
  });
  const boardCable = createPipe({
    clock,
    entropy: entropy.stream('board cable'),
    line: line(config.boardPort),
    onBytes: (bytes) => board.receive(bytes),
  });
  const gnssCable = createPipe({
    clock,
    entropy: entropy.stream('gnss cable'),
    line: line(config.gnssPort),
    onBytes: () => undefined,
  });
  const gnss = createGnss({
    clock,
    entropy: entropy.stream('gnss'),
    utcMs: () => clock.utcMs(),
    truth: () => driver.now(),
    send: (bytes) => gnssCable.send(bytes),
    acquireS: 5,
  });
  return {
    board,
    gnss,
    driver,
    boardCable,
    gnssCable,
    cutWhileMoving: () => cutWhileMoving,
    close: () => gnss.close(),
  };
}

/** Starts a vehicle in the middle of its day. Rejects as `createAgent` does. */
export async function createVehicle(options: VehicleOptions): Promise<Vehicle> {
  const hardware = createHardware(options);
  const { board, gnss, driver, boardCable, gnssCable } = hardware;
  const clock = createWrongClock(options.clock, options.clockErrors);
  const agent = await createAgent(options.config, {
    clock,
    entropy: options.agentEntropy,
    log: options.log,
    openByteLink: (settings, handlers) =>
      (settings.path === options.config.boardPort.path ? boardCable : gnssCable).open(settings, handlers),
    openMqttLink: options.openMqttLink,
    verifier: options.verifier,
    supervisor: noSupervisor,
    configSlots: createMemorySlots(),
    host: createSimulatedHost(clock),
    serviceCodes: serviceCodesOfSecret(options.config.broker.secret, options.config),
    openOutbox: (boot, bootMonoMs) => options.openOutbox(clock, boot, bootMonoMs),
  }).catch((error: unknown) => {
    hardware.close();
    throw error;
  });
  let releasePanic: Cancel = () => undefined;
  return {
    agent,
    board,
    gnss,
    clock,
    boardCable,
    gnssCable,
    now: () => driver.now(),
    panic(ms) {
      releasePanic();
      board.setSignal('panic', true);
      releasePanic = options.clock.after(ms, () => board.setSignal('panic', false));
    },
    truth: () => ({ cutWhileMoving: hardware.cutWhileMoving(), relayChanges: board.relayLog().changes }),
    async close() {
      releasePanic();
      await agent.close();
      hardware.close();
    },
  };
}
