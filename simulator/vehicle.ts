// One virtual vehicle: the real agent on simulated hardware. No product code is bypassed: simulated are the devices at the far ends of two
// serial cables, the clock, and the disk of a commissioned unit.
import { type Agent, type AgentPorts, createAgent } from '../agent/agent.ts';
import type { AgentConfig } from '../agent/config.ts';
import { commissionedMemory, writeFirstMemory } from '../agent/vehicle-record.ts';
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
import { type ClockErrors, createWrongClock, type WrongClock } from './clock.ts';
import type { Terminals } from './core/ledger/facts.ts';
import type { SeededEntropy } from './core/random.ts';
import { type Board, createBoard } from './hardware/board.ts';
import type { BoardName, WiringName } from './hardware/board-maps.ts';
import { type BusHardware, createBusHardware } from './hardware/bus-hardware.ts';
import type { RelayChange } from './hardware/contacts.ts';
import { createGnss, type Gnss } from './hardware/gnss.ts';
import { createPipe, type Pipe } from './hardware/pipe.ts';
import { createTank, type Tank } from './hardware/tank.ts';
import { createSimulatedHost } from './host-facts.ts';
import { createKillablePorts, type KillablePorts } from './killable-ports.ts';
import { createMemorySlots } from './memory-slots.ts';
import { createDriver, type Driver, type DriverMoment } from './world/driver.ts';
import type { Route } from './world/routes.ts';

export interface VehicleOptions extends Pick<AgentPorts, 'recentLog' | 'owner'> {
  readonly config: AgentConfig;
  readonly boardName: BoardName;
  /** `plain` unless given. */
  readonly wiring?: WiringName;
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
  /** Called at every change at the board's terminals; the first time with all of them. */
  onTerminals?(terminals: Terminals): void;
  /** Called once a second with where the vehicle truly is, and what is in its tank. */
  onMoment?(moment: VehicleMoment): void;
  /** Called when a relay contact moves. */
  onContact?(change: RelayChange, motion: Motion): void;
  /** The disk; given the vehicle's own clock. */
  openOutbox(
    clock: Clock,
    ...boot: Parameters<AgentPorts['openOutbox']>
  ): ReturnType<AgentPorts['openOutbox']>;
}

export interface VehicleMoment extends DriverMoment {
  /** Fraction, without slosh; null: the board has no sender. */
  readonly tankLevel: number | null;
}

/** What the agent must never have done. */
interface VehicleTruth {
  /** The engine cut-off was energised while the vehicle moved. */
  readonly cutWhileMoving: number;
  readonly relayChanges: readonly RelayChange[];
}

/** For how long, in ms, the vehicle has moved and had its ignition on; 0 when it does not. */
export interface Motion {
  readonly movingMs: number;
  readonly ignitionOnMs: number;
}

export interface Vehicle {
  /** The present agent: a killed one is replaced at its restart. */
  readonly agent: Agent;
  readonly driver: Driver;
  readonly tank: Tank;
  readonly board: Board;
  readonly gnss: Gnss;
  readonly clock: WrongClock;
  readonly boardCable: Pipe;
  readonly gnssCable: Pipe;
  /** Null: the configuration names no bus. */
  readonly bus: BusHardware | null;
  now(): DriverMoment;
  /** Holds an input active (pressed, open, cut) for `ms`, independent of the driver. */
  hold(input: HeldInput, ms: number): void;
  isHeld(input: HeldInput): boolean;
  /** Presses the panic button for `ms`. */
  panic(ms: number): void;
  truth(): VehicleTruth;
  /** Ends the agent as `kill -9` ends a process; the hardware goes on. */
  kill(): void;
  /** Starts an agent on the disk that the killed one left. Rejects as `createAgent` does. */
  restart(): Promise<void>;
  /** Stops the agent, then the hardware. */
  close(): Promise<void>;
}

const noSupervisor: Supervisor = {
  ready: () => undefined,
  alive: () => undefined,
  status: () => undefined,
  stopping: () => undefined,
};

const runningVolts = 13.9;
const restingVolts = 12.6;
/** Above this speed a vehicle counts as moving. */
const standstillKmh = 3;

/** Inputs that are set independently of the driver. */
export type HeldInput = 'panic' | 'cabinDoor' | 'cargoDoor' | 'tamper' | 'externalPower';

interface Hardware {
  readonly board: Board;
  readonly tank: Tank;
  readonly held: Set<HeldInput>;
  /** Brings the terminals up to date at once. */
  update(): void;
  readonly gnss: Gnss;
  readonly driver: Driver;
  readonly boardCable: Pipe;
  readonly gnssCable: Pipe;
  readonly bus: BusHardware | null;
  cutWhileMoving(): number;
  close(): void;
}

const supplyVoltsOf = ({ engine }: DriverMoment): number =>
  engine === 'running' ? runningVolts : restingVolts;

const line = (settings: SerialSettings): Omit<SerialSettings, 'path'> => settings;

const terminalsOf = (moment: DriverMoment, held: ReadonlySet<HeldInput>): Terminals => ({
  ignition: moment.ignition,
  cabinDoor: moment.cabinDoor || held.has('cabinDoor'),
  cargoDoor: moment.cargoDoor || held.has('cargoDoor'),
  panic: held.has('panic'),
  tamper: held.has('tamper'),
  externalPower: !held.has('externalPower'),
});

interface Stopwatch {
  update(isOn: boolean): void;
  ms(): number;
}

/** For how long something has been so. */
function createStopwatch(clock: Clock): Stopwatch {
  let sinceMs: number | null = null;
  return {
    update(isOn) {
      sinceMs = isOn ? (sinceMs ?? clock.monoMs()) : null;
    },
    ms: () => (sinceMs === null ? 0 : clock.monoMs() - sinceMs),
  };
}

interface World {
  readonly driver: Driver;
  readonly tank: Tank;
  readonly held: Set<HeldInput>;
}

/** Applies the state of the vehicle to the board's terminals and reports their changes. */
function createTerminalUpdate(options: VehicleOptions, { driver, tank, held }: World) {
  const { clock } = options;
  const moving = createStopwatch(clock);
  const ignition = createStopwatch(clock);
  let shown = '';
  const look = (): DriverMoment => {
    const moment = driver.now();
    moving.update(moment.speedKmh > standstillKmh);
    ignition.update(moment.ignition);
    return moment;
  };
  return {
    motion(): Motion {
      look();
      return { movingMs: moving.ms(), ignitionOnMs: ignition.ms() };
    },
    update(board: Board): void {
      const moment = look();
      const terminals = terminalsOf(moment, held);
      for (const [name, isOn] of Object.entries(terminals)) board.setSignal(name as keyof Terminals, isOn);
      board.setSignal('motion', moment.speedKmh > 1);
      board.setFuel(tank.level(moment, clock.monoMs()));
      board.setSupplyVolts(supplyVoltsOf(moment));
      const now = Object.values(terminals).join();
      if (now === shown) return;
      shown = now;
      options.onTerminals?.(terminals);
    },
  };
}

/** The bus of a vehicle whose configuration names one. */
function createBus({ clock, entropy, config }: VehicleOptions, { driver, tank }: World): BusHardware | null {
  if (config.bus === undefined) return null;
  return createBusHardware({
    clock,
    entropy: entropy.stream('bus'),
    line: line(config.bus.port),
    truth() {
      const moment = driver.now();
      return { ...moment, tankLevel: tank.fraction(), supplyVolts: supplyVoltsOf(moment) };
    },
  });
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
  const tank = createTank(0.4 + entropy.stream('fuel').fraction() * 0.5);
  const held = new Set<HeldInput>();
  const terminals = createTerminalUpdate(options, { driver, tank, held });
  const board: Board = createBoard({
    name: options.boardName,
    wiring: options.wiring ?? 'plain',
    clock,
    entropy: entropy.stream('board'),
    baudRate: config.boardPort.baudRate,
    send: (bytes) => boardCable.send(bytes),
    refresh: terminals.update,
    onRelayChange(change) {
      const isCut = change.feature === 'enginecutoff' && change.energised;
      if (isCut && driver.now().speedKmh > 0) cutWhileMoving += 1;
      options.onContact?.(change, terminals.motion());
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
    truth() {
      const moment = driver.now();
      tank.level(moment, clock.monoMs());
      options.onMoment?.({
        ...moment,
        tankLevel: board.map.wiring.fuel === null ? null : tank.fraction(),
      });
      return moment;
    },
    send: (bytes) => gnssCable.send(bytes),
    acquireS: 5,
  });
  const bus = createBus(options, { driver, tank, held });
  return {
    board,
    gnss,
    driver,
    tank,
    held,
    update: () => terminals.update(board),
    boardCable,
    gnssCable,
    bus,
    cutWhileMoving: () => cutWhileMoving,
    close() {
      gnss.close();
      bus?.truck.close();
    },
  };
}

interface AgentLife {
  readonly agent: Agent;
  die(): void;
}

/** The cable on a port of the configuration. */
function cableAt(path: string, { config }: VehicleOptions, { boardCable, gnssCable, bus }: Hardware): Pipe {
  if (path === config.boardPort.path) return boardCable;
  return bus !== null && path === config.bus?.port.path ? bus.cable : gnssCable;
}

/** The witnesses of a commissioned unit were proven this long before the run begins. */
const commissionedAgoMs = 86_400_000;

/** Disk content before the first start of a commissioned vehicle at its present place. */
function firstMemory({ config, clock }: VehicleOptions, now: DriverMoment) {
  const parkedAt = now.ignition || now.speedKmh > 0 ? null : now;
  return commissionedMemory(config, { parkedAt, utcMs: clock.utcMs() - commissionedAgoMs });
}

/** @param memory for a disk that was never used; null leaves every disk as it is. */
async function startAgent(
  options: VehicleOptions,
  ports: Omit<AgentPorts, 'openOutbox'>,
  memory: ReturnType<typeof firstMemory> | null,
): Promise<AgentLife> {
  const killable: KillablePorts = createKillablePorts({
    ...ports,
    async openOutbox(boot, bootMonoMs) {
      const outbox = await options.openOutbox(killable.clock, boot, bootMonoMs);
      if (memory !== null) await writeFirstMemory(outbox, memory);
      return outbox;
    },
  });
  return { agent: await createAgent(options.config, killable.ports), die: killable.die };
}

/** Starts a vehicle in the middle of its day. Rejects as `createAgent` does. */
export async function createVehicle(options: VehicleOptions): Promise<Vehicle> {
  const hardware = createHardware(options);
  const { board, gnss, driver, bus } = hardware;
  const clock = createWrongClock(options.clock, options.clockErrors);
  const ports: Omit<AgentPorts, 'openOutbox'> = {
    clock,
    entropy: options.agentEntropy,
    log: options.log,
    ...(options.recentLog === undefined ? {} : { recentLog: options.recentLog }),
    ...(options.owner === undefined ? {} : { owner: options.owner }),
    openByteLink: (settings, handlers) => cableAt(settings.path, options, hardware).open(settings, handlers),
    openMqttLink: options.openMqttLink,
    verifier: options.verifier,
    supervisor: noSupervisor,
    configSlots: createMemorySlots(),
    host: createSimulatedHost(clock),
    serviceCodes: serviceCodesOfSecret(options.config.broker.secret, options.config),
  };
  let life = await startAgent(options, ports, firstMemory(options, driver.now())).catch((error: unknown) => {
    hardware.close();
    throw error;
  });
  let isKilled = false;
  const releases = new Map<HeldInput, Cancel>();
  const hold = (input: HeldInput, ms: number): void => {
    releases.get(input)?.();
    hardware.held.add(input);
    hardware.update();
    const release = options.clock.after(ms, () => {
      hardware.held.delete(input);
      hardware.update();
    });
    releases.set(input, release);
  };
  return {
    get agent() {
      return life.agent;
    },
    driver,
    tank: hardware.tank,
    hold,
    isHeld: (input) => hardware.held.has(input),
    board,
    gnss,
    clock,
    boardCable: hardware.boardCable,
    gnssCable: hardware.gnssCable,
    bus,
    now: () => driver.now(),
    panic: (ms) => hold('panic', ms),
    kill() {
      isKilled = true;
      life.die();
    },
    async restart() {
      if (!isKilled) return;
      life = await startAgent(options, ports, null);
      isKilled = false;
    },
    truth: () => ({ cutWhileMoving: hardware.cutWhileMoving(), relayChanges: board.relayLog().changes }),
    async close() {
      for (const cancel of releases.values()) cancel();
      if (!isKilled) await life.agent.close();
      hardware.close();
    },
  };
}
