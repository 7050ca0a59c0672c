// The attributes of a Diagnostic event (64816), flat and within the limit of an event. Pure. An unknown value is left
// out and never made up. The service shows `queueDepth`, `voltage`, `gps` and `disk` under these names.
import { type AttributeValue, eventLimits } from '../../../src/core/events/event.ts';
import type { RtuCounters } from '../board/rtu-types.ts';
import type { Fix } from '../gnss/epochs.ts';
import type { HostReading, UnitCounts } from '../kernel/vehicle-types.ts';

/** The durable queue as it is now. */
export interface StorageReading {
  readonly queued: readonly [number, number, number, number];
  readonly bytes: number;
  readonly dropped: readonly [number, number, number, number];
  /** Commits that wait, and why they fail; null when they do not. */
  readonly waiting: number;
  readonly failing: string | null;
}

/** Null: it did not answer in time. */
export interface UnitReading {
  readonly host: HostReading | null;
  readonly storage: StorageReading | null;
}

export interface DiagnosticFacts extends UnitReading {
  readonly agentVersion: string;
  readonly upMs: number;
  readonly counts: UnitCounts;
  readonly ports: { readonly board: string; readonly gnss: string };
  readonly modbus: RtuCounters;
  readonly fix: Fix | null;
  /** Monotonic. */
  readonly nowMs: number;
  /** Of the month, overhead included. */
  readonly trafficBytes: number;
  readonly light: string;
  readonly supplyVoltage: number | null | undefined;
  readonly backupVoltage: number | null | undefined;
  readonly configVersion: number;
  readonly timeQuality: string;
}

type Attributes = Readonly<Record<string, AttributeValue>>;
type Draft = Readonly<Record<string, AttributeValue | undefined>>;

const rounded = (value: number | null | undefined, digits: number): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? Number(value.toFixed(digits)) : undefined;

/** A fix older than this is none: the receiver does not see the sky now. */
const fixFreshMs = 10_000;

function gnssFacts({ fix, nowMs, ports }: DiagnosticFacts): Draft {
  const ageMs = fix === null ? null : Math.max(0, nowMs - fix.atMonoMs);
  const hasFix = ageMs !== null && ageMs <= fixFreshMs;
  return {
    gps: ports.gnss !== 'open' ? 'no-port' : hasFix ? 'fix' : 'no-fix',
    satellites: hasFix ? rounded(fix?.satellites, 0) : undefined,
    hdop: hasFix ? rounded(fix?.hdop, 1) : undefined,
    fixAgeS: ageMs === null ? undefined : Math.round(ageMs / 1000),
  };
}

function busFacts({ modbus, counts, ports }: DiagnosticFacts): Draft {
  return {
    board: ports.board,
    boardLosses: counts.boardLosses,
    gnssLosses: counts.gnssLosses,
    nmeaRejected: counts.nmeaRejected,
    mbRequests: modbus.requests,
    mbAnswers: modbus.answers,
    mbTimeouts: modbus.timeouts,
    mbCrc: modbus.crc,
    mbCut: modbus.cut,
    mbWrong: modbus.wrongUnit + modbus.wrongFunction + modbus.wrongLength + modbus.wrongEcho + modbus.tooLong,
    mbExceptions: modbus.exceptions,
    mbLate: modbus.lateAnswers,
    mbNoise: modbus.noiseBytes,
  };
}

function storageFacts({ storage }: DiagnosticFacts): Draft {
  if (storage === null) return { storage: 'no answer' };
  const { queued, dropped, bytes, waiting, failing } = storage;
  return {
    queueDepth: queued.reduce((sum, count) => sum + count, 0),
    ...Object.fromEntries(queued.map((count, at) => [`queueP${at}`, count])),
    ...Object.fromEntries(dropped.map((count, at) => [`droppedP${at}`, count])),
    dbBytes: bytes,
    commitsWaiting: waiting,
    commitsFailing: failing === null ? undefined : failing.slice(0, 120),
  };
}

function hostFacts({ host }: DiagnosticFacts): Draft {
  if (host === null) return {};
  return {
    disk: rounded(host.diskFreeMb, 0),
    rssMb: rounded(host.rssMb, 1),
    loopLagMs: rounded(host.loopLagMs, 0),
    cpuC: rounded(host.cpuC, 1),
    load: rounded(host.load, 2),
    hostUpS: rounded(host.hostUpS, 0),
  };
}

/**
 * The attributes of one Diagnostic event, at most 2 KiB as JSON.
 * @param requestID of the request; null for a scheduled event.
 */
export function diagnosticOf(facts: DiagnosticFacts, requestID: string | null): Attributes {
  const draft: Draft = {
    kind: 'diagnostic',
    requestID: requestID ?? undefined,
    agentVersion: facts.agentVersion.slice(0, 64),
    upS: Math.round(facts.upMs / 1000),
    ...storageFacts(facts),
    ...gnssFacts(facts),
    voltage: rounded(facts.supplyVoltage, 1),
    backupV: rounded(facts.backupVoltage, 1),
    ...hostFacts(facts),
    ...busFacts(facts),
    connects: facts.counts.connects,
    monthBytes: facts.trafficBytes,
    light: facts.light,
    configVersion: facts.configVersion,
    timeQuality: facts.timeQuality,
  };
  const known = Object.entries(draft).filter(([, value]) => value !== undefined);
  // Every value is short, so this holds as it is; should it ever not, the last ones go, and the event is still one.
  while (JSON.stringify(Object.fromEntries(known)).length > eventLimits.attributesBytes) known.pop();
  return Object.fromEntries(known) as Attributes;
}
