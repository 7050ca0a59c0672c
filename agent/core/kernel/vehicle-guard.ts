// Joins the relay guard to the vehicle: its set-up from the installer's choices, its facts as readers read them, and each question with the
// interlock's verdict of this moment. It must give the guard nothing that another module concluded.
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { ZoneConfig } from '../../../src/core/geo/zone-config.ts';
import type { PersonsList } from '../../../src/core/persons/owner-document.ts';
import { createVerifyPersons, type VerifyPersons } from '../../../src/core/persons/persons.ts';
import { isAllowed, type Verdict } from '../../../src/core/verdict/verdict.ts';
import { createGuard, type GuardFact, type GuardSetup, recordFact } from '../../guard/facts.ts';
import { askGuard, type Permit, type Refusal } from '../../guard/guard.ts';
import { grantOf, type OrderProof } from '../../guard/order.ts';
import { type BoardProfile, wiringsOf } from '../board/board-profile.ts';
import type { BoardOutput, BoardState } from '../board/board-types.ts';
import { isWrite, type ModbusRequest } from '../board/modbus-frame.ts';
import type { AskPermit } from '../board/rtu-types.ts';
import { isMeasured } from '../gnss/epoch-content.ts';
import type { Sentence } from '../gnss/nmea-sentences.ts';
import type { CommandRecord } from '../protection/command-record.ts';
import { changeOf } from '../protection/commands.ts';
import { judge } from '../protection/interlock.ts';
import { rulesOf } from '../protection/protection.ts';
import { evidenceOf, log, put, record, type StepContext } from './vehicle-state.ts';
import type { GuardRefusal, VehicleConfig, VehicleGuard } from './vehicle-types.ts';

/** A refusal that lasts is reported once in this time, ms. */
const reportMs = 60_000;

type SetupConfig = Pick<
  VehicleConfig,
  'profile' | 'protection' | 'accountID' | 'deviceID' | 'boot' | 'verifier' | 'owner' | 'ownerSource'
>;

const isFeature = (name: string): name is FeatureName => featureNames.some((feature) => feature === name);

/** All that the agent writes to the board: its outputs, and the registers of its set-up. */
function guardedOutputs(profile: BoardProfile): GuardSetup['outputs'] {
  const addressOf = (unit: string): number => profile.units[unit]?.address ?? -1;
  const outputs = wiringsOf(profile).map(([name, { unit, address, flashAddress, kind, off }]) => ({
    feature: isFeature(name) ? name : null,
    unit: addressOf(unit),
    addresses: [address, ...(flashAddress === undefined ? [] : [flashAddress])],
    // No value is -1: without a known one every write may close the relay.
    off: kind === 'coil' ? null : (off ?? -1),
  }));
  const registers = profile.setup.map(({ unit, first, count }) => ({
    feature: null,
    unit: addressOf(unit),
    addresses: Array.from({ length: count }, (_, at) => first + at),
    off: -1,
  }));
  return [...outputs, ...registers];
}

const refuseAll: VerifyPersons = () => ({ ok: false, refusal: { reason: 'no_list' } });

/** Null: no owner's key is pinned. */
function personsOf({ owner, ownerSource }: SetupConfig): VerifyPersons | null {
  if (owner === undefined) return null;
  return ownerSource === undefined ? refuseAll : createVerifyPersons(ownerSource.crypto);
}

/** What the guard knows of the installer's choices. */
export function guardSetupOf(config: SetupConfig): GuardSetup {
  const { profile, accountID, deviceID, boot, verifier } = config;
  const rules = rulesOf(config.protection, profile);
  return {
    accountID,
    deviceID,
    boot,
    verifier,
    verifyPersons: personsOf(config),
    outputs: guardedOutputs(profile),
    zoneCuts: rules.zoneCuts,
    ignition: profile.inputs.ignition ?? null,
    motion: profile.inputs.motion ?? null,
    warningMs: rules.cutMode === 'at_standstill' ? rules.warningMs : Number.POSITIVE_INFINITY,
    mayLackFix: rules.noGnss === 'ignition_off_only',
  };
}

/** The guard after a start: it knows the orders that the command record kept and the owner's list, and nothing else. */
export function startGuard(
  config: SetupConfig,
  kept: CommandRecord,
  { atMs, list }: { readonly atMs: number; readonly list: PersonsList | null },
): VehicleGuard {
  const setup = guardSetupOf(config);
  const carried = Object.values(kept.confirmed).map(({ proof }) => ({ proof, origin: 'carried' as const }));
  const waiting = [...Object.values(kept.active), ...Object.values(kept.next)].map(({ proof }) => ({
    proof,
    origin: 'waiting' as const,
  }));
  let facts = recordFact(setup, createGuard(), { kind: 'owner', atMs, list });
  for (const { proof, origin } of [...carried, ...waiting])
    if (proof !== undefined) facts = recordFact(setup, facts, { kind: 'order', atMs, proof, origin });
  return { setup, facts, refused: null };
}

/** For programs that give no orders: permits what closes no relay of the profile. @param profile null: none is known, and only reads are permitted. */
export function readingPermit(profile: BoardProfile | null): AskPermit {
  const none = {
    accountID: '',
    deviceID: '',
    boot: '',
    verifier: null,
    verifyPersons: null,
    zoneCuts: false,
  };
  const given = {
    ...none,
    ignition: null,
    motion: null,
    warningMs: Number.POSITIVE_INFINITY,
    mayLackFix: false,
  };
  const setup = { ...given, outputs: profile === null ? [] : guardedOutputs(profile) };
  const state = createGuard();
  return (request) =>
    profile === null && isWrite(request)
      ? null
      : askGuard(setup, state, { request, nowMs: 0, isAllowed: () => false }).permit;
}

/** Gives the guard one fact. */
export function recordGuardFact(context: StepContext, fact: GuardFact): void {
  const { guard } = context.state;
  const facts = recordFact(guard.setup, guard.facts, fact);
  if (facts !== guard.facts) put(context, { guard: { ...guard, facts } });
}

/** The fact in an output of the board; null: there is none. */
export function factOfBoard(
  profile: BoardProfile,
  { polls }: BoardState,
  output: BoardOutput,
): GuardFact | null {
  switch (output.kind) {
    case 'inputs': {
      const { ignition, motion } = output.values;
      const { inputs } = profile;
      const poll = ignition === undefined ? inputs.motion?.poll : inputs.ignition?.poll;
      const bits = {
        ...(ignition === undefined ? {} : { ignition }),
        ...(motion === undefined ? {} : { motion }),
      };
      return { kind: 'inputs', atMs: output.atMs, askedMs: polls[poll ?? '']?.askedMs ?? null, ...bits };
    }
    case 'relays': {
      const { loopback: _, ...values } = output.values;
      return { kind: 'relays', atMs: output.atMs, ...values };
    }
    case 'analogs':
      return output.values.rpm === undefined
        ? null
        : { kind: 'sign', of: 'rpm', atMs: output.atMs, value: output.values.rpm };
    default:
      return null;
  }
}

/** Facts in the outputs of a step of the board, which is in the state. */
export function recordBoardFacts(context: StepContext, outputs: readonly BoardOutput[]): void {
  for (const output of outputs) {
    const fact = factOfBoard(context.config.profile, context.state.board, output);
    if (fact !== null) recordGuardFact(context, fact);
  }
}

/** True: measured; false: dead reckoning; null: void. An RMC of before NMEA 2.3 has no mode, and its status alone counts. */
function isFixOf(sentence: Extract<Sentence, { type: 'RMC' | 'VTG' }>): boolean | null {
  const { mode } = sentence;
  if (mode === 'E') return false;
  const isGood = sentence.type === 'RMC' ? sentence.valid : mode !== null;
  return isGood && isMeasured(mode) ? true : null;
}

/** Facts in the sentences of the receiver. */
export function factsOfSentences(sentences: readonly Sentence[], atMs: number): readonly GuardFact[] {
  return sentences.flatMap((sentence): readonly GuardFact[] => {
    if (sentence.type !== 'RMC' && sentence.type !== 'VTG') return [];
    const isFix = isFixOf(sentence);
    const speed = { kind: 'speed', atMs, of: sentence.type, kmh: sentence.speedKmh, isFix } as const;
    if (sentence.type === 'VTG' || sentence.day === null || sentence.timeMs === null || isFix !== true)
      return [speed];
    const utcMs = sentence.day * 86_400_000 + sentence.timeMs;
    return [speed, { kind: 'clock', atMs, utcMs, isSigned: false }];
  });
}

/** Facts of a configuration that holds from now on. */
export function recordGrants(context: StepContext, zones: readonly ZoneConfig[]): void {
  const grants = zones.flatMap(({ id: zoneID, switches }) =>
    (['inside', 'outside'] as const).flatMap((to) => {
      const side = to === 'inside' ? 'arrival' : 'departure';
      const cut = switches.includes(`${side}EngineOff`)
        ? [{ feature: 'enginecutoff', to, zoneID } as const]
        : [];
      const open = switches.includes(`${side}CargoUnlock`)
        ? [{ feature: 'cargoaccess', to, zoneID } as const]
        : [];
      return [...cut, ...open].map(grantOf);
    }),
  );
  recordGuardFact(context, { kind: 'grants', atMs: context.now.monoMs, grants });
}

/** An order that came in this run. */
export function recordGuardOrder(context: StepContext, proof: OrderProof): void {
  recordGuardFact(context, { kind: 'order', atMs: context.now.monoMs, proof, origin: 'new' });
}

/** A cut or an unlock is on its way to the relay. */
export function isDriven({ state: { commands } }: StepContext, relay: FeatureName): boolean {
  return commands.work[relay]?.kind === 'driving' && commands.record.active[relay]?.state === '1';
}

/** A restrictive order, or the repair of a relay, is on its way. */
export function isUnderWay(context: StepContext, relay: FeatureName): boolean {
  return context.state.relays.watch[relay]?.repairing === true || isDriven(context, relay);
}

/** The interlock on the restrictive order that is on its way to this relay, or on applying a confirmed one again. */
export function verdictUnderWay(context: StepContext, relay: FeatureName): Verdict {
  const { commands, holdUp, board } = context.state;
  const active = commands.record.active[relay];
  const change =
    isDriven(context, relay) && active !== undefined
      ? changeOf(commands, active)
      : ({ feature: relay, state: '1', occasion: 'reapply' } as const);
  // Decisions from before a stall of this process are judged again, unless they are on the wire.
  const isHeldUp = holdUp?.endedMs === context.now.monoMs;
  const isOnTheWay = !isHeldUp || board.orders[relay]?.writes !== 0;
  return judge({ ...change, isOnTheWay }, evidenceOf(context), commands.rules);
}

/** Conditions that the next reading changes: the write waits for it. */
const brief: readonly Refusal[] = ['inputs', 'holdup'];

/** True when something else must be wrong: the interlock agrees to a write that the guard refuses for more than a moment. */
const isAlarming = (refusals: readonly Refusal[]): boolean =>
  !refusals.includes('interlock') && refusals.some((name) => !brief.includes(name));

function report(context: StepContext, refused: GuardRefusal): void {
  const { guard } = context.state;
  const { feature, refusals, atMs } = refused;
  const said = refusals.join(' ');
  const isSame = guard.refused?.feature === feature && guard.refused.refusals.join(' ') === said;
  if (isSame && atMs - (guard.refused?.atMs ?? 0) < reportMs) return;
  put(context, { guard: { ...guard, refused } });
  log(context, 'error', 'guard_refused', { relay: feature, refusals });
  const attributes = { ...(feature === null ? {} : { feature }), refusals: said };
  record(context, { statusCode: statusCodes.GUARD_REFUSED.code, attributes });
}

/** Asks the guard for a frame to the board; null: it must not be sent now. */
export function permitOf(context: StepContext, request: ModbusRequest): Permit<ModbusRequest> | null {
  const { guard } = context.state;
  const atMs = context.now.monoMs;
  const { state, permit, feature, refusals } = askGuard(guard.setup, guard.facts, {
    request,
    nowMs: atMs,
    isAllowed: (relay) => isAllowed(verdictUnderWay(context, relay)),
  });
  if (state !== guard.facts) put(context, { guard: { ...guard, facts: state } });
  if (isAlarming(refusals)) report(context, { feature, refusals, atMs });
  return permit;
}
