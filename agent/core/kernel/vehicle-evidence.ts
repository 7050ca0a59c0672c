// The vehicle's evidence: which witnesses are fitted and how they are wired, their present readings, and when the
// record is written to disk. It moves nothing; the interlock reads it.
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { type BoardProfile, proofOf } from '../board/board-profile.ts';
import { alertTo } from '../board/inputs.ts';
import { boardAnsweredMs } from '../board/loopback.ts';
import type { Cause, Causes } from '../evidence/common-causes.ts';
import { isStepDue, stepEvidence } from '../evidence/evidence.ts';
import { parseEvidence } from '../evidence/evidence-record.ts';
import {
  createEvidence,
  type EvidenceSetup,
  type EvidenceState,
  evidenceLimits,
  type Seen,
} from '../evidence/evidence-state.ts';
import { trustedUtcMs } from '../timekeeping.ts';
import { deliver } from './vehicle-delivery.ts';
import { commitNow, put, type StepContext, type VehicleState } from './vehicle-state.ts';
import { type VehicleConfig } from './vehicle-types.ts';

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** FNV-1a of 32 bits over UTF-16 units: distinguishes wirings, and is no protection. */
function printOf(text: string): string {
  let hash = offsetBasis;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** The unit whose sensors earn credit. */
export interface UnitIdentity {
  readonly accountID: string;
  readonly deviceID: string;
  /** Names the hardware; '' where it has no name. */
  readonly hardwareID: string;
}

/**
 * Names the unit and the wiring of every witness and its proofs. On another unit, or with another board, profile, input, life
 * input or loop-back, each credit is void.
 */
export function wiringOf(
  { name, units, polls, inputs, analogs, life, loopback }: BoardProfile,
  { accountID, deviceID, hardwareID }: UnitIdentity,
): string {
  const { ignition, motion } = inputs;
  const { rpm, supplyVoltage } = analogs;
  const witnesses = [units, polls, ignition, motion, rpm, supplyVoltage, life, loopback];
  return `${name}-${printOf(JSON.stringify([accountID, deviceID, hardwareID, ...witnesses]))}`;
}

/** Witnesses that a configuration names. A receiver is always expected. */
export function fittedWitnesses({
  inputs,
  analogs,
}: Pick<BoardProfile, 'inputs' | 'analogs'>): readonly WitnessName[] {
  return [
    'gnss',
    ...(inputs.motion === undefined ? [] : (['motion'] as const)),
    ...(inputs.ignition === undefined ? [] : (['ignition'] as const)),
    ...(analogs.rpm === undefined ? [] : (['rpm'] as const)),
    ...(analogs.supplyVoltage === undefined ? [] : (['voltage'] as const)),
  ];
}

/**
 * Common causes of failure in this vehicle's wiring. All contacts share their supply, unless a life input reads it or the contact
 * is one of an antivalent pair. Everything read over the line may be old.
 */
export function causesOf(profile: BoardProfile): Causes {
  const { inputs, analogs, polls } = profile;
  const unitOf = (signal: { readonly poll: string } | undefined): string =>
    polls[signal?.poll ?? '']?.unit ?? '';
  const contact = (name: 'ignition' | 'motion'): readonly Cause[] => {
    const unit = unitOf(inputs[name]);
    const proof = proofOf(profile, name);
    const isLive = proof !== null && (proof.isAntivalent || proof.hasLife);
    return [`sensor:${name}`, ...(isLive ? [] : ['contacts' as const]), `board:${unit}`];
  };
  // A transducer shares the contacts' supply: without it it reads 0, like a stopped engine.
  const analog = (name: 'rpm' | 'supplyVoltage'): readonly Cause[] => {
    const unit = unitOf(analogs[name]);
    const hasLife = profile.life !== undefined && unitOf(profile.life) === unit;
    return [`sensor:${name}`, ...(hasLife ? [] : ['contacts' as const]), `board:${unit}`];
  };
  return {
    gnss: ['receiver'],
    motion: contact('motion'),
    ignition: contact('ignition'),
    rpm: analog('rpm'),
    voltage: analog('supplyVoltage'),
  };
}

/** @param kept the stored evidence, as it was read from disk. */
export function startEvidence(
  config: Pick<VehicleConfig, 'profile' | keyof UnitIdentity>,
  kept: unknown,
  given: Pick<EvidenceSetup, 'hdopMost' | 'poweredMs' | 'nowMs'>,
): EvidenceState {
  const record = parseEvidence(kept, wiringOf(config.profile, config));
  const { profile } = config;
  return createEvidence({
    ...given,
    record,
    fitted: fittedWitnesses(profile),
    causes: causesOf(profile),
  });
}

/** A recently read analog value; a dead poll keeps its last value for ever. */
function freshAnalog(state: VehicleState, name: 'rpm' | 'supplyVoltage', nowMs: number): number | null {
  const readMs = state.analogsReadMs[name];
  const isFresh = readMs !== undefined && nowMs - readMs <= evidenceLimits.analogAgeMs;
  return isFresh ? (state.analogs[name] ?? null) : null;
}

/** An answer of the loop-back is valid for this long: a driver does not get a vehicle under way within it. */
const answerMs = 1500;

/** Units whose loop-back answered just now. */
function answeringUnits(state: VehicleState, profile: BoardProfile, nowMs: number): readonly string[] {
  const answeredMs = boardAnsweredMs(state.loopback);
  const unit = profile.polls[profile.loopback?.input.poll ?? '']?.unit;
  return unit !== undefined && answeredMs !== null && nowMs - answeredMs <= answerMs ? [unit] : [];
}

function seenBy(state: VehicleState, profile: BoardProfile, nowMs: number): Seen {
  return {
    ignition: alertTo(state.inputs, 'ignition'),
    motion: alertTo(state.inputs, 'motion'),
    rpm: freshAnalog(state, 'rpm', nowMs),
    supplyV: freshAnalog(state, 'supplyVoltage', nowMs),
    answering: answeringUnits(state, profile, nowMs),
  };
}

/** True when a witness may have changed, which the next hello reports. */
function hasWitnessChanged(before: EvidenceState, next: EvidenceState): boolean {
  return (
    before.credit.credits !== next.credit.credits ||
    before.ignition.suspension !== next.ignition.suspension ||
    before.motion.suspension !== next.motion.suspension
  );
}

/** One step of the evidence; a changed record goes to disk before any decision uses it. */
export function watchEvidence(context: StepContext): void {
  const { evidence, time } = context.state;
  const { monoMs: atMs } = context.now;
  const seen = seenBy(context.state, context.config.profile, atMs);
  if (!isStepDue(evidence, seen, atMs)) return;
  const next = stepEvidence(evidence, seen, { atMs, utcMs: trustedUtcMs(time, atMs) });
  put(context, { evidence: next });
  if (hasWitnessChanged(evidence, next)) deliver(context, { kind: 'outdated' });
  if (next.record !== evidence.record) commitNow(context, []);
}
