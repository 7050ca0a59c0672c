// One vehicle with the real agent on simulated hardware. The ledger records its terminals, relay contacts, outbox and link; nothing of
// that reaches the agent.
import type { AgentConfig } from '../../../agent/config.ts';
import { type Outbox, openOutbox } from '../../../agent/outbox.ts';
import type { Log, LogFields, MqttLink, OpenMqttLink, Verifier } from '../../../src/ports.ts';
import { changesOf, type Terminals } from '../../core/ledger/facts.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { EventNote } from '../../core/ledger/ledger-types.ts';
import { createOrderBook } from '../../core/ledger/order-book.ts';
import type { SeededEntropy } from '../../core/random.ts';
import type { BoardName, WiringName } from '../../hardware/board-maps.ts';
import { createVehicle, type Vehicle } from '../../vehicle.ts';
import type { Route } from '../../world/routes.ts';
import type { RunPorts, RunTime } from '../shared/run-ports.ts';
import { createVehicleDisk } from './vehicle-disk.ts';

export interface AgentVehicleOptions {
  readonly ports: RunPorts;
  readonly time: RunTime;
  readonly ledger: Ledger;
  readonly config: AgentConfig;
  readonly boardName: BoardName;
  readonly wiring: WiringName;
  readonly route: Route;
  readonly startS: number;
  readonly clockErrors: { readonly offsetMs: number; readonly driftPpm: number };
  readonly entropy: SeededEntropy;
  readonly verifier: Verifier;
  /** Folder of its disk; null: in memory. */
  readonly folder: string | null;
  /** Called with the events that were just acknowledged. */
  onAcknowledged(notes: readonly EventNote[], nowMs: number): void;
}

export interface AgentVehicle {
  readonly deviceID: string;
  readonly config: AgentConfig;
  readonly vehicle: Vehicle;
  isUp(): boolean;
  /** Drops the connection as a lost carrier does. */
  cutLink(reason: string): void;
  /** Ends the agent as `kill -9` does. @throws AppError `usage` where its disk is memory. */
  kill(): void;
  /** Starts the agent again on the disk that it left. */
  restart(): Promise<void>;
  /** While it is full, no write to its disk succeeds. */
  setDiskFull(isFull: boolean): void;
  /** Lines of the agent's log at warn and error. */
  warnings(): { readonly count: number; readonly last: string };
  close(): Promise<void>;
}

const outboxBytes = 16 * 1024 * 1024;

/** Of the log that a unit sends when it is asked. A run has thousands of units. */
const linesKept = 8;
const lineMost = 160;

/** A log that forwards every line and keeps the last warning and the newest lines. */
function createObservedLog(onLine: (event: string, fields: LogFields) => void) {
  const kept = { count: 0, last: '' };
  const lines: string[] = [];
  const handleLine = (event: string, fields: LogFields): void => {
    lines.push(`${event} ${JSON.stringify(fields)}`.slice(0, lineMost));
    if (lines.length > linesKept) lines.shift();
    onLine(event, fields);
  };
  const warn = (event: string, fields: LogFields = {}): void => {
    kept.count += 1;
    kept.last = `${event} ${JSON.stringify(fields)}`.slice(0, 300);
    handleLine(event, fields);
  };
  const info = (event: string, fields: LogFields = {}): void => handleLine(event, fields);
  const log: Log = { debug: () => undefined, info, warn, error: warn, with: () => log };
  return { log, warnings: () => ({ ...kept }), recentLog: () => lines.join('\n') };
}

/** An outbox that records every stored event, sent batch and acknowledgement in the ledger. */
function recordOutbox(outbox: Outbox, boot: string, of: AgentVehicleOptions): Outbox {
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

/** A link that records in the ledger when it comes up and goes down. */
function recordLink(of: AgentVehicleOptions, onLink: (link: MqttLink) => void): OpenMqttLink {
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

/** Records changes at the terminals as facts. */
function createFactRecorder({ ledger, time, config }: AgentVehicleOptions): (terminals: Terminals) => void {
  let before: Terminals | null = null;
  return (terminals) => {
    for (const kind of changesOf(before, terminals)) ledger.fact(config.deviceID, kind, time.nowMs());
    before = terminals;
  };
}

/** Rejects as `createAgent` does. */
export async function startAgentVehicle(options: AgentVehicleOptions): Promise<AgentVehicle> {
  const { ports, config, ledger, time, entropy } = options;
  const { deviceID } = config;
  let link: MqttLink | null = null;
  const orders = createOrderBook();
  const { log, warnings, recentLog } = createObservedLog(orders.record);
  ledger.addVehicle(deviceID);
  const disk = createVehicleDisk({ folder: options.folder, deviceID, openDatabase: ports.openDatabase });
  const vehicle = await createVehicle({
    config,
    boardName: options.boardName,
    wiring: options.wiring,
    route: options.route,
    startS: options.startS,
    clock: ports.clock,
    clockErrors: options.clockErrors,
    entropy,
    agentEntropy: ports.entropy,
    log,
    recentLog,
    verifier: options.verifier,
    openMqttLink: recordLink(options, (opened) => {
      link = opened;
    }),
    onTerminals: createFactRecorder(options),
    onMoment({ latitude, longitude, speedKmh, odometerM: drivenM, tankLevel }) {
      const moment = { utcMs: ports.clock.utcMs(), latitude, longitude, speedKmh, drivenM, tankLevel };
      ledger.moment(deviceID, moment, time.nowMs());
    },
    onContact({ feature, energised, cause }, motion) {
      if (feature === null) return;
      const token = orders.tokenOf({ feature, energised, cause });
      const wasConfirmed = orders.isConfirmed(token);
      ledger.contact(deviceID, { atMs: time.nowMs(), feature, energised, token, wasConfirmed, ...motion });
    },
    openOutbox: async (clock, boot, bootMonoMs) => {
      const file = { path: disk.path(), maxBytes: outboxBytes, openDatabase: disk.openDatabase };
      const outbox = await openOutbox({ ...file, boot, bootMonoMs, clock, entropy: ports.entropy, log });
      return recordOutbox(outbox, boot, options);
    },
  });
  const truck = vehicle.bus?.truck;
  if (truck !== undefined) ledger.truck(deviceID, { vin: truck.vin, startKm: truck.odometerKm(0) });
  return {
    deviceID,
    config,
    vehicle,
    isUp: () => ledger.vehicles.get(deviceID)?.isUp ?? false,
    cutLink: (reason) => link?.destroy(reason),
    warnings,
    kill() {
      // The process first: its pending writes must find the disk gone.
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
