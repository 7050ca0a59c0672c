// A vehicle for tests of its evidence: a receiver on a road, two inputs and an engine, stepped as the agent does, with the record
// that its disk would hold. A restart keeps that record and loses the rest.
import type { Causes } from '../../../agent/core/evidence/common-causes.ts';
import type { Sensed } from '../../../agent/core/evidence/contact.ts';
import { recordFix, recordVoid, stepEvidence } from '../../../agent/core/evidence/evidence.ts';
import {
  type EvidenceRecord,
  emptyEvidence,
  parseEvidence,
} from '../../../agent/core/evidence/evidence-record.ts';
import { claimOf, createEvidence, type EvidenceState } from '../../../agent/core/evidence/evidence-state.ts';
import { testimonyOf, witnessesOf } from '../../../agent/core/evidence/testimony.ts';
import type { Fix } from '../../../agent/core/gnss/epochs.ts';
import { type WitnessName, witnessNames } from '../../../src/core/verdict/witness.ts';
import { brakingFrom, createRoadReceiver, driveStartUtcMs } from './gnss-drive.ts';
import { plainCauses } from './plain-causes.ts';

export const driveWiring = 'board-0badcafe';
/** Inputs and engine are read this often. */
const stepMs = 250;

interface Reading {
  ignition: boolean | null;
  motion: boolean | null;
  rpm: number | null;
  supplyV: number | null;
}

export interface DriveOptions {
  readonly fitted?: readonly WitnessName[];
  readonly record?: EvidenceRecord;
  /** How it is wired; plain contacts where nothing stands here. */
  readonly causes?: Causes;
  /** Between two fixes. */
  readonly fixMs?: number;
  /** When its unit was switched on: long ago where nothing stands here. Time begins at 0. */
  readonly poweredMs?: number;
}

export const commissionedRecord: EvidenceRecord = {
  wiring: driveWiring,
  credits: Object.fromEntries(
    witnessNames.map((name) => [
      name,
      { kind: 'proven', utcMs: driveStartUtcMs - 86_400_000, against: name === 'gnss' ? 'ignition' : 'gnss' },
    ]),
  ),
  motion: 'standing',
  by: 'gnss',
  utcMs: driveStartUtcMs,
  parkedAt: { latitude: 43.65, longitude: -79.34 },
};

/** Starts with everything off at the place of `commissionedRecord`. */
export function createEvidenceDrive(options: DriveOptions = {}) {
  const { fitted = ['gnss', 'motion', 'ignition'], fixMs = 1000, causes = plainCauses } = options;
  const answering: string[] = [];
  const road = createRoadReceiver({ stepMs: fixMs });
  const reading: Reading = { ignition: false, motion: false, rpm: null, supplyV: null };
  const since: Record<'ignition' | 'motion', Sensed> = {
    ignition: { value: null, sinceMs: 0 },
    motion: { value: null, sinceMs: 0 },
  };
  let nowMs = 0;
  let disk = options.record ?? emptyEvidence(driveWiring);
  let speedKmh = 0;
  let isMotionByHand = false;
  let alter: (fix: Fix) => Fix | null | 'silent' = (fix) => fix;
  const start = (poweredMs: number): EvidenceState => {
    const record = parseEvidence(JSON.parse(JSON.stringify(disk)), driveWiring);
    return createEvidence({ record, fitted, causes, hdopMost: 5, poweredMs, nowMs });
  };
  let state = start(options.poweredMs ?? Number.NEGATIVE_INFINITY);
  const time = () => ({ atMs: nowMs, utcMs: driveStartUtcMs + nowMs });
  const step = (): void => {
    nowMs += stepMs;
    if (nowMs % fixMs === 0) {
      const fix = alter(road.next(speedKmh));
      if (fix === null) state = recordVoid(state, { atMonoMs: nowMs, estimatedKmh: null });
      else if (fix !== 'silent') state = recordFix(state, fix, time());
    }
    if (!isMotionByHand) reading.motion = speedKmh > 1;
    for (const name of ['ignition', 'motion'] as const)
      if (since[name].value !== reading[name]) since[name] = { value: reading[name], sinceMs: nowMs };
    const { rpm, supplyV } = reading;
    state = stepEvidence(state, { ...since, rpm, supplyV, answering: [...answering] }, time());
    disk = state.record;
  };
  const drive = {
    state: () => state,
    disk: () => disk,
    nowMs: () => nowMs,
    /** Goes on for so long at this speed, which is reached at once. */
    for(seconds: number, kmh = speedKmh) {
      speedKmh = kmh;
      for (let steps = Math.round((seconds * 1000) / stepMs); steps > 0; steps -= 1) step();
      return drive;
    },
    set(readings: Partial<Reading>) {
      if (readings.motion !== undefined) isMotionByHand = true;
      Object.assign(reading, readings);
      return drive;
    },
    /** What the receiver says instead; null = no fix, `silent` = nothing that is read. */
    receiver(change: (fix: Fix) => Fix | null | 'silent') {
      alter = change;
      return drive;
    },
    /** Ignition on, away, a minute on the road, and back to a stop by braking; the ignition stays on. */
    trip(seconds = 60) {
      drive.set({ ignition: true }).for(3, 0);
      for (const kmh of brakingFrom(50).toReversed()) drive.for(1, kmh);
      drive.for(seconds, 50);
      for (const kmh of brakingFrom(50)) drive.for(1, kmh);
      return drive;
    },
    /** The loop-back of its board answers from now on, or does not. */
    answer(isAnswering: boolean) {
      answering.splice(0, 1, ...(isAnswering ? ['io'] : []));
      return drive;
    },
    /** Of the agent alone, or with the power of its unit. */
    restart(isPower = false) {
      state = start(isPower ? nowMs : Number.NEGATIVE_INFINITY);
      for (const name of ['ignition', 'motion'] as const) since[name] = { value: null, sinceMs: nowMs };
      return drive;
    },
    claim: () => claimOf(state, nowMs),
    testimony: () => testimonyOf(state, time()),
    witnesses: () => witnessesOf(state, time()),
    of: (name: WitnessName) => witnessesOf(state, time())[name],
  };
  return drive;
}

/** As `createEvidenceDrive`, of a vehicle that a drive has commissioned. */
export const commissioned = (options: DriveOptions = {}) =>
  createEvidenceDrive({ record: commissionedRecord, ...options });
