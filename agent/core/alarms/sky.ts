// Counts received satellites by GSV sentences, and detects their sudden loss, the sign of a jammer. Bounded: a few
// numbers a constellation. A tunnel looks the same, so a moving vehicle never counts as jammed.
import type { SkySentence } from '../gnss/nmea-sky.ts';

const skyLimits = {
  /** So many strong satellites together are an open sky. */
  strong: 4,
  /** From open sky to (almost) no satellites within this: no cloud, tree or slow fade does that. */
  dropMs: 8000,
  /** A constellation without sentences for this long is removed. */
  lifeMs: 5000,
  constellations: 10,
} as const;

interface Constellation {
  readonly tracked: number;
  readonly strong: number;
  readonly atMs: number;
}

export interface SkyState {
  readonly constellations: Readonly<Record<string, Constellation>>;
  /**
   * Last time of an open sky, and begin of a span in which the receiver reports no satellite; null: never, or none.
   */
  readonly openMs: number | null;
  readonly emptySinceMs: number | null;
  /** All vanished at once and none has returned. */
  readonly isDropped: boolean;
  readonly reportedMs: number | null;
  readonly antenna: 'ok' | 'open' | 'short' | null;
}

export const emptySky: SkyState = {
  constellations: {},
  openMs: null,
  emptySinceMs: null,
  isDropped: false,
  reportedMs: null,
  antenna: null,
};

/** Handles the sentences of one chunk of bytes. */
export function recordSky(before: SkyState, sentences: readonly SkySentence[], atMs: number): SkyState {
  let state = before;
  for (const sentence of sentences) {
    if (sentence.type === 'TXT') {
      state = { ...state, antenna: sentence.antenna };
      continue;
    }
    const { talker, message, tracked, strong } = sentence;
    const old = message === 1 ? undefined : state.constellations[talker];
    const isNew = state.constellations[talker] === undefined;
    if (isNew && Object.keys(state.constellations).length >= skyLimits.constellations) continue;
    const sum = { tracked: (old?.tracked ?? 0) + tracked, strong: (old?.strong ?? 0) + strong, atMs };
    state = {
      ...state,
      constellations: { ...state.constellations, [talker]: sum },
      reportedMs: atMs,
    };
  }
  return state;
}

/** Evaluates the sky as a whole, once an epoch: between its sentences it is incomplete. */
export function closeSky(state: SkyState, atMs: number): SkyState {
  const { reportedMs } = state;
  if (reportedMs === null || atMs - reportedMs > skyLimits.lifeMs) return { ...state, emptySinceMs: null };
  let [tracked, strong] = [0, 0];
  for (const one of Object.values(state.constellations)) {
    if (atMs - one.atMs > skyLimits.lifeMs) continue;
    tracked += one.tracked;
    strong += one.strong;
  }
  if (strong >= skyLimits.strong) return { ...state, openMs: atMs, emptySinceMs: null, isDropped: false };
  // One satellite may linger as a ghost.
  if (tracked > 1) return { ...state, emptySinceMs: null, isDropped: false };
  const emptySinceMs = state.emptySinceMs ?? atMs;
  const isSudden = state.openMs !== null && emptySinceMs - state.openMs <= skyLimits.dropMs;
  return { ...state, emptySinceMs, isDropped: isSudden };
}
