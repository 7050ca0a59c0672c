// The dialogue that opens an SLCAN adapter in listen-only mode, as a pure machine: answers and time in, commands out. After its
// end nothing is written. An adapter whose silence cannot be verified is refused. A refused listen-only mode never leads to a
// normal one. Sources: CAN232 protocol (LAWICEL); canable-fw `src/slcan.c`: it answers to V only, drops unknown letters in
// silence, and every version that answers to V (since da4c91c, 2019) knows M1. CANable 2.5 (ElmueSoft, `Slcan/control.c`):
// acknowledges all but C, listens after M1 and O, and takes L for a report of the load. Nakakiyo092/canable2-fw `src/slcan.c`:
// VL2K4, as LAWICEL; its M sets a filter.
import type { SlcanAnswer } from './slcan-line.ts';

/** `canable`, and `canable25` which acknowledges: listen after `M1`, `O`. `lawicel` and `usbtin`: after `L`. */
export const slcanDialects = ['canable', 'canable25', 'usbtin', 'lawicel'] as const;
export type SlcanDialect = (typeof slcanDialects)[number];

/** Bit rates in bit/s in the order in which they are tried: SAE J1939 first. */
export const bitRates = [250_000, 500_000, 125_000, 1_000_000] as const;
export type BitRate = (typeof bitRates)[number];

const rateCommands: Readonly<Record<BitRate, string>> = {
  125_000: 'S4',
  250_000: 'S5',
  500_000: 'S6',
  1_000_000: 'S8',
};

/** Every command that an opening can write: none of them transmits a frame. */
export const openingCommands = ['C', 'V', 'v', 'M1', 'O', 'L', ...Object.values(rateCommands)] as const;

/** Reason why an adapter is not used. `not_silent`: it cannot listen without taking part in the bus. */
export type OpeningRefusal = 'no_answer' | 'unknown_adapter' | 'no_bit_rate' | 'not_silent';

export interface OpeningOptions {
  readonly bitRate: BitRate;
}

type Stage = 'closing' | 'version' | 'firmware' | 'rate' | 'silent' | 'open';

export interface OpeningState {
  readonly stage: Stage | 'done' | 'refused';
  /** Time of the last command, monotonic ms. */
  readonly atMs: number;
  readonly dialect: SlcanDialect | null;
  /** What the adapter said to `V`; null: nothing. */
  readonly version: string | null;
  readonly refusal: OpeningRefusal | null;
}

export type OpeningInput =
  | { readonly kind: 'time' }
  | { readonly kind: 'answer'; readonly answer: SlcanAnswer };

export interface OpeningStep {
  readonly state: OpeningState;
  /** Commands to write, without their CR. */
  readonly commands: readonly string[];
}

/** How long each stage waits for an answer, ms. */
const waitMs: Readonly<Record<Stage, number>> = {
  closing: 150,
  version: 400,
  firmware: 400,
  rate: 400,
  silent: 400,
  open: 400,
};

/** `V1013`, `VL2K4`, `VL2K0 8ca5d39 git@...`: what makes it safe is that it must acknowledge `L`. */
const lawicelVersion = /^V[0-9A-Za-z]{4}(?: |$)/;
const firmwareVersion = /^v[0-9A-Fa-f]{4}$/;
/** A hash of its source and its address: `8ca5d39 git@github.com:normaldotcom/canable-fw.git`. */
const canableVersion = /canable/i;
/** Fields with tabs between them: `+Board: Multiboard`, `MCU: STM32G431`, ..., `Slcan: 105`, ... */
const canable25Version = /^V?\+Board: .*Slcan: \d{3}/;

/** The first step: ends whatever the adapter did before. */
export function beginOpening(nowMs: number): OpeningStep {
  return {
    state: { stage: 'closing', atMs: nowMs, dialect: null, version: null, refusal: null },
    commands: ['C', 'C', 'C'],
  };
}

const refuse = (state: OpeningState, refusal: OpeningRefusal): OpeningStep => ({
  state: { ...state, stage: 'refused', refusal },
  commands: [],
});

/** The dialect that an answer to `V` shows; null: none that is known. */
function dialectOf(version: string): Exclude<SlcanDialect, 'usbtin'> | null {
  if (lawicelVersion.test(version)) return 'lawicel';
  if (canable25Version.test(version)) return 'canable25';
  return canableVersion.test(version) ? 'canable' : null;
}

/** The version is known, or nothing came: what the adapter is, and its bit rate. An adapter that drops `M1` unseen would take part in the bus. */
function afterVersion(state: OpeningState, nowMs: number): OpeningStep {
  const { version } = state;
  const seen = version === null ? null : dialectOf(version);
  if (seen === null) return refuse(state, version === null ? 'no_answer' : 'unknown_adapter');
  return seen === 'lawicel'
    ? { state: { ...state, stage: 'firmware', atMs: nowMs }, commands: ['v'] }
    : { state: { ...state, stage: 'rate', atMs: nowMs, dialect: seen }, commands: [] };
}

/** What follows a stage whose command was acknowledged. */
function nextAcknowledged({ dialect, stage }: OpeningState): {
  readonly stage: OpeningState['stage'];
  readonly commands: readonly string[];
} {
  if (stage === 'rate' && dialect === 'canable25') return { stage: 'silent', commands: ['M1'] };
  if (stage === 'rate') return { stage: 'open', commands: ['L'] };
  return stage === 'silent' ? { stage: 'open', commands: ['O'] } : { stage: 'done', commands: [] };
}

/** An answer or its absence, of an adapter that acknowledges each command, or is refused. */
function stepAcknowledged(state: OpeningState, answer: SlcanAnswer | null, nowMs: number): OpeningStep {
  if (answer?.kind !== 'ok') return refuse(state, state.stage === 'rate' ? 'no_bit_rate' : 'not_silent');
  const { stage, commands } = nextAcknowledged(state);
  return { state: { ...state, stage, atMs: nowMs }, commands };
}

/** An older CANable acknowledges nothing: an answer to a command shows another adapter, on which `O` would not be silent. */
function stepMute(state: OpeningState, answer: SlcanAnswer | null, nowMs: number): OpeningStep {
  if (answer?.kind === 'ok' || answer?.kind === 'refused') return refuse(state, 'not_silent');
  if (answer !== null) return { state, commands: [] };
  switch (state.stage) {
    case 'rate':
      return { state: { ...state, stage: 'silent', atMs: nowMs }, commands: ['M1'] };
    case 'silent':
      return { state: { ...state, stage: 'done', atMs: nowMs }, commands: ['O'] };
    default:
      return { state, commands: [] };
  }
}

function withRate(step: OpeningStep, { bitRate }: OpeningOptions): OpeningStep {
  return step.state.stage === 'rate' && step.commands.length === 0
    ? { ...step, commands: [rateCommands[bitRate]] }
    : step;
}

function stepStage(
  state: OpeningState,
  answer: SlcanAnswer | null,
  at: { readonly options: OpeningOptions; readonly nowMs: number },
): OpeningStep {
  const { options, nowMs } = at;
  switch (state.stage) {
    case 'closing':
      // Answers to `C`, and frames of before, are of no interest.
      return answer === null
        ? { state: { ...state, stage: 'version', atMs: nowMs }, commands: ['V'] }
        : { state, commands: [] };
    case 'version': {
      if (answer === null) return withRate(afterVersion(state, nowMs), options);
      if (answer.kind === 'ok') return { state, commands: [] };
      const version = answer.kind === 'text' ? answer.text : null;
      return withRate(afterVersion({ ...state, version }, nowMs), options);
    }
    case 'firmware': {
      // Both kinds open alike; only the report names them.
      if (answer?.kind === 'ok') return { state, commands: [] };
      const isUsbtin = answer?.kind === 'text' && firmwareVersion.test(answer.text);
      const dialect = isUsbtin ? 'usbtin' : 'lawicel';
      return withRate({ state: { ...state, stage: 'rate', atMs: nowMs, dialect }, commands: [] }, options);
    }
    case 'done':
    case 'refused':
      return { state, commands: [] };
    default: {
      if (state.dialect === 'canable') return stepMute(state, answer, nowMs);
      return answer?.kind === 'text' ? { state, commands: [] } : stepAcknowledged(state, answer, nowMs);
    }
  }
}

/** One step of the dialogue: an answer, or time alone. */
export function stepOpening(
  state: OpeningState,
  input: OpeningInput,
  at: { readonly options: OpeningOptions; readonly nowMs: number },
): OpeningStep {
  if (input.kind === 'answer') return stepStage(state, input.answer, at);
  return at.nowMs >= openingWakeMs(state) ? stepStage(state, null, at) : { state, commands: [] };
}

/** Monotonic time of the next step that time alone demands; infinite at the end. */
export function openingWakeMs({ stage, atMs }: OpeningState): number {
  return stage === 'done' || stage === 'refused' ? Number.POSITIVE_INFINITY : atMs + waitMs[stage];
}
