// The agent assembled: events in, `stepVehicle` (`agent-loop.ts`), effects out (`effect-runner.ts`): serial ports,
// commits, MQTT, the service manager. It decides nothing; every decision is in `core/`.

import { hexId } from '../src/core/ids.ts';
import { createLoop, startWatchdog, watchModem, watchNetwork } from './agent-loop.ts';
import { type CommitQueue, createCommitQueue } from './commit-queue.ts';
import type { AgentConfig } from './config.ts';
import type { ModuleConfig } from './core/kernel/module-slots.ts';
import { type VehicleConfig } from './core/kernel/vehicle-types.ts';
import type { AgentStatus } from './core/status/agent-facts.ts';
import { moduleFacts, statusOfVehicle } from './core/status/status.ts';
import { helloOf } from './core/vehicle/vehicle.ts';
import { createVehicle } from './core/vehicle/vehicle-start.ts';
import { createEffectRunner } from './effect-runner.ts';
import { agentModules } from './modules.ts';
import type { Outbox } from './outbox.ts';
import type { AgentPorts } from './ports.ts';
import { createSerialPorts } from './serial-ports.ts';
import { createSession } from './session.ts';
import { readVehicleRecord } from './vehicle-record.ts';

export type { AgentStatus } from './core/status/agent-facts.ts';
export type { AgentPorts } from './ports.ts';

export interface Agent {
  status(): Promise<AgentStatus>;
  /**
   * A one-time code that was entered at the unit. A right one restores the engine and does nothing else; every try
   * is an event, and five wrong ones lock the entry for an hour.
   * @returns whether it was right, and a text for the person; never the code.
   */
  enterServiceCode(code: string): { readonly isRight: boolean; readonly words: string };
  /**
   * A message of the driver to the fleet: a MESSAGE event (4392).
   * @param text 1 to 500 characters, checked by the caller.
   * @returns whether it is on disk. False: the disk refuses it now; it is kept in memory and tried again.
   */
  sendMessage(text: string): Promise<boolean>;
  /** Reports SHUTDOWN, delivers what it can, closes everything. Resolves within 5 s. */
  close(): Promise<void>;
}

/** Time to deliver and store pending events after a request to stop. */
const stopMs = 2500;

/** How long an answer to the driver waits for the disk. */
const messageMs = 5000;

interface Parts {
  readonly config: AgentConfig;
  readonly boot: string;
  readonly bootMonoMs: number;
  readonly outbox: Outbox;
  readonly commits: CommitQueue;
  readonly session: Pick<ReturnType<typeof createSession>, 'facts'>;
  readonly loop: Pick<ReturnType<typeof createLoop>, 'state' | 'idleMs'>;
}

async function statusOf(parts: Parts, nowMs: number): Promise<AgentStatus> {
  const { config, loop, commits } = parts;
  const { queued, dropped, isExact, bytes } = await parts.outbox.stats();
  const state = loop.state();
  const { connects, ackedMs } = parts.session.facts();
  const paths = { board: config.boardPort.path, gnss: config.gnssPort.path };
  return {
    boot: parts.boot,
    version: config.agentVersion,
    upS: Math.round((nowMs - parts.bootMonoMs) / 1000),
    connection: state.delivery.phase.kind,
    acknowledged: state.delivery.acknowledged,
    backlog: queued.reduce((sum, count) => sum + count, 0),
    fixes: state.fixes,
    board: state.ports.board.kind,
    gnss: state.ports.gnss.kind,
    commits: commits.status(),
    committed: commits.committed(),
    connects,
    ackedAgoS: ackedMs === null ? null : Math.round((nowMs - ackedMs) / 1000),
    queue: { queued, dropped, isExact },
    storage: { bytes },
    idleMs: Math.round(loop.idleMs()),
    hangingMs: Math.round(commits.hangingMs()),
    ...moduleFacts(state),
    vehicle: statusOfVehicle(state, { nowMs, paths, config }),
  };
}

function codesOf({ serviceCodes }: AgentPorts): Pick<VehicleConfig, 'serviceCodes'> {
  return serviceCodes === undefined ? {} : { serviceCodes };
}

/** What modules need of the process in the configuration of the vehicle. */
const setupOf = (ports: AgentPorts): ModuleConfig =>
  Object.assign({}, ...agentModules.map(({ setup }) => setup?.(ports)));

/** What reads a further port, where one is configured; its code is loaded only then. */
const loadReaders = (config: AgentConfig, ports: AgentPorts) =>
  Promise.all(
    agentModules.flatMap(({ table, load }) => {
      const own = table === undefined ? undefined : config[table];
      return own === undefined || load === undefined ? [] : [load(own, ports)];
    }),
  );

/** What the last run left: in the outbox, and the slots of settings. */
async function readStored(outbox: Outbox, { configSlots }: AgentPorts) {
  const record = await readVehicleRecord(outbox);
  return { ...record, slots: await configSlots.read() };
}

/** When this process started, and when its machine was switched on; monotonic. Where the machine does not say, it was just now. */
function startOf({ clock, host }: AgentPorts) {
  const bootMonoMs = clock.monoMs();
  return { bootMonoMs, poweredMs: bootMonoMs - (host?.upMs() ?? 0) };
}

const vehicleConfigOf = (config: AgentConfig, ports: AgentPorts, boot: string): VehicleConfig => ({
  ...config,
  boot,
  verifier: ports.verifier,
  ...codesOf(ports),
  ...setupOf(ports),
});

/** Starts an agent. Rejects with an AppError when its storage cannot be opened. */
export async function createAgent(config: AgentConfig, ports: AgentPorts): Promise<Agent> {
  const { clock, entropy, log } = ports;
  const boot = hexId(entropy.bytes(8));
  const started = startOf(ports);
  const { bootMonoMs } = started;
  // Before anything is open: code that cannot be loaded leaves nothing behind.
  const startReaders = await loadReaders(config, ports);
  const outbox = await ports.openOutbox(boot, bootMonoMs);
  const stored = await readStored(outbox, ports).catch(async (thrown: unknown) => {
    // A further start in this process must find the file closed.
    await outbox.close().catch(() => undefined);
    throw thrown;
  });
  const { isIntact, ...kept } = stored;
  const vehicle = vehicleConfigOf(config, ports, boot);
  const now = { monoMs: clock.monoMs(), utcMs: clock.utcMs(), fraction: entropy.fraction() };
  const connectDelayMs = entropy.fraction() * config.broker.connectSpreadMs;
  const state = createVehicle(vehicle, { now, ...started, ...kept, connectDelayMs });
  const loop = createLoop({ vehicle, clock, entropy, state, perform: (effect) => perform(effect) });
  const { dispatch } = loop;
  const serial = createSerialPorts(config, ports, dispatch);
  const session = createSession({
    config,
    ports,
    outbox,
    boot,
    dispatch,
    hello: (nonce) => helloOf(loop.state(), vehicle, { nonce, nowMs: clock.monoMs() }),
  });
  const { acknowledge } = session;
  const commits = createCommitQueue({ outbox, clock, log, isIntact, dispatch, acknowledge });

  const perform = createEffectRunner({ ports, outbox, serial, session, commits, dispatch });

  if (!isIntact) log.error('vehicle_record_lost', { effect: 'relays count as unknown until they are read' });
  log.info('agent_started', { boot, version: config.agentVersion });
  dispatch({ kind: 'start' });
  ports.supervisor.ready();
  const stopWatchdog = startWatchdog(ports, {
    idleMs: loop.idleMs,
    overdueMs: loop.overdueMs,
    hangingMs: commits.hangingMs,
    status: () => {
      const { delivery, ports: serialPorts } = loop.state();
      return `${delivery.phase.kind}, board ${serialPorts.board.kind}, gnss ${serialPorts.gnss.kind}`;
    },
  });

  const stopWatches = [watchNetwork(ports, dispatch), watchModem(ports, dispatch)];
  const readers = startReaders.map((start) => start(dispatch));

  let isClosing = false;
  return {
    status: () => statusOf({ config, boot, bootMonoMs, outbox, commits, session, loop }, clock.monoMs()),
    async sendMessage(text) {
      dispatch({ kind: 'driverMessage', text });
      await commits.settled(clock.monoMs() + messageMs);
      return commits.status().waiting === 0;
    },
    enterServiceCode(code) {
      dispatch({ kind: 'serviceCode', code });
      return loop.state().service.last ?? { isRight: false, words: 'not decided yet; see the events' };
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      ports.supervisor.stopping();
      dispatch({ kind: 'stop' });
      loop.stopTime();
      stopWatchdog();
      for (const stop of stopWatches) stop();
      serial.closeAll();
      const readersClosed = Promise.all(readers.map((reader) => reader.close()));
      ports.updater?.close();
      const untilMs = clock.monoMs() + stopMs;
      await commits.settled(untilMs);
      await session.drained(untilMs, () => loop.state().delivery);
      await session.close();
      await readersClosed;
      await outbox.close();
      log.info('agent_stopped');
    },
  };
}
