// The agent's loop: events in, `stepVehicle`, effects out. The only place that performs effects: serial ports, commits,
// MQTT, the service manager. It decides nothing; every decision is in `core/`.

import { messageOf } from '../src/core/errors.ts';
import { hexId } from '../src/core/ids.ts';
import type {
  Cancel,
  Clock,
  Entropy,
  Log,
  OpenByteLink,
  OpenMqttLink,
  Supervisor,
  Verifier,
} from '../src/ports.ts';
import { type CommitQueue, createCommitQueue } from './commit-queue.ts';
import type { AgentConfig } from './config.ts';
import type { ConfigStore } from './config-store.ts';
import type { KeptMessage } from './core/inbox.ts';
import type { ServiceCodes } from './core/service-code.ts';
import { createVehicle, helloOf, stepVehicle, vehicleWakeMs } from './core/vehicle.ts';
import type { VehicleConfig, VehicleEffect, VehicleEvent, VehicleState } from './core/vehicle-state.ts';
import type { Outbox } from './outbox.ts';
import { createSerialPorts } from './serial-ports.ts';
import { createSession } from './session.ts';
import { readVehicleRecord } from './vehicle-record.ts';

export { createMemorySlots } from './config-store.ts';

export interface AgentPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly openByteLink: OpenByteLink;
  readonly openMqttLink: OpenMqttLink;
  /** Checks the broker's signature with the key that was pinned at enrolment. */
  readonly verifier: Verifier;
  readonly supervisor: Supervisor;
  /** Where the modem is registered, as far as anybody tells; null when nobody does. Absent: nobody ever does. */
  network?(): Promise<'home' | 'roaming' | null>;
  /** Codes that restore the engine without a network. */
  readonly serviceCodes?: ServiceCodes;
  /** Opens the durable queue for this boot, whose `upMs` count from `bootMonoMs`. */
  openOutbox(boot: string, bootMonoMs: number): Promise<Outbox>;
  /** The two slots of the configuration that the broker sends. */
  readonly configSlots: ConfigStore;
}

export interface AgentStatus {
  readonly boot: string;
  readonly connection: 'waiting' | 'connecting' | 'up';
  readonly acknowledged: number;
  readonly backlog: number;
  readonly fixes: number;
  readonly board: string;
  readonly gnss: string;
  readonly commits: { readonly waiting: number; readonly failing: string | null };
  /** What people wrote to the vehicle, newest last. */
  readonly messages: readonly KeptMessage[];
}

export interface Agent {
  status(): Promise<AgentStatus>;
  /**
   * A one-time code that a person entered at the unit. A right one restores the engine and nothing else; every try is an
   * event, and five wrong ones lock the entry for an hour.
   * @returns whether it was right, and what to tell the person; never the code.
   */
  enterServiceCode(code: string): { readonly isRight: boolean; readonly words: string };
  /** Reports SHUTDOWN, delivers what it can, closes everything. Resolves within 5 s. */
  close(): Promise<void>;
}

const limits = {
  watchdogMs: 10_000,
  /** How often the network is asked for. */
  networkMs: 30_000,
  /** A commit that hangs this long means that the agent does not work; then the watchdog is not fed. */
  commitHangMs: 30_000,
  /** Time alone makes a step twice a second; without one for this long the loop is dead. */
  stepHangMs: 5000,
  stopMs: 2500,
} as const;

interface LoopOptions {
  readonly vehicle: VehicleConfig;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly state: VehicleState;
  perform(effect: VehicleEffect): void;
}

/** Steps the vehicle with one event after the other, and with time alone whenever it asks for that. */
function createLoop({ vehicle, clock, entropy, perform, ...start }: LoopOptions) {
  const events: VehicleEvent[] = [];
  let { state } = start;
  let timer: Cancel = () => undefined;
  let isStopped = false;
  let isStepping = false;
  let steppedMs = clock.monoMs();
  const dispatch = (event: VehicleEvent): void => {
    events.push(event);
    if (isStepping) return;
    isStepping = true;
    try {
      for (let next = events.shift(); next !== undefined; next = events.shift()) {
        const now = { monoMs: clock.monoMs(), utcMs: clock.utcMs(), fraction: entropy.fraction() };
        const step = stepVehicle(state, next, { now, config: vehicle });
        state = step.state;
        for (const effect of step.effects) perform(effect);
      }
      steppedMs = clock.monoMs();
    } finally {
      // Whoever called may swallow what was thrown; the loop must go on all the same.
      isStepping = false;
      timer();
      const delayMs = Math.max(1, vehicleWakeMs(state, vehicle) - clock.monoMs());
      if (!isStopped) timer = clock.after(delayMs, () => dispatch({ kind: 'time' }));
    }
  };
  return {
    dispatch,
    state: (): VehicleState => state,
    /** Since the last step that went through. */
    idleMs: (): number => clock.monoMs() - steppedMs,
    /** No more steps by time; events are still taken. */
    stopTime(): void {
      isStopped = true;
      timer();
    },
  };
}

/** Feeds the service manager's watchdog while steps go through and commits do not hang; being offline is healthy. */
function startWatchdog(
  { clock, supervisor }: Pick<AgentPorts, 'clock' | 'supervisor'>,
  look: { idleMs(): number; hangingMs(): number; status(): string },
): Cancel {
  let cancel: Cancel = () => undefined;
  const feed = (): void => {
    if (look.idleMs() < limits.stepHangMs && look.hangingMs() < limits.commitHangMs) supervisor.alive();
    supervisor.status(look.status());
    cancel = clock.after(limits.watchdogMs, feed);
  };
  cancel = clock.after(0, feed);
  return () => cancel();
}

/** Asks now and then where the modem is registered. */
function watchNetwork(
  { clock, log, network }: Pick<AgentPorts, 'clock' | 'log' | 'network'>,
  dispatch: (event: VehicleEvent) => void,
): Cancel {
  if (network === undefined) return () => undefined;
  let cancel: Cancel = () => undefined;
  let isStopped = false;
  const look = async (): Promise<void> => {
    const place = await network().catch((thrown: unknown) => {
      log.warn('network unknown', { reason: messageOf(thrown) });
      return null;
    });
    if (isStopped) return;
    dispatch({ kind: 'network', isRoaming: place === 'roaming' });
    cancel = clock.after(limits.networkMs, () => void look());
  };
  void look();
  return () => {
    isStopped = true;
    cancel();
  };
}

async function statusOf(
  state: VehicleState,
  parts: { boot: string; outbox: Outbox; commits: CommitQueue },
): Promise<AgentStatus> {
  const { queued } = await parts.outbox.stats();
  return {
    boot: parts.boot,
    connection: state.delivery.phase.kind,
    acknowledged: state.delivery.acknowledged,
    backlog: queued.reduce((sum, count) => sum + count, 0),
    fixes: state.fixes,
    board: state.ports.board.kind,
    gnss: state.ports.gnss.kind,
    commits: parts.commits.status(),
    messages: state.inbox.messages,
  };
}

type SlotEffect = Extract<VehicleEffect, { kind: 'writeSlot' }>;

/** Writes a slot and tells how that ended. */
async function writeSlot(
  store: ConfigStore,
  { slot, bytes }: SlotEffect,
  dispatch: (event: VehicleEvent) => void,
): Promise<void> {
  let fault: string | null = null;
  try {
    await store.write(slot, bytes);
  } catch (thrown) {
    fault = messageOf(thrown);
  }
  dispatch({ kind: 'slotWritten', slot, fault });
}

function codesOf({ serviceCodes }: AgentPorts): Pick<VehicleConfig, 'serviceCodes'> {
  return serviceCodes === undefined ? {} : { serviceCodes };
}

interface Hands {
  readonly ports: AgentPorts;
  readonly outbox: Outbox;
  readonly serial: ReturnType<typeof createSerialPorts>;
  readonly session: ReturnType<typeof createSession>;
  readonly commits: CommitQueue;
  dispatch(event: VehicleEvent): void;
}

/** Performs one effect. */
function createPerformer({ ports, outbox, serial, session, commits, dispatch }: Hands) {
  const { log } = ports;
  return (effect: VehicleEffect): void => {
    switch (effect.kind) {
      case 'openPort':
        return serial.open(effect.port);
      case 'closePort':
        return serial.close(effect.port);
      case 'writePort':
        return serial.write(effect.port, effect.bytes);
      case 'commit':
        return commits.add(effect);
      case 'acknowledge':
        return session.acknowledge(effect.receipt);
      case 'writeSlot':
        return void writeSlot(ports.configSlots, effect, dispatch);
      case 'delivery':
        return session.perform(effect.effect);
      case 'origin':
        return void outbox.setOrigin(effect.originMs, effect.quality).catch((thrown: unknown) => {
          log.warn('clock origin not stored', { reason: messageOf(thrown) });
        });
      case 'log':
        return log[effect.level](effect.event, effect.fields);
    }
  };
}

/** Starts an agent. Rejects with an AppError when its storage cannot be opened. */
export async function createAgent(config: AgentConfig, ports: AgentPorts): Promise<Agent> {
  const { clock, entropy, log } = ports;
  const boot = hexId(entropy.bytes(8));
  const bootMonoMs = clock.monoMs();
  const outbox = await ports.openOutbox(boot, bootMonoMs);
  const { record, memory, inbox, zones, isIntact } = await readVehicleRecord(outbox);
  const slots = await ports.configSlots.read();
  const vehicle: VehicleConfig = { ...config, boot, ...codesOf(ports) };
  const now = { monoMs: clock.monoMs(), utcMs: clock.utcMs(), fraction: entropy.fraction() };
  const connectDelayMs = entropy.fraction() * config.broker.connectSpreadMs;
  const kept = { record, memory, inbox, zones, slots };
  const state = createVehicle(vehicle, { now, bootMonoMs, ...kept, connectDelayMs });
  const loop = createLoop({ vehicle, clock, entropy, state, perform: (effect) => perform(effect) });
  const { dispatch } = loop;
  const serial = createSerialPorts(config, ports, dispatch);
  const session = createSession({
    config,
    ports,
    outbox,
    boot,
    dispatch,
    hello: (nonce) => helloOf(loop.state(), vehicle, nonce),
  });
  const { acknowledge } = session;
  const commits = createCommitQueue({ outbox, clock, log, isIntact, dispatch, acknowledge });

  const perform = createPerformer({ ports, outbox, serial, session, commits, dispatch });

  if (!isIntact) log.error('the record of commands and relays was lost: relays count as unknown until read');
  log.info('agent started', { boot, version: config.agentVersion });
  dispatch({ kind: 'start' });
  ports.supervisor.ready();
  const stopWatchdog = startWatchdog(ports, {
    idleMs: loop.idleMs,
    hangingMs: commits.hangingMs,
    status: () => {
      const { delivery, ports: serialPorts } = loop.state();
      return `${delivery.phase.kind}, board ${serialPorts.board.kind}, gnss ${serialPorts.gnss.kind}`;
    },
  });

  const stopNetwork = watchNetwork(ports, dispatch);

  let isClosing = false;
  return {
    status: () => statusOf(loop.state(), { boot, outbox, commits }),
    enterServiceCode(code) {
      dispatch({ kind: 'serviceCode', code });
      return loop.state().service.last ?? { isRight: false, words: 'not judged yet: look at the events' };
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      ports.supervisor.stopping();
      dispatch({ kind: 'stop' });
      loop.stopTime();
      stopWatchdog();
      stopNetwork();
      serial.closeAll();
      const untilMs = clock.monoMs() + limits.stopMs;
      await commits.settled(untilMs);
      await session.drained(untilMs, () => loop.state().delivery);
      await session.close();
      await outbox.close();
      log.info('agent stopped');
    },
  };
}
