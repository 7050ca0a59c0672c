// One vehicle, its broker and its bad luck on one virtual clock: the real agent, the real broker parts, everything else
// simulated from a single seed. The vehicle begins as a commissioned one, by what its disk holds. It notes every breach of an invariant against the truth and stops at none.
import { setImmediate as turn } from 'node:timers/promises';
import { type Agent, createAgent } from '../../../agent/agent.ts';
import { type AgentConfig, standardProtection, standardSettings } from '../../../agent/config.ts';
import type { BoardProfile } from '../../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../../agent/core/board/profile-parsing.ts';
import { createLogRing } from '../../../agent/log-ring.ts';
import { type Outbox, openOutbox } from '../../../agent/outbox.ts';
import type { ConfigStore } from '../../../agent/ports.ts';
import { commissionedMemory, writeFirstMemory } from '../../../agent/vehicle-record.ts';
import {
  createVirtualClock,
  createWrongClock,
  type VirtualClock,
  type WrongClock,
} from '../../../simulator/clock.ts';
import { createSeededEntropy, type SeededEntropy } from '../../../simulator/core/random.ts';
import { type Board, createBoard, noBoardFaults } from '../../../simulator/hardware/board.ts';
import { fittedOverrides } from '../../../simulator/hardware/board-maps.ts';
import type { RelayChange } from '../../../simulator/hardware/contacts.ts';
import { createGnss, type Gnss } from '../../../simulator/hardware/gnss.ts';
import { createPipe, noPipeFaults, type Pipe } from '../../../simulator/hardware/pipe.ts';
import { createSimulatedHost } from '../../../simulator/host-facts.ts';
import { createMemorySlots } from '../../../simulator/memory-slots.ts';
import { personsCrypto } from '../../../src/adapters/persons-crypto.ts';
import type { FleetEvent } from '../../../src/core/events/event.ts';
import type { Log, LogFields, SerialSettings, Supervisor } from '../../../src/ports.ts';
import { createVirtualBroker, type VirtualBroker } from './virtual-broker.ts';
import { createVirtualDisk, type Life, mortalClock, type VirtualDisk } from './virtual-disk.ts';
import { createTruth, type Truth } from './virtual-truth.ts';
import { createVirtualWorld, type VirtualWorld } from './virtual-world.ts';

const boardName = 'waveshare-relay-d';
const line = { baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 } as const;
const boardPort: SerialSettings = { path: 'board', ...line };
const gnssPort: SerialSettings = { path: 'gnss', ...line };
/** 2026-12-01, after the agent's release. */
const startUtcMs = Date.UTC(2026, 11, 1);

const idleSupervisor: Supervisor = {
  ready: () => undefined,
  alive: () => undefined,
  status: () => undefined,
  stopping: () => undefined,
};

export interface Fleet {
  readonly clock: VirtualClock;
  readonly entropy: SeededEntropy;
  readonly world: VirtualWorld;
  readonly board: Board;
  readonly gnss: Gnss;
  readonly boardCable: Pipe;
  readonly gnssCable: Pipe;
  readonly disk: VirtualDisk;
  readonly broker: VirtualBroker;
  readonly truth: Truth;
  /** What the agent has written; it outlives the agent. */
  readonly slots: ConfigStore;
  /** What the receiver sends instead of the truth. */
  readonly gnssLies: { mode: 'none' | 'frozen' | 'repeats' };
  agent(): Agent | null;
  /** The vehicle's own clock while the agent lives. */
  agentClock(): WrongClock | null;
  /** @param upMs how long its machine has been on; an hour where it is not said. */
  startAgent(upMs?: number): Promise<void>;
  /** kill -9: what is not on disk is gone. */
  killAgent(): void;
  close(): Promise<void>;
}

function configOf(profile: BoardProfile): AgentConfig {
  return {
    accountID: 'acme',
    deviceID: 'truck-1',
    hardwareID: '',
    agentVersion: '0.0.0',
    earliestUtcMs: Date.UTC(2026, 10, 1),
    broker: { url: 'mqtt://virtual', secret: 'secret', keepaliveS: 30, connectSpreadMs: 2000 },
    profile,
    boardPort,
    gnssPort,
    gnssSilenceMs: 5000,
    settings: { ...standardSettings, reporting: { ...standardSettings.reporting, heartbeatS: 120 } },
    protection: standardProtection,
    windowMs: 10_000,
  };
}

/** A log that hands each line to the truth, which learns from it which order moved which relay. */
function createObservedLog(onLine: (event: string, fields: LogFields) => void): Log {
  const take = (event: string, fields: LogFields = {}): void => onLine(event, fields);
  const log: Log = { debug: () => undefined, info: take, warn: take, error: take, with: () => log };
  return log;
}

/** The receiver's bytes, replaced by a lie where one is told. */
function createGnssWire(fleet: () => { cable: Pipe; lies: Fleet['gnssLies'] }) {
  let lastBurst: Uint8Array | null = null;
  return (bytes: Uint8Array): void => {
    const { cable, lies } = fleet();
    if (lies.mode !== 'repeats') lastBurst = bytes;
    cable.send(lies.mode === 'repeats' && lastBurst !== null ? lastBurst : bytes);
  };
}

interface Hardware {
  readonly board: Board;
  readonly gnss: Gnss;
  readonly boardCable: Pipe;
  readonly gnssCable: Pipe;
  readonly world: VirtualWorld;
  readonly gnssLies: Fleet['gnssLies'];
}

function createHardware(given: {
  readonly clock: VirtualClock;
  readonly entropy: SeededEntropy;
  readonly hasMotionSensor: boolean;
  onRelayChange(change: RelayChange): void;
}): Hardware {
  const { clock, entropy } = given;
  const gnssLies: Fleet['gnssLies'] = { mode: 'none' };
  const world = createVirtualWorld({
    clock,
    entropy: entropy.stream('world'),
    isStarterCut: () => board.isEnergised('enginecutoff'),
  });
  const board: Board = createBoard({
    name: boardName,
    clock,
    entropy: entropy.stream('board'),
    baudRate: line.baudRate,
    send: (bytes) => boardCable.send(bytes),
    refresh(of) {
      const { ignition, speedKmh } = world.now();
      of.setSignal('ignition', ignition);
      of.setSignal('motion', given.hasMotionSensor && speedKmh > 0.5);
    },
    onRelayChange: given.onRelayChange,
  });
  const boardCable = createPipe({
    clock,
    entropy: entropy.stream('board cable'),
    line,
    onBytes: (bytes) => board.receive(bytes),
  });
  const gnssCable = createPipe({
    clock,
    entropy: entropy.stream('gnss cable'),
    line,
    onBytes: () => undefined,
  });
  let frozen = world.place();
  const gnss = createGnss({
    clock,
    entropy: entropy.stream('gnss'),
    utcMs: () => clock.utcMs(),
    truth() {
      // A receiver that pins its position; only with ignition on, where the wire still tells the truth.
      if (gnssLies.mode === 'frozen' && world.now().ignition) return { ...frozen, speedKmh: 0 };
      frozen = world.place();
      return frozen;
    },
    send: createGnssWire(() => ({ cable: gnssCable, lies: gnssLies })),
    acquireS: 5,
  });
  return { board, gnss, boardCable, gnssCable, world, gnssLies };
}

function watchedOutbox(outbox: Outbox, onStored: (events: readonly FleetEvent[]) => void): Outbox {
  return {
    ...outbox,
    async append(records, extra) {
      const events = await outbox.append(records, extra);
      onStored(events);
      return events;
    },
  };
}

interface FleetOptions {
  /** The owner's key that the unit pins, and the document beside its settings; none unless given. */
  readonly owner?: { readonly pin: string; readonly documentText: string | null };
  /** Every move of a relay. */
  onRelayChange?(change: RelayChange): void;
}

/** Builds everything for a seed; nothing has happened yet. */
export async function createFleet(
  seed: string,
  profile: BoardProfile,
  { owner, onRelayChange }: FleetOptions = {},
): Promise<Fleet> {
  const clock = createVirtualClock(startUtcMs);
  const entropy = createSeededEntropy(seed);
  const hasMotionSensor = entropy.chance(0.5);
  const disk = createVirtualDisk(entropy.stream('disk'));
  const truth: Truth = createTruth({
    clock,
    world: () => hardware.world.now(),
    disk,
  });
  const hardware = createHardware({
    clock,
    entropy,
    hasMotionSensor,
    onRelayChange(change) {
      onRelayChange?.(change);
      truth.onRelayChange(change);
    },
  });
  // As long as an agent that has run for days keeps it.
  const recent = createLogRing();
  const log = createObservedLog((event, fields) => {
    recent.add(`${JSON.stringify({ ...fields, msg: event })}\n`);
    truth.onLog(event, fields);
  });
  const quiet = createObservedLog(() => undefined);
  const broker = await createVirtualBroker({ clock, entropy: entropy.stream('broker'), log: quiet });
  const { inputs = {} } = fittedOverrides(boardName);
  const fitted = applyOverrides(profile, {
    inputs: hasMotionSensor ? inputs : { ...inputs, motion: false },
  });
  if (fitted.kind !== 'ok') throw new Error(JSON.stringify(fitted.faults));
  const config: AgentConfig = {
    ...configOf(fitted.profile),
    ...(owner === undefined ? {} : { owner: { pin: owner.pin } }),
  };
  const firstMemory = commissionedMemory(config, {
    parkedAt: hardware.world.place(),
    utcMs: startUtcMs - 86_400_000,
  });
  const boots = entropy.stream('agents');
  const slots = createMemorySlots();
  let life: Life = { isAlive: false };
  let agent: Agent | null = null;
  let ownClock: WrongClock | null = null;

  const startAgent = async (upMs?: number): Promise<void> => {
    const mine: Life = { isAlive: true };
    life = mine;
    truth.agentStarts();
    const boot = boots.stream(String(boots.integer(0, 2 ** 31)));
    const mortal = mortalClock(clock, mine);
    const wrong = createWrongClock(mortal, {
      offsetMs: boot.integer(-3_600_000, 3_600_000),
      driftPpm: boot.integer(-100, 100),
    });
    ownClock = wrong;
    const openCable =
      (cable: Pipe): Parameters<typeof createAgent>[1]['openByteLink'] =>
      (settings, handlers) =>
        cable.open(settings, {
          onBytes: (bytes) => (mine.isAlive ? handlers.onBytes(bytes) : undefined),
          onDown: (reason) => (mine.isAlive ? handlers.onDown(reason) : undefined),
        });
    const open = { board: openCable(hardware.boardCable), gnss: openCable(hardware.gnssCable) };
    const started = await createAgent(config, {
      clock: wrong,
      entropy: boot,
      log,
      openByteLink: (settings, handlers) =>
        (settings.path === 'board' ? open.board : open.gnss)(settings, handlers),
      openMqttLink: (options, handlers) =>
        broker.openMqttLink(options, {
          onUp: () => (mine.isAlive ? handlers.onUp() : undefined),
          onMessage: (message, done) => (mine.isAlive ? handlers.onMessage(message, done) : undefined),
          onDown: (reason) => (mine.isAlive ? handlers.onDown(reason) : undefined),
        }),
      verifier: broker.verifier,
      ...(owner === undefined ? {} : { owner: { crypto: personsCrypto, documentText: owner.documentText } }),
      supervisor: idleSupervisor,
      host: createSimulatedHost(wrong, upMs),
      recentLog: recent.text,
      configSlots: {
        read: () => slots.read(),
        // A dead agent writes nothing and hears of nothing.
        write: async (slot, bytes) => {
          if (mine.isAlive) await slots.write(slot, bytes);
          if (!mine.isAlive) await new Promise(() => undefined);
        },
      },
      openOutbox: async (bootId, bootMonoMs) => {
        const outbox = await openOutbox({
          path: ':memory:',
          boot: bootId,
          bootMonoMs,
          clock: wrong,
          entropy: boot,
          log: quiet,
          maxBytes: 64 * 1024 * 1024,
          openDatabase: () => disk.open(mortal, mine),
        });
        // Whatever becomes of the disk later, it was commissioned once only.
        if (truth.counts.boots === 1) await writeFirstMemory(outbox, firstMemory);
        return watchedOutbox(outbox, (events) => truth.onStored(bootId, events));
      },
    });
    if (mine.isAlive) agent = started;
  };

  return {
    clock,
    entropy,
    ...hardware,
    disk,
    broker,
    truth,
    slots,
    agent: () => agent,
    agentClock: () => (life.isAlive ? ownClock : null),
    startAgent,
    killAgent() {
      life.isAlive = false;
      agent = null;
      truth.agentDies();
      for (const cable of [hardware.boardCable, hardware.gnssCable]) {
        cable.unplug();
        cable.plug();
      }
      broker.cut('the vehicle is gone');
    },
    async close() {
      life.isAlive = false;
      hardware.gnss.close();
      await broker.close();
      disk.close();
    },
  };
}

/** Lets virtual time pass, from one due moment to the next, with a turn of the real loop after each. */
export async function runFor({ clock }: Fleet, ms: number): Promise<void> {
  const untilMs = clock.monoMs() + ms;
  while (clock.monoMs() < untilMs) {
    const dueMs = Math.min(clock.nextDueMs() ?? untilMs, untilMs);
    clock.advance(Math.max(0, dueMs - clock.monoMs()));
    await turn();
  }
}

/** Takes every fault back. */
export function heal(fleet: Fleet): void {
  const { board, gnss, boardCable, gnssCable, disk, broker, gnssLies } = fleet;
  board.setFaults(noBoardFaults);
  board.setPower(true);
  for (const cable of [boardCable, gnssCable]) {
    cable.setFaults(noPipeFaults);
    cable.plug();
  }
  gnss.setPower(true);
  gnss.setTunnel(false);
  gnss.setJammed(false);
  gnss.setSpoof(null);
  gnssLies.mode = 'none';
  Object.assign(disk.wear, { slowestMs: 5, isFailing: false, failures: 0 });
  Object.assign(broker.network, { isUp: true, isHalfOpen: false, latencyMs: 20, isAckLost: false });
  if (broker.ledger() === null) broker.start();
}
