// The agent put together: events in, `stepVehicle` (`agent-loop.ts`), effects out (`performer.ts`): serial ports, commits,
// MQTT, the service manager. It decides nothing; every decision is in `core/`.

import { hexId } from '../src/core/ids.ts';
import { createLoop, startWatchdog, watchNetwork } from './agent-loop.ts';
import { type CommitQueue, createCommitQueue } from './commit-queue.ts';
import type { AgentConfig } from './config.ts';
import type { KeptMessage } from './core/inbox.ts';
import { helloOf } from './core/vehicle.ts';
import { createVehicle } from './core/vehicle-start.ts';
import type { VehicleConfig, VehicleState } from './core/vehicle-state.ts';
import { describeUpdate } from './core/vehicle-update.ts';
import type { Outbox } from './outbox.ts';
import { createPerformer } from './performer.ts';
import type { AgentPorts } from './ports.ts';
import { createSerialPorts } from './serial-ports.ts';
import { createSession } from './session.ts';
import { readVehicleRecord } from './vehicle-record.ts';

export { createMemorySlots } from './config-store.ts';
export type { AgentPorts } from './ports.ts';

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
  /** The update of the agent that is under way, and why it waits; null while there is none. */
  readonly update: ReturnType<typeof describeUpdate>;
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

/** What is still delivered and stored when the agent is told to stop. */
const stopMs = 2500;

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
    update: describeUpdate(state),
  };
}

function codesOf({ serviceCodes }: AgentPorts): Pick<VehicleConfig, 'serviceCodes'> {
  return serviceCodes === undefined ? {} : { serviceCodes };
}

/** Starts an agent. Rejects with an AppError when its storage cannot be opened. */
export async function createAgent(config: AgentConfig, ports: AgentPorts): Promise<Agent> {
  const { clock, entropy, log } = ports;
  const boot = hexId(entropy.bytes(8));
  const bootMonoMs = clock.monoMs();
  const outbox = await ports.openOutbox(boot, bootMonoMs);
  const { record, memory, inbox, requests, update, zones, isIntact } = await readVehicleRecord(outbox);
  const slots = await ports.configSlots.read();
  const vehicle: VehicleConfig = { ...config, boot, ...codesOf(ports) };
  const now = { monoMs: clock.monoMs(), utcMs: clock.utcMs(), fraction: entropy.fraction() };
  const connectDelayMs = entropy.fraction() * config.broker.connectSpreadMs;
  const updateSetup = ports.updater === undefined ? {} : { updateSetup: ports.updater.setup };
  const kept = { record, memory, inbox, requests, update, zones, slots, ...updateSetup };
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
      ports.updater?.close();
      const untilMs = clock.monoMs() + stopMs;
      await commits.settled(untilMs);
      await session.drained(untilMs, () => loop.state().delivery);
      await session.close();
      await outbox.close();
      log.info('agent stopped');
    },
  };
}
