// One digital input as a witness: its reading, and whether the reading counts. "Off" proves nothing after a restart,
// a lost board, a common-cause loss, chatter or a movement without it, until the input was seen active again or, for
// the first two, for as long as a receiver shows the vehicle where it was parked (or a live contact's, at one place).

export const contactLimits = {
  /** A loss of samples shorter than this changes nothing. */
  gapMs: 3000,
  /** Active for this long: the input is alive. */
  aliveMs: 1000,
  /** ... after chatter. */
  steadyMs: 15_000,
  /** This many changes of the ignition within `chatterMs` are no driver's. */
  chatterFlips: 6,
  chatterMs: 20_000,
  /** ... but at rest: off for this long since, where the vehicle was seen to stand all the while. */
  chatterOffMs: 60_000,
  /** Inputs that become inactive this close to each other have lost their common supply. */
  commonMs: 200,
  /** ... or this close to the loss of an analog value: analogs are read once a second, and an input may chatter before. */
  analogMs: 5000,
  /** The first fix at rest comes this late after a stop: the period of a receiver, and its way. */
  restShownMs: 1500,
} as const;

/** `moved`: the vehicle was driven while it was off from the beginning: towed, or its wire is dead. */
export type Suspension = 'start' | 'board' | 'common' | 'chatter' | 'moved';

/** A digital input as known now. */
export interface Sensed {
  /** Null: not fitted, never read, or the board is silent. */
  readonly value: boolean | null;
  /** Monotonic time since which `value` has held: of the first sample that showed it. */
  readonly sinceMs: number;
  /** The sample before that one, after which it changed; `sinceMs` where nothing stands here. */
  readonly afterMs?: number;
}

/** From one monotonic time to another. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Contact {
  /** Its supply, or its second contact, is read beside it: "off" is a statement, also after a lost board. */
  readonly isLive: boolean;
  readonly sensed: Sensed;
  /** What was read last, before a silence of the board too; null: never read. */
  readonly read: boolean | null;
  /** When it last was active; minus infinity if never in this run. */
  readonly activeMs: number;
  /** When it last became active. */
  readonly roseMs: number;
  /** When it last became inactive: between these two samples. */
  readonly fellMs: number;
  readonly fellAfterMs: number;
  /** Since when it has read "off", over losses of samples shorter than `gapMs`; null: it does not, or was never read. */
  readonly offSinceMs: number | null;
  /** When its board was last silent; null: never in this run. */
  readonly silence: Span | null;
  /** When samples stopped; null while they come. */
  readonly lostMs: number | null;
  /** When it changed, newest last; only as many as chatter needs. */
  readonly flipsMs: readonly number[];
  /** Why "off" does not count; null when it does. */
  readonly suspension: Suspension | null;
}

/**
 * An input without known history.
 * @param isParked the vehicle was known to stand when the unit was last on: else all wires may have come off meanwhile, or before.
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

/** Ends a suspension by the input's own activity: it was active for long enough. */
function withLife(contact: Contact, nowMs: number): Contact {
  const { sensed, suspension } = contact;
  if (suspension === null || sensed.value !== true) return contact;
  const neededMs = suspension === 'chatter' ? contactLimits.steadyMs : contactLimits.aliveMs;
  // Chatter that has ended is not counted again: the next change would be chatter at once.
  const flipsMs = suspension === 'chatter' ? [] : contact.flipsMs;
  return nowMs - sensed.sinceMs >= neededMs ? { ...contact, suspension: null, flipsMs } : contact;
}

/** Since when it has read "off": a short loss of samples between two readings of it ends nothing, an "on" of one sample does. */
function offSinceAfter({ offSinceMs, activeMs }: Contact, seen: Sensed, isGone: boolean): number | null {
  if (seen.value === null) return offSinceMs;
  if (seen.value) return null;
  return offSinceMs === null || isGone ? Math.max(seen.sinceMs, activeMs) : offSinceMs;
}

/** Between which samples it became inactive: its debounce began with the first one, and after an "on" that was too short for its debounce it goes on. */
function fallOf({ sensed, activeMs }: Contact, seen: Sensed): Pick<Contact, 'fellMs' | 'fellAfterMs'> {
  if (seen.sinceMs < sensed.sinceMs) return { fellMs: activeMs, fellAfterMs: activeMs };
  return { fellMs: seen.sinceMs, fellAfterMs: seen.afterMs ?? seen.sinceMs };
}

/** Records the reading of this moment. `countsFlips`: detect chatter (the ignition; a motion sensor pulses). */
export function recordReading(
  before: Contact,
  seen: Sensed,
  now: { readonly atMs: number; readonly countsFlips: boolean },
): Contact {
  const { atMs } = now;
  // An input that falls while the board is silent for a moment has fallen all the same.
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
 * Two inputs that may have fallen together, as far as their samples tell: their common supply was lost, or the plug with their wires, unless the
 * vehicle was seen to stand. They may be read by different polls, and have different debounces.
 */
export function isCommonLoss(a: Contact, b: Contact): boolean {
  const apartMs = Math.max(a.fellAfterMs, b.fellAfterMs) - Math.min(a.fellMs, b.fellMs);
  return Number.isFinite(apartMs) && apartMs <= contactLimits.commonMs;
}

/** An input that fell about when an analog value was lost: the board has lost its supply or its common. */
export function isLostWithAnalog({ fellMs }: Contact, analogLostMs: number): boolean {
  return Number.isFinite(fellMs) && Math.abs(fellMs - analogLostMs) <= contactLimits.analogMs;
}

/** The board is there and its inputs are dead; a stricter suspension stays. */
export function suspendByBoard(contact: Contact): Contact {
  return contact.suspension === null && !contact.isLive ? { ...contact, suspension: 'board' } : contact;
}

/** The supply of several inputs was lost, which a live contact reads beside itself; it does not read a plug that came off. */
export function suspendByCommon(contact: Contact, lost: 'supply' | 'plug'): Contact {
  return contact.isLive && lost === 'supply' ? contact : { ...contact, suspension: 'common' };
}

/** It fell while the vehicle stood, as the fixes since have shown: the key was turned just when the vehicle stopped. */
export function endCommonSuspension(contact: Contact): Contact {
  return contact.suspension === 'common' ? { ...contact, suspension: null } : contact;
}

/**
 * Ends a suspension by chatter: every change was at rest by the receiver, as when the key is tried, and the input has been off since.
 * @param stoodSinceMs since when the receiver has shown rest, monotonic.
 */
export function endChatter(contact: Contact, stoodSinceMs: number, nowMs: number): Contact {
  const { sensed, suspension, flipsMs, fellMs } = contact;
  if (suspension !== 'chatter' || sensed.value !== false) return contact;
  const isSteady = nowMs - Math.max(fellMs, contact.activeMs) >= contactLimits.chatterOffMs;
  const stood = stoodSinceMs <= (flipsMs[0] ?? Number.NEGATIVE_INFINITY);
  return isSteady && stood ? { ...contact, suspension: null, flipsMs: [] } : contact;
}

/** The vehicle was driven, and the input was off all the time. */
export function suspendByMovement(contact: Contact): Contact {
  return contact.suspension === 'moved' ? contact : { ...contact, suspension: 'moved' };
}

/**
 * The contact as it counts while the vehicle is proven to stand where it was parked, or a live one at one place: see `countedContact`.
 * Suspensions by chatter, common loss and movement stay.
 */
export function atPlace(contact: Contact): Contact {
  const { suspension } = contact;
  return suspension === 'start' || suspension === 'board' ? { ...contact, suspension: null } : contact;
}

/** How long it has been inactive, ms; null when it is not known to be, or does not count. */
export function restingForMs({ sensed, suspension, activeMs }: Contact, nowMs: number): number | null {
  return sensed.value === false && suspension === null ? nowMs - Math.max(sensed.sinceMs, activeMs) : null;
}
