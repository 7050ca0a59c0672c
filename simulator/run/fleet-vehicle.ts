// One vehicle of a run: the real agent on simulated hardware, with the ledger looking over its shoulder at its terminals, its
// contacts, its disk and its link. What is noted here is never told to the agent.
import type { AgentConfig } from '../../agent/config.ts';
import { type Outbox, openOutbox } from '../../agent/outbox.ts';
import type { Log, LogFields, MqttLink, OpenMqttLink, Verifier } from '../../src/ports.ts';
import { changesOf, type Terminals } from '../core/facts.ts';
import type { Ledger } from '../core/ledger.ts';
import type { EventNote } from '../core/ledger-types.ts';
import { createOrderBook } from '../core/order-book.ts';
import type { BoardName } from '../hardware/board-maps.ts';
import type { SeededEntropy } from '../random.ts';
import { createVehicle, type Vehicle } from '../vehicle.ts';
import type { Route } from '../world/routes.ts';
import type { RunPorts } from './ports.ts';
import { createVehicleDisk } from './vehicle-disk.ts';

/** The one clock of a run: ms since its start. */
export interface RunTime {
  nowMs(): number;
}

export interface FleetVehicleOptions {
  readonly ports: RunPorts;
  readonly time: RunTime;
  readonly ledger: Ledger;
  readonly config: AgentConfig;
  readonly boardName: BoardName;
  readonly route: Route;
  readonly startS: number;
  readonly clockErrors: { readonly offsetMs: number; readonly driftPpm: number };
  readonly entropy: SeededEntropy;
  readonly verifier: Verifier;
  /** Where its disk lies; null: in memory. */
  readonly folder: string | null;
  /** Told of events whose acknowledgement has just come. */
  onAcknowledged(notes: readonly EventNote[], nowMs: number): void;
}

export interface FleetVehicle {
  readonly deviceID: string;
  readonly config: AgentConfig;
  readonly vehicle: Vehicle;
  isUp(): boolean;
  /** Drops the connection as a lost carrier does. */
  cutLink(reason: string): void;
  /** Ends the agent as `kill -9` does. @throws AppError `usage` where its disk is memory. */
  kill(): void;
  /** Starts it again on what it left. */
  restart(): Promise<void>;
  /** While it is full, no write to its disk succeeds. */
  setDiskFull(isFull: boolean): void;
  /** Of the agent's own log: lines at warn and error. */
  complaints(): { readonly count: number; readonly last: string };
  close(): Promise<void>;
}

const outboxBytes = 16 * 1024 * 1024;

/** A log that keeps nothing but the newest complaint, and hands every line on. */
function createListeningLog(onLine: (event: string, fields: LogFields) => void) {
  const kept = { count: 0, last: '' };
  const complain = (event: string, fields: LogFields = {}): void => {
    kept.count += 1;
    kept.last = `${event} ${JSON.stringify(fields)}`.slice(0, 300);
    onLine(event, fields);
  };
  const info = (event: string, fields: LogFields = {}): void => onLine(event, fields);
  const log: Log = { debug: () => undefined, info, warn: complain, error: complain, with: () => log };
  return { log, complaints: () => ({ ...kept }) };
}

/** The outbox, with every durable event, batch and acknowledgement noted. */
function watchOutbox(outbox: Outbox, boot: string, of: FleetVehicleOptions): Outbox {
  const { ledger, time, config } = of;
  const { deviceID } = config;
  return {
    ...outbox,
    async append(records, extra) {
      const events = await outbox.append(records, extra);
      ledger.stored(deviceID, boot, { events, atMs: time.nowMs() });
      return events;
    },
    async next(want) {
      const batch = await outbox.next(want);
      if (batch !== null) ledger.sent(deviceID, batch.boot, { events: batch.events, atMs: time.nowMs() });
      return batch;
    },
    acknowledge(ofBoot, ranges) {
      const atMs = time.nowMs();
      of.onAcknowledged(ledger.acknowledged(deviceID, ofBoot, { ranges, atMs }), atMs);
      return outbox.acknowledge(ofBoot, ranges);
    },
  };
}

/** The link, with its ups and downs noted. */
function watchLink(of: FleetVehicleOptions, onLink: (link: MqttLink) => void): OpenMqttLink {
  const { ledger, time, config } = of;
  const { deviceID } = config;
  return (options, handlers) => {
    const link = of.ports.openMqttLink(options, {
      onUp() {
        ledger.link(deviceID, true, time.nowMs());
        handlers.onUp();
      },
      onMessage: handlers.onMessage,
      onDown(reason, isSilent) {
        ledger.link(deviceID, false, time.nowMs());
        handlers.onDown(reason, isSilent);
      },
    });
    onLink(link);
    return link;
  };
}

/** Notes what changes at the terminals as facts. */
function createFactNotes({ ledger, time, config }: FleetVehicleOptions): (terminals: Terminals) => void {
  let before: Terminals | null = null;
  return (terminals) => {
    for (const kind of changesOf(before, terminals)) ledger.fact(config.deviceID, kind, time.nowMs());
    before = terminals;
  };
}

/** Starts a vehicle; rejects as `createAgent` does. */
export async function startFleetVehicle(options: FleetVehicleOptions): Promise<FleetVehicle> {
  const { ports, config, ledger, time, entropy } = options;
  const { deviceID } = config;
  let link: MqttLink | null = null;
  const orders = createOrderBook();
  const { log, complaints } = createListeningLog(orders.note);
  ledger.addVehicle(deviceID);
  const disk = createVehicleDisk({ folder: options.folder, deviceID, openDatabase: ports.openDatabase });
  const vehicle = await createVehicle({
    config,
    boardName: options.boardName,
    route: options.route,
    startS: options.startS,
    clock: ports.clock,
    clockErrors: options.clockErrors,
    entropy,
    agentEntropy: ports.entropy,
    log,
    verifier: options.verifier,
    openMqttLink: watchLink(options, (opened) => {
      link = opened;
    }),
    onTerminals: createFactNotes(options),
    onContact({ feature, energised, cause }, motion) {
      if (feature === null) return;
      const token = orders.tokenOf({ feature, energised, cause });
      const wasConfirmed = orders.isConfirmed(token);
      ledger.contact(deviceID, { atMs: time.nowMs(), feature, energised, token, wasConfirmed, ...motion });
    },
    openOutbox: async (clock, boot, bootMonoMs) => {
      const file = { path: disk.path(), maxBytes: outboxBytes, openDatabase: disk.openDatabase };
      const outbox = await openOutbox({ ...file, boot, bootMonoMs, clock, entropy: ports.entropy, log });
      return watchOutbox(outbox, boot, options);
    },
  });
  return {
    deviceID,
    config,
    vehicle,
    isUp: () => ledger.vehicles.get(deviceID)?.isUp ?? false,
    cutLink: (reason) => link?.destroy(reason),
    complaints,
    kill() {
      // First the process: what it has under way must find its disk gone.
      vehicle.kill();
      disk.kill();
      ledger.link(deviceID, false, time.nowMs());
    },
    restart: () => vehicle.restart(),
    setDiskFull: (isFull) => disk.setFull(isFull),
    async close() {
      ledger.stopping(deviceID, time.nowMs());
      await vehicle.close();
      disk.close();
    },
  };
}
