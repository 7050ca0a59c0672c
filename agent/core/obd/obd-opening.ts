// The opening of an adapter: its settings, what it is, the protocol of the car, and what its control units offer. What an adapter is shows by
// the commands that it knows, not by its name: clones call themselves v2.1 and lack commands of 1.4, or v1.5, which was never released.
// Versions of the commands: "ELM327 AT Commands, available in version" (Elm Electronics).
import type { ElmKind } from '../bus/obd-facts.ts';
import type { ElmReading } from './elm-answer.ts';
import {
  isCan,
  isRequest,
  type ObdCommand,
  type Protocol,
  protocolCommands,
  type SetupCommand,
} from './obd-commands.ts';
import { isLow } from './obd-permission.ts';
import { endSession, type ObdSession, type ObdStep } from './obd-session.ts';
import { pidsIn, rpmPid, speedPid, supportedIn, vinIn } from './obd-signals.ts';

interface SetupStep {
  readonly command: SetupCommand;
  /** `must`: refused where it is not acknowledged. `probe`: known since version `since`. */
  readonly as: 'must' | 'probe' | 'name' | 'device' | 'volts' | 'any';
  /** Tenths: 14 is version 1.4. */
  readonly since?: number;
}

export const setupPlan: readonly SetupStep[] = [
  { command: 'ATE0', as: 'must' },
  { command: 'ATL0', as: 'must' },
  // Without headers the answers of two control units cannot be assigned.
  { command: 'ATH1', as: 'must' },
  { command: 'ATI', as: 'name' },
  { command: 'STI', as: 'device' },
  { command: 'AT@1', as: 'probe', since: 10 },
  { command: 'ATPPS', as: 'probe', since: 11 },
  { command: 'ATS0', as: 'probe', since: 13 },
  { command: 'ATFE', as: 'probe', since: 13 },
  { command: 'ATSS', as: 'probe', since: 14 },
  // Also the safe value: the adapter acknowledges no frame of a bus whose bit rate it does not know.
  { command: 'ATCSM1', as: 'probe', since: 14 },
  { command: 'ATAMC', as: 'probe', since: 20 },
  { command: 'ATCTM1', as: 'probe', since: 21 },
  { command: 'ATRV', as: 'volts' },
  { command: 'ATAT1', as: 'any' },
  { command: 'ATST32', as: 'any' },
  { command: 'ATCAF1', as: 'must' },
];

/** Below this the adapter is in no diagnostic connector. */
const leastSupplyV = 6;
const releasedVersions: readonly number[] = [10, 11, 12, 13, 14, 20, 21, 22, 23];
const textMost = 60;

/** The version in a name, in tenths; null: it is no ELM327. */
function versionOf(name: string | null): number | null {
  const match = /ELM32\d.*v(\d)\.(\d)/i.exec(name ?? '');
  return match === null ? null : Number(match[1]) * 10 + Number(match[2]);
}

/** What the adapter is, by its probes. */
export function kindOf({
  version,
  device,
  failedProbes,
}: Pick<ObdSession, 'version' | 'device' | 'failedProbes'>): ElmKind {
  // An STN knows other commands than the ELM327 that it names.
  if (device !== null) return 'stn';
  const claimed = versionOf(version);
  const isReleased = claimed !== null && releasedVersions.includes(claimed);
  return isReleased && failedProbes.length === 0 ? 'elm327' : 'clone';
}

/** The supply in an answer to ATRV, such as `12.4V`; null: none. */
export function voltsIn({ texts }: ElmReading): number | null {
  const match = /^(\d{1,2}\.\d)V?$/i.exec(texts[0] ?? '');
  return match === null ? null : Number(match[1]);
}

function withVolts(state: ObdSession, reading: ElmReading): ObdSession {
  const volts = voltsIn(reading);
  if (volts === null) return endSession(state, 'unfit_adapter');
  const next = { ...state, volts };
  if (volts < leastSupplyV) return endSession(next, 'no_supply');
  return isLow(volts) ? endSession(next, 'battery_low') : next;
}

/** Whether a version of the adapter should know a command. */
const isClaimed = ({ version }: ObdSession, since: number): boolean => (versionOf(version) ?? 0) >= since;

const withFailure = (state: ObdSession, command: ObdCommand): ObdSession => ({
  ...state,
  failedProbes: [...state.failedProbes, command],
});

function judgeSetup(
  state: ObdSession,
  { command, as, since = 0 }: SetupStep,
  reading: ElmReading,
): ObdSession {
  const { words, texts } = reading;
  switch (as) {
    case 'must':
      return words.includes('ok') ? state : endSession(state, 'unfit_adapter');
    case 'name': {
      const version = texts[0]?.slice(0, textMost) ?? null;
      return versionOf(version) === null
        ? endSession({ ...state, version }, 'unfit_adapter')
        : { ...state, version };
    }
    case 'device': {
      const device = texts.find((text) => /^STN\d{4}/.test(text))?.slice(0, textMost) ?? null;
      return { ...state, device };
    }
    case 'probe': {
      const isKnown = !words.includes('unknown') && (words.includes('ok') || texts.length > 0);
      return isKnown || !isClaimed(state, since) ? state : withFailure(state, command);
    }
    case 'volts':
      return withVolts(state, reading);
    case 'any':
      return state;
  }
}

/** The answer to a command of the setup. */
export function stepSetup(state: ObdSession, reading: ElmReading): ObdSession {
  const step = setupPlan[state.step];
  if (step === undefined) return state;
  const judged = judgeSetup(state, step, reading);
  if (judged.phase === 'ended') return judged;
  const next = { ...judged, step: judged.step + 1 };
  return next.step < setupPlan.length ? next : { ...next, phase: 'search', step: 0, kind: kindOf(next) };
}

const isProtocol = (number: number): number is Protocol => number in protocolCommands;

/** The units in answers to a bitmap. */
function withBitmap(
  units: ObdSession['units'],
  { messages }: ElmReading,
  at: { readonly mode: 1 | 9; readonly base: number },
): ObdSession['units'] {
  const next = new Map(units.map((unit) => [unit.source, unit]));
  for (const message of messages) {
    const offered = supportedIn(message, at.mode, at.base);
    if (offered === null) continue;
    const unit = next.get(message.source) ?? { source: message.source, pids: [], infos: [] };
    const member = at.mode === 1 ? 'pids' : 'infos';
    next.set(message.source, { ...unit, [member]: [...new Set([...unit[member], ...offered])] });
  }
  return [...next.values()];
}

/** The next command of the search: the protocol of before, else all; then the one that was found is fixed. */
export function searchCommand({ step, known, protocol }: ObdSession): ObdCommand {
  if (step === 1) return '0100';
  if (step === 2) return 'ATDPN';
  if (protocol !== null) return protocolCommands[protocol];
  return known === null ? 'ATSP0' : protocolCommands[known];
}

/** All protocols are searched; `known` was not that of the car. */
const searchAll = (state: ObdSession): ObdSession => ({ ...state, known: null, protocol: null, step: 0 });

function afterBitmap(state: ObdSession, reading: ElmReading): ObdSession {
  const { protocol, known } = state;
  if (protocol === null) {
    // Which line is a message is known with the protocol; here it is enough that one answers.
    const isAnswered = reading.texts.some((text) => /4100/.test(text.replaceAll(' ', '')));
    return isAnswered ? { ...state, step: 2 } : endSession(state, 'silent_vehicle');
  }
  const units = withBitmap([], reading, { mode: 1, base: 0 });
  if (units.length > 0) return { ...state, units, learnt: ['0100'], phase: 'learn', step: 0 };
  return protocol === known ? searchAll(state) : endSession(state, 'silent_vehicle');
}

/** The answer to a command of the search. */
export function stepSearch(state: ObdSession, command: ObdCommand, reading: ElmReading): ObdSession {
  if (command === '0100') return afterBitmap(state, reading);
  if (command === 'ATDPN') {
    // `A6`: automatic, number 6.
    const match = /^A?([0-9A-C])$/.exec(reading.texts[0] ?? '');
    const number = Number.parseInt(match?.[1] ?? '0', 16);
    return isProtocol(number) ? { ...state, protocol: number, step: 0 } : endSession(state, 'unfit_protocol');
  }
  if (!reading.words.includes('ok')) return endSession(state, 'unfit_adapter');
  return { ...state, protocol: state.protocol ?? state.known, step: 1 };
}

const offers = ({ units }: ObdSession, pid: number): number =>
  units.filter(({ pids }) => pids.includes(pid)).length;

/** Requests with the number of answers are safe where exactly one unit offers what is asked. */
export const hasOneAnswer = (state: ObdSession, pids: readonly number[]): boolean =>
  pids.every((pid) => offers(state, pid) === 1);

const bitmaps = [
  ['0120', 0x20],
  ['0140', 0x40],
  ['0160', 0x60],
  ['0180', 0x80],
  ['01A0', 0xa0],
] as const;

/** What is still to be learnt of the car; null: nothing. Nothing is asked that no unit offers. */
export function learnCommand(state: ObdSession): ObdCommand | null {
  const isNew = (command: ObdCommand): boolean => !state.learnt.includes(command);
  for (const [command, pid] of bitmaps) if (offers(state, pid) > 0 && isNew(command)) return command;
  if (isNew('0900')) return '0900';
  if (state.units.some(({ infos }) => infos.includes(0x02)) && isNew('0902')) return '0902';
  // A clone, by its settings, is asked for single values only.
  if (state.kind === 'clone' || state.protocol === null) return null;
  const hasSpeed = offers(state, speedPid) > 0;
  if (hasSpeed && hasOneAnswer(state, [speedPid]) && isClaimed(state, 13) && isNew('010D1')) return '010D1';
  const isBoth = isCan(state.protocol) && hasSpeed && offers(state, rpmPid) > 0;
  return isBoth && isNew('010D0C') ? '010D0C' : null;
}

/** Whether an answer holds these identifiers. */
const holds = ({ messages }: ElmReading, wanted: readonly number[]): boolean => {
  const found = messages.flatMap((message) => pidsIn(message)?.map(([pid]) => pid) ?? []);
  return wanted.every((pid) => found.includes(pid));
};

/** A request that every adapter of its version takes: one that does not know it is a clone. */
function withProbe(state: ObdSession, command: ObdCommand, { words }: ElmReading): ObdSession {
  if (!words.includes('unknown')) return state;
  const failed = withFailure(state, command);
  return { ...failed, kind: kindOf(failed) };
}

/** The answer to a request of the learning. */
export function stepLearn(given: ObdSession, command: ObdCommand, reading: ElmReading): ObdStep {
  const state = { ...given, learnt: [...given.learnt, command] };
  if (command === '0902') {
    for (const { source } of state.units) {
      const vin = vinIn(reading.messages.filter((message) => message.source === source));
      if (vin !== null) return { state, readings: [{ kind: 'vin', source, vin }] };
    }
    return { state, readings: [] };
  }
  if (command === '010D1' || command === '010D0C') {
    const wanted = command === '010D1' ? [speedPid] : [speedPid, rpmPid];
    const isGood = holds(reading, wanted);
    const member = command === '010D1' ? 'hasAnswerCount' : 'hasLongRequests';
    return {
      state: { ...withProbe(state, command, reading), [member]: isGood },
      readings: isGood ? [{ kind: 'answers', messages: reading.messages }] : [],
    };
  }
  if (!isRequest(command)) return { state, readings: [] };
  const [mode, base] = [command.slice(0, 2) === '09' ? 9 : 1, Number.parseInt(command.slice(2), 16)] as const;
  return { state: { ...state, units: withBitmap(state.units, reading, { mode, base }) }, readings: [] };
}
