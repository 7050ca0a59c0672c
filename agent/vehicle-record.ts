// State of a vehicle over restarts, as rows of the outbox's state table: command record, memory, evidence,
// and those of modules. Read once at the start; written only together with the events that report it.

import type { Point } from '../src/core/geo/geo.ts';
import type { BoardProfile } from './core/board/board-profile.ts';
import { type EvidenceRecord, emptyEvidence, roundedPlace } from './core/evidence/evidence-record.ts';
import { fittedWitnesses, type UnitIdentity, wiringOf } from './core/kernel/vehicle-evidence.ts';
import { type VehicleMemory } from './core/kernel/vehicle-types.ts';
import { noTraffic, trafficOf } from './core/link/data-budget.ts';
import { type CommandRecord, createCommandRecord } from './core/protection/command-record.ts';
import { putState } from './outbox/file/outbox-schema.ts';
import type { Outbox } from './outbox.ts';

export const recordKey = 'commands';
export const memoryKey = 'memory';
export const evidenceKey = 'evidence';

/** Of a vehicle that was never switched on before. */
export const emptyMemory: VehicleMemory = {
  odometerM: 0,
  inputs: {},
  traffic: noTraffic,
};

/** Undefined: unreadable. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parse<T extends object>(
  text: string | undefined,
  empty: T,
): { readonly value: T; readonly lost: boolean } {
  if (text === undefined) return { value: empty, lost: false };
  const value = parseJson(text);
  // An unreadable record is a lost one, and is reported as such.
  if (typeof value !== 'object' || value === null) return { value: empty, lost: true };
  return { value: { ...empty, ...value }, lost: false };
}

/**
 * Of a record that may be older than what was done: what keeps a command from being taken twice, and nothing that could
 * set a relay. Relays then count as they are read from the board, and a command that was waiting is not carried out.
 */
function withoutOrders({ counter, seen, changesUtcMs }: CommandRecord): CommandRecord {
  return { ...createCommandRecord(), counter, seen, changesUtcMs };
}

/**
 * The rows of a memory, by key. The evidence is more than half of it and changes seldom, so it has a row of its own: a commit writes
 * only what changed.
 */
export function memoryRows({
  evidence,
  ...others
}: VehicleMemory): readonly (readonly [key: string, value: string])[] {
  const rest = [memoryKey, JSON.stringify(others)] as const;
  return evidence === undefined ? [rest] : [rest, [evidenceKey, JSON.stringify(evidence)]];
}

/** `isIntact` false: the record was lost or may be out of date, so relays count as unknown until the board is read. */
export async function readVehicleRecord(outbox: Outbox): Promise<{
  readonly record: CommandRecord;
  readonly memory: VehicleMemory;
  /** All of them, for the modules to find their own. */
  readonly rows: Readonly<Record<string, unknown>>;
  readonly isIntact: boolean;
}> {
  const { values, isIntact } = await outbox.readState();
  const record = parse<CommandRecord>(values.get(recordKey), createCommandRecord());
  const memory = parse<VehicleMemory>(values.get(memoryKey), emptyMemory).value;
  // Checked by the evidence itself: of a damaged one no witness has credit.
  const evidence = parse<EvidenceRecord>(values.get(evidenceKey), emptyEvidence('')).value;
  const isWhole = isIntact && !record.lost;
  return {
    record: isWhole ? record.value : withoutOrders(record.value),
    memory: {
      ...memory,
      ...(values.has(evidenceKey) ? { evidence } : {}),
      traffic: trafficOf(memory.traffic),
    },
    rows: Object.fromEntries([...values].map(([key, text]) => [key, parseJson(text)])),
    isIntact: isWhole,
  };
}

/**
 * The memory of a unit after an installer's drive: every fitted witness is proven. For simulated units, which begin
 * as installed ones; a real unit earns its credit by driving.
 * @param given.parkedAt where it stands with ignition off; null on the road. `utcMs`: when its witnesses were
 * proven.
 */
export function commissionedMemory(
  config: UnitIdentity & { readonly profile: BoardProfile },
  given: { readonly parkedAt: Point | null; readonly utcMs: number },
): VehicleMemory {
  const { utcMs } = given;
  const { profile } = config;
  const fitted = fittedWitnesses(profile);
  const credits = fitted.map((name) => {
    const against = name === 'gnss' ? 'ignition' : 'gnss';
    return [name, { kind: 'proven', utcMs, against }] as const;
  });
  const evidence: EvidenceRecord = {
    wiring: wiringOf(profile, config),
    credits: Object.fromEntries(credits),
    motion: given.parkedAt === null ? 'driving' : 'standing',
    by: 'gnss',
    utcMs,
    parkedAt: given.parkedAt === null ? null : roundedPlace(given.parkedAt),
  };
  return { ...emptyMemory, evidence };
}

/** Writes the memory of a unit that was never switched on before; a unit that has one keeps it. */
export async function writeFirstMemory(outbox: Outbox, memory: VehicleMemory): Promise<void> {
  const { values } = await outbox.readState();
  if (values.has(memoryKey)) return;
  await outbox.append(
    [],
    memoryRows(memory).map(([key, value]) => putState(key, value)),
  );
}
