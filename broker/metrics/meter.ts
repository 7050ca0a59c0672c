// Counters of the running broker: plain numbers and fixed buckets, so that an event costs a few additions. families.ts
// exposes them on a scrape. No label is ever a device, a user or an account.
import type { CommandState } from '../../src/core/events/event.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import { createHourCounts, type HourCounts } from '../core/operating/hour-counts.ts';
import { createTally, type Tally } from '../core/scheduling/tally.ts';
import { type Committed } from '../ports/committed.ts';
import type { MqttCount, MqttServer, OpenMqttServer } from '../ports/mqtt-server.ts';

/** Seconds, for what should take milliseconds. */
const quickBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** Seconds, for what a vehicle has to do first. */
const slowBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600] as const;
const sizeBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;
/** Names of operations with counters of their own; there are far fewer, only a bug could reach it. */
const operationsMost = 400;
/** A read that takes longer than this many seconds is counted as a long one. */
const longReadS = 1;

/** One answered request. `operation` is the id of an operation or the path of a probe, never what a client wrote. */
export interface Answered {
  readonly operation: string;
  readonly status: number;
  readonly durationMs: number;
}

export interface RequestTally {
  readonly durations: Tally;
  /** By the first digit of the status. */
  readonly classes: Map<string, number>;
}

export interface Meter {
  readonly commits: { readonly durations: Tally; readonly statements: Tally; failures: number };
  readonly reads: { readonly durations: Tally; long: number };
  /** From the arrival of a payload to its commit. */
  readonly ingest: Tally;
  /** From the arrival of a message to the moment at which it may be acknowledged, and what was not acknowledged. */
  readonly acknowledgements: { readonly durations: Tally; failures: number };
  readonly mqtt: ReadonlyMap<MqttCount, number>;
  /** Command reports of vehicles, by the state that they report. */
  readonly reports: ReadonlyMap<CommandState, number>;
  /** From a request for a command to the vehicle's confirmation. */
  readonly confirmations: Tally;
  readonly requests: ReadonlyMap<string, RequestTally>;
  /** Of the last hour: connections of vehicles by `MqttCount`, errors and warnings of the log by their names. */
  readonly recent: {
    readonly mqtt: HourCounts;
    readonly errors: HourCounts;
    readonly warnings: HourCounts;
  };
  /** The same log, watched. */
  watchLog(log: Log): Log;
  /** The same database, watched. */
  watchDatabase<Store extends Database>(db: Store): Store;
  /** The same MQTT server, watched. */
  watchMqtt(open: OpenMqttServer): OpenMqttServer;
  onCommitted(committed: Committed): void;
  onAnswered(answered: Answered): void;
}

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

interface Counters {
  readonly clock: Clock;
  readonly commits: Meter['commits'];
  readonly reads: Meter['reads'];
  readonly acknowledgements: Meter['acknowledgements'];
  readonly mqtt: Map<MqttCount, number>;
  readonly recent: Meter['recent'];
}

function watchLog(recent: Meter['recent'], log: Log): Log {
  return {
    debug: log.debug,
    info: log.info,
    warn(event, fields) {
      recent.warnings.add(event);
      log.warn(event, fields);
    },
    error(event, fields) {
      recent.errors.add(event);
      log.error(event, fields);
    },
    with: (fields) => watchLog(recent, log.with(fields)),
  };
}

function watchDatabase<Store extends Database>({ clock, commits, reads }: Counters, db: Store): Store {
  return {
    ...db,
    async read(statement) {
      const sinceMs = clock.monoMs();
      try {
        return await db.read(statement);
      } finally {
        const durationS = (clock.monoMs() - sinceMs) / 1000;
        reads.durations.observe(durationS);
        if (durationS > longReadS) reads.long += 1;
      }
    },
    async write(batch) {
      const sinceMs = clock.monoMs();
      try {
        const results = await db.write(batch);
        if (batch.length === 0) return results;
        commits.durations.observe((clock.monoMs() - sinceMs) / 1000);
        commits.statements.observe(batch.length);
        return results;
      } catch (thrown) {
        commits.failures += 1;
        throw thrown;
      }
    },
  };
}

/** A class, and no two closures: one is made for every payload. */
class TimedCompletion implements Completion {
  readonly #counters: Pick<Counters, 'clock' | 'acknowledgements'>;
  readonly #completion: Completion;
  readonly #sinceMs: number;

  constructor(counters: Pick<Counters, 'clock' | 'acknowledgements'>, completion: Completion) {
    this.#counters = counters;
    this.#completion = completion;
    this.#sinceMs = counters.clock.monoMs();
  }

  done(): void {
    const { clock, acknowledgements } = this.#counters;
    acknowledgements.durations.observe((clock.monoMs() - this.#sinceMs) / 1000);
    this.#completion.done();
  }

  fail(thrown: unknown): void {
    this.#counters.acknowledgements.failures += 1;
    this.#completion.fail(thrown);
  }
}

function watchMqtt(counters: Counters, open: OpenMqttServer): OpenMqttServer {
  return (options): Promise<MqttServer> =>
    open({
      ...options,
      count(what) {
        increase(counters.mqtt, what);
        counters.recent.mqtt.add(what);
      },
      onUplink(device, message, completion) {
        options.onUplink(device, message, new TimedCompletion(counters, completion));
      },
    });
}

/** Counts from zero. */
export function createMeter(clock: Clock): Meter {
  const mqtt = new Map<MqttCount, number>();
  const reports = new Map<CommandState, number>();
  const requests = new Map<string, RequestTally>();
  const ingest = createTally(quickBounds);
  const confirmations = createTally(slowBounds);
  const commits = { durations: createTally(quickBounds), statements: createTally(sizeBounds), failures: 0 };
  const reads = { durations: createTally(quickBounds), long: 0 };
  const acknowledgements = { durations: createTally(quickBounds), failures: 0 };
  const recent = {
    mqtt: createHourCounts(clock),
    errors: createHourCounts(clock),
    warnings: createHourCounts(clock),
  };
  const counters: Counters = { clock, commits, reads, acknowledgements, mqtt, recent };
  return {
    commits,
    reads,
    ingest,
    acknowledgements,
    mqtt,
    reports,
    confirmations,
    requests,
    recent,
    watchLog: (log) => watchLog(recent, log),
    watchDatabase: (db) => watchDatabase(counters, db),
    watchMqtt: (open) => watchMqtt(counters, open),
    onCommitted({ receivedMs, fresh }) {
      ingest.observe((clock.utcMs() - receivedMs) / 1000);
      for (const { commandState } of fresh) if (commandState !== undefined) increase(reports, commandState);
    },
    onAnswered({ operation, status, durationMs }) {
      let tally = requests.get(operation);
      if (tally === undefined) {
        if (requests.size >= operationsMost) return;
        tally = { durations: createTally(quickBounds), classes: new Map() };
        requests.set(operation, tally);
      }
      tally.durations.observe(durationMs / 1000);
      increase(tally.classes, `${Math.floor(status / 100)}xx`);
    },
  };
}
