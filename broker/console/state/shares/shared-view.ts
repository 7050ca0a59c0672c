// State of a share link's page, from answers and messages of the service. Pure.
import type { SharedView } from '../../api/operations.ts';
import { trackOf } from '../track.ts';

export type SharedPosition = NonNullable<SharedView['position']>;

/** `incomplete`: the address holds no token; `unknown`: refused at the first try, for which the service names no reason. */
export type ShareEnd = 'incomplete' | 'unknown' | 'expired' | 'revoked';

export interface ShareState {
  /** Null: not read yet. */
  readonly view: SharedView | null;
  /** Oldest first: of a trip all, of a live share those since the page was opened. Null: not read yet. */
  readonly positions: readonly SharedPosition[] | null;
  readonly end: ShareEnd | null;
  /** Of the stream: `live` only while each second brings a sign of life. */
  readonly link: 'opening' | 'live' | 'down';
  /** Why the last try failed; null: it did not. */
  readonly fault: 'busy' | 'unreachable' | null;
  /** Time of the last sign of life, ms of this computer; 0: none yet. */
  readonly aliveMs: number;
  /** Clock of the service minus clock of this computer, s. */
  readonly skewS: number;
}

export const firstState: ShareState = {
  view: null,
  positions: null,
  end: null,
  link: 'opening',
  fault: null,
  aliveMs: 0,
  skewS: 0,
};

/** Positions that are kept; the oldest go first. */
export const positionsMost = 5000;
/** The clocks are compared to the second, s. */
const clockFaultS = 2;

/** The token in the fragment of an address; null: there is no whole one. */
export function shareTokenOf(fragment: string): string | null {
  const [, token = null] = /^#(share-[0-9a-f]{64})$/.exec(fragment) ?? [];
  return token;
}

/** The address of the page for a token. */
export const shareLink = (origin: string, token: string): string => `${origin}/console/share#${token}`;

export function withView(state: ShareState, view: SharedView, skewS: number): ShareState {
  const positions = view.kind === 'trip' ? null : view.position === null ? [] : [view.position];
  return { ...state, view, positions, skewS, fault: null };
}

/** A position that is not newer than the last one changes nothing. */
export function withPosition(state: ShareState, position: SharedPosition): ShareState {
  const { positions } = state;
  if ((positions?.at(-1)?.timestamp ?? 0) >= position.timestamp) return state;
  return { ...state, positions: [...(positions ?? []), position].slice(-positionsMost) };
}

export const withTrack = (state: ShareState, positions: readonly SharedPosition[]): ShareState => ({
  ...state,
  positions,
  fault: null,
});

export const alive = (state: ShareState, nowMs: number): ShareState => ({
  ...state,
  link: 'live',
  fault: null,
  aliveMs: nowMs,
});

/** The stream is silent or has ended. */
export const down = (state: ShareState): ShareState => ({ ...state, link: 'down' });

export const failed = (state: ShareState, fault: 'busy' | 'unreachable'): ShareState => ({
  ...state,
  link: 'down',
  fault,
});

/** The service gives nothing more to this token. */
export function ended(state: ShareState, nowMs: number): ShareState {
  const { view, skewS } = state;
  const isExpired = view !== null && nowMs / 1000 + skewS >= view.expires - clockFaultS;
  return { ...state, link: 'down', end: view === null ? 'unknown' : isExpired ? 'expired' : 'revoked' };
}

/** The way as lines, broken where nothing was reported for long. */
export const wayOf = (positions: readonly SharedPosition[]) =>
  trackOf(positions.map((position) => ({ ...position, isPositionValid: true })));
