// One digital input as a witness: its reading, and whether the reading counts. "Off" proves nothing after a restart, a lost board, a common loss,
// chatter, or a movement that the input did not show. It counts again once the input was seen active. After a restart or a lost board it also counts
// while the receiver shows the vehicle where it was parked; for a live contact, at one place.

export const contactLimits = {
  /** A loss of samples up to this long changes nothing. */
  gapMs: 3000,
  /** Time active that shows the input to be alive. */
  aliveMs: 1000,
  /** Time active that ends a suspension by chatter. */
  steadyMs: 15_000,
  /** This many changes of the ignition within `chatterMs` do not come from a driver. */
  chatterFlips: 6,
  chatterMs: 20_000,
  /** Time off that ends a suspension by chatter at rest, if the vehicle was seen to stand since the first of these changes. */
  chatterOffMs: 60_000,
  /** Inputs that become inactive this close to each other have lost their common supply. */
  commonMs: 200,
  /**
   * Maximum distance between the fall of an input and the loss of an analog value with one cause: analogs are read once a second, and an input may
   * chatter before.
   */
  analogMs: 5000,
  /** Maximum delay of the first fix at rest after a stop: the period of the receiver and the transmission. */
  restShownMs: 1500,
} as const;

/** `moved`: the vehicle was driven while the input was off from the beginning. It was towed, or the wire is dead. */
export type Suspension = 'start' | 'board' | 'common' | 'chatter' | 'moved';

export interface Sensed {
  /** Null: not fitted, never read, or the board is silent. */
  readonly value: boolean | null;
  /** Monotonic time of the first sample that showed `value`, ms. */
  readonly sinceMs: number;
  /** Monotonic time of the last sample before the change, ms; absent: as `sinceMs`. */
  readonly afterMs?: number;
}

/** A span of monotonic time. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Contact {
  /** The supply or the second contact is read beside it: "off" is a positive statement, also after a lost board. */
  readonly isLive: boolean;
  readonly sensed: Sensed;
  /** Last value read, which a board silence does not erase; null: never read. */
  readonly read: boolean | null;
  /** Monotonic time of the last active reading, ms; minus infinity: none in this run. */
  readonly activeMs: number;
  /** Monotonic time of the last change to active, ms. */
  readonly roseMs: number;
  /** Monotonic times of the samples after and before the last change to inactive, ms. */
  readonly fellMs: number;
  readonly fellAfterMs: number;
  /** Monotonic start of the present "off", ms; losses of samples up to `gapMs` do not interrupt it. Null: not off, or never read. */
  readonly offSinceMs: number | null;
  /** Last silence of its board; null: none in this run. */
  readonly silence: Span | null;
  /** Monotonic time at which samples stopped, ms; null while they arrive. */
  readonly lostMs: number | null;
  /** Monotonic times of the last changes, ms, newest last; only as many as chatter needs. */
  readonly flipsMs: readonly number[];
  /** Reason why "off" does not count; null: it counts. */
  readonly suspension: Suspension | null;
}

/**
 * An input without known history.
 * @param isParked the vehicle was known to stand when the unit was last on. If not, all wires may have come off before or since.
 */
export function createContact(nowMs: number, isLive: boolean, isParked: boolean): Contact {
  return {
    isLive,
    sensed: { value: null, sinceMs: nowMs },
    read: null,
    activeMs: Number.NEGATIVE_INFINITY,
    roseMs: Number.NEGATIVE_INFINITY,
    fellMs: Number.NEGATIVE_INFINITY,
    fellAfterMs: Number.NEGATIVE_INFINITY,
    offSinceMs: null,
    silence: null,
    lostMs: nowMs,
    flipsMs: [],
    suspension: isLive && isParked ? null : 'start',
  };
}

function withFlip(contact: Contact, nowMs: number): Contact {
  const { chatterFlips, chatterMs } = contactLimits;
  const flipsMs = [...contact.flipsMs, nowMs].slice(-chatterFlips);
  const oldest = flipsMs[0] ?? nowMs;
  const chatters = flipsMs.length >= chatterFlips && nowMs - oldest <= chatterMs;
  return chatters ? { ...contact, flipsMs, suspension: 'chatter' } : { ...contact, flipsMs };
}

/** Ends a suspension once the input has been active for long enough. */
function withLife(contact: Contact, nowMs: number): Contact {
  const { sensed, suspension } = contact;
  if (suspension === null || sensed.value !== true) return contact;
  const neededMs = suspension === 'chatter' ? contactLimits.steadyMs : contactLimits.aliveMs;
  // Forgets the changes of an ended chatter: the next change would otherwise be chatter at once.
  const flipsMs = suspension === 'chatter' ? [] : contact.flipsMs;
  return nowMs - sensed.sinceMs >= neededMs ? { ...contact, suspension: null, flipsMs } : contact;
}

/** Start of the present "off". A short loss of samples between two "off" readings does not end it; one "on" sample does. */
function offSinceAfter({ offSinceMs, activeMs }: Contact, seen: Sensed, isGone: boolean): number | null {
  if (seen.value === null) return offSinceMs;
  if (seen.value) return null;
  return offSinceMs === null || isGone ? Math.max(seen.sinceMs, activeMs) : offSinceMs;
}

/**
 * Samples between which the input became inactive: its debounce began with the first "off" one. After an "on" that is shorter than the debounce, the
 * earlier "off" continues; the last active reading then counts as the fall.
 */
function fallOf({ sensed, activeMs }: Contact, seen: Sensed): Pick<Contact, 'fellMs' | 'fellAfterMs'> {
  if (seen.sinceMs < sensed.sinceMs) return { fellMs: activeMs, fellAfterMs: activeMs };
  return { fellMs: seen.sinceMs, fellAfterMs: seen.afterMs ?? seen.sinceMs };
}

/** Records the present reading. `countsFlips` detects chatter: true for the ignition, false for a motion sensor, which pulses. */
export function recordReading(
  before: Contact,
  seen: Sensed,
  now: { readonly atMs: number; readonly countsFlips: boolean },
): Contact {
  const { atMs } = now;
  // An input that falls during a short board silence has fallen all the same.
  const was = before.read;
  let next: Contact =
    before.sensed.value === seen.value && before.sensed.sinceMs === seen.sinceMs
      ? before
      : { ...before, sensed: seen };
  if (seen.value === null) return next.lostMs === null ? { ...next, lostMs: atMs } : next;
  const isReturn = next.lostMs !== null && atMs - next.lostMs > contactLimits.gapMs;
  const offSinceMs = offSinceAfter(next, seen, isReturn);
  if (offSinceMs !== next.offSinceMs) next = { ...next, offSinceMs };
  if (next.lostMs !== null) {
    const silence = { fromMs: next.lostMs, toMs: atMs };
    next = { ...(isReturn ? suspendByBoard(next) : next), lostMs: null, silence };
  }
  if (was !== null && was !== seen.value) {
    next = { ...next, ...(seen.value ? { roseMs: atMs } : fallOf(before, seen)) };
    if (now.countsFlips) next = withFlip(next, atMs);
  } else if (before.sensed.value === null && seen.value) next = { ...next, roseMs: atMs };
  if (was !== seen.value) next = { ...next, read: seen.value };
  if (seen.value && next.activeMs !== atMs) next = { ...next, activeMs: atMs };
  return withLife(next, atMs);
}

/**
 * True when the samples of two inputs allow that they fell together. Unless the vehicle was seen to stand, their common supply or the plug with their
 * wires was lost. Different polls may read the two, with different debounces.
 */
export function isCommonLoss(a: Contact, b: Contact): boolean {
  const apartMs = Math.max(a.fellAfterMs, b.fellAfterMs) - Math.min(a.fellMs, b.fellMs);
  return Number.isFinite(apartMs) && apartMs <= contactLimits.commonMs;
}

/** True when the input fell about when an analog value was lost: the board has lost its supply or its common. */
export function isLostWithAnalog({ fellMs }: Contact, analogLostMs: number): boolean {
  return Number.isFinite(fellMs) && Math.abs(fellMs - analogLostMs) <= contactLimits.analogMs;
}

/** Suspends an input that may be dead although its board answers; a live contact needs none. A stricter suspension stays. */
export function suspendByBoard(contact: Contact): Contact {
  return contact.suspension === null && !contact.isLive ? { ...contact, suspension: 'board' } : contact;
}

/**
 * Suspends an input that lost something in common with others. A live contact reads its supply beside itself and needs no suspension for that; it
 * cannot see a plug that came off.
 */
export function suspendByCommon(contact: Contact, lost: 'supply' | 'plug'): Contact {
  return contact.isLive && lost === 'supply' ? contact : { ...contact, suspension: 'common' };
}

/** Ends a suspension by common loss: the fixes since show that the vehicle stood, so the key was turned just as it stopped. */
export function endCommonSuspension(contact: Contact): Contact {
  return contact.suspension === 'common' ? { ...contact, suspension: null } : contact;
}

/**
 * Ends a suspension by chatter if the receiver showed rest at every change, as when the key is tried, and the input has been off since.
 * @param stoodSinceMs monotonic start of the rest that the receiver shows, ms.
 */
export function endChatter(contact: Contact, stoodSinceMs: number, nowMs: number): Contact {
  const { sensed, suspension, flipsMs, fellMs } = contact;
  if (suspension !== 'chatter' || sensed.value !== false) return contact;
  const isSteady = nowMs - Math.max(fellMs, contact.activeMs) >= contactLimits.chatterOffMs;
  const stood = stoodSinceMs <= (flipsMs[0] ?? Number.NEGATIVE_INFINITY);
  return isSteady && stood ? { ...contact, suspension: null, flipsMs: [] } : contact;
}

/** Suspends an input that was off during a whole drive. */
export function suspendByMovement(contact: Contact): Contact {
  return contact.suspension === 'moved' ? contact : { ...contact, suspension: 'moved' };
}

/** The contact without a suspension by start or board, for the cases of `countedContact`. Suspensions by chatter, common loss and movement stay. */
export function atPlace(contact: Contact): Contact {
  const { suspension } = contact;
  return suspension === 'start' || suspension === 'board' ? { ...contact, suspension: null } : contact;
}

/** Time for which it has been inactive, ms; null: not known to be inactive, or it does not count. */
export function restingForMs({ sensed, suspension, activeMs }: Contact, nowMs: number): number | null {
  return sensed.value === false && suspension === null ? nowMs - Math.max(sensed.sinceMs, activeMs) : null;
}
