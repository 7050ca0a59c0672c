// Which witnesses of standstill a configuration names, what that means for a cut, and what each has proven so far by
// the record on disk: for `config check` and for the doctor of a stopped unit. Read-only.
import { type WitnessName, witnessNames } from '../../src/core/verdict/witness.ts';
import type { AgentConfig } from '../config.ts';
import { type BoardProfile, isSameUnit, proofOf } from '../core/board/board-profile.ts';
import { creditState } from '../core/evidence/credit.ts';
import { parseEvidence } from '../core/evidence/evidence-record.ts';
import { fittedWitnesses, wiringOf } from '../core/kernel/vehicle-evidence.ts';
import type { Protection } from '../core/protection/protection.ts';
import { countProven } from '../core/protection/witness-rules.ts';
import { proofAdvice, type ReceiverObstacle } from '../core/status/receiver-text.ts';
import { type Check, type Finding, ok, warning } from './check.ts';
import type { DoctorPorts } from './ports.ts';
import { clockFindings, obstacleSeen, type Sightings } from './sightings.ts';

/** The wires that prove an input by more than a contact that is open. */
function proofLine(profile: BoardProfile, input: 'ignition' | 'motion'): readonly string[] {
  const proof = proofOf(profile, input);
  if (proof === null) return [];
  const wires = [
    ...(proof.isAntivalent ? ['off contact'] : []),
    ...(proof.hasLife ? ['life input'] : []),
    ...(proof.hasLoopback ? ['loop-back'] : []),
  ];
  if (wires.length > 0) return [`wires that prove ${input}: ${wires.join(', ')}`];
  const helps = input === 'ignition' ? 'an off contact or a life input' : 'a life input';
  return [`${input} is a plain contact, whose 0 is also that of a broken wire; ${helps} helps`];
}

/**
 * Warns where the bit of an open contact means "inactive" and the same bit of the life input "on": without its wire the
 * life input then never shows a lost supply. Normally closed contacts look the same. Panic buttons and tamper loops
 * often are; beside a life input that is not inverted only ignition and motion, which allow a cut, are named.
 */
function lifeWarnings({ inputs, life, polls }: BoardProfile): readonly string[] {
  if (life === undefined) return [];
  const doubtful = Object.entries(inputs).flatMap(([name, { poll, invert }]) => {
    const isSpokenFor = name !== 'externalPower' && isSameUnit({ polls }, life.poll, poll);
    const counts = life.invert || name === 'ignition' || name === 'motion';
    return isSpokenFor && counts && invert !== life.invert ? [name] : [];
  });
  if (doubtful.length === 0) return [];
  return [
    `life has invert = ${life.invert}, unlike ${doubtful.join(', ')}: this is right for normally closed contacts only, otherwise a life input without its wire reads on for ever. Take the supply of the contacts away: \`doctor --watch\` must show \`life off\``,
  ];
}

export interface WitnessReport {
  readonly fitted: readonly WitnessName[];
  readonly lines: readonly string[];
  readonly warnings: readonly string[];
}

/** What the witnesses of a configuration allow; the engine cut-off is asked about only where its relay is fitted. */
export function describeWitnesses(
  { profile }: Pick<AgentConfig, 'profile'>,
  { circuit }: Protection,
): WitnessReport {
  const fitted = fittedWitnesses(profile);
  const warnings = [...lifeWarnings(profile)];
  const lines = [`witnesses of standstill: ${fitted.join(', ')}; a cut needs two that are proven by a drive`];
  lines.push(...proofLine(profile, 'ignition'), ...proofLine(profile, 'motion'));
  if (profile.relays.enginecutoff === undefined) return { fitted, lines, warnings };
  if (!fitted.includes('ignition'))
    warnings.push('no ignition input is mapped, so a cut never happens: name it in [board.overrides.inputs]');
  if (!fitted.includes('motion')) lines.push('no motion input is mapped, so without a position a cut waits');
  if (circuit !== 'starter') {
    warnings.push(
      `the cut-off relay is in the ${circuit} circuit, where it can stop a running engine: the stricter proof applies; the starter circuit is the safest`,
    );
    if (profile.inputs.ignition !== undefined && profile.inputs.ignition.off === undefined)
      warnings.push(
        'ignition is a plain contact: one broken wire at a light looks like an engine that was switched off, and the running engine may be stopped there; an off contact, or the supply voltage on an analog input, shows that it is not',
      );
  }
  return { fitted, lines, warnings };
}

const day = (utcMs: number | null): string =>
  utcMs === null ? 'at an unknown time' : `on ${new Date(utcMs).toISOString().slice(0, 10)}`;

function parseText(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

type WitnessConfig = Pick<AgentConfig, 'profile' | 'accountID' | 'deviceID' | 'hardwareID'>;

/** The credit of each fitted witness as the disk holds it, and what earns the rest. */
function witnessFindings(
  config: WitnessConfig,
  evidence: string | null,
  obstacle: ReceiverObstacle | null,
): readonly Finding[] {
  const { profile } = config;
  const record = parseEvidence(parseText(evidence), wiringOf(profile, config));
  const fitted = fittedWitnesses(profile);
  const states = witnessNames
    .filter((name) => fitted.includes(name))
    .map((name) => {
      const credit = record.credits[name];
      const state = creditState(credit);
      const by = credit === undefined ? '' : ` (${day(credit.utcMs)}, by ${credit.against})`;
      return { name, state, text: `${name} ${state}${by}` };
    });
  const seen = states.map(({ text }) => text).join(', ');
  const proven = countProven((name) => states.some((one) => one.name === name && one.state === 'proven'));
  const isGnssProven = states.some(({ name, state }) => name === 'gnss' && state === 'proven');
  const todo = proofAdvice({ fitted, obstacle: isGnssProven ? null : obstacle });
  return [proven >= 2 ? ok(seen) : warning(`${seen}; a cut waits until two are proven`, todo)];
}

/** The check of a stopped unit, after those of receiver and broker. */
export function witnessCheck(
  config: WitnessConfig & Pick<AgentConfig, 'earliestUtcMs'>,
  path: string,
  { ports, sightings }: { readonly ports: DoctorPorts; readonly sightings: Sightings },
): Check {
  return {
    id: 'witnesses',
    title: 'Witnesses of standstill',
    mostS: 10,
    async run() {
      const isThere = ports.machine.look(path) !== null;
      const now = { utcMs: ports.clock.utcMs(), earliestUtcMs: config.earliestUtcMs };
      const obstacle = obstacleSeen(sightings, clockFindings(sightings, now));
      return witnessFindings(config, isThere ? ports.inspectOutbox(path).evidence : null, obstacle);
    },
  };
}
