// How long an idle link may stay silent: learnt from the behaviour of the mobile network. A network drops idle
// connections after some minutes without notice; then a command waits until the next keep-alive finds out. Pure;
// applies to the next connection, and never causes one.

export const keepaliveLimits = {
  /** Seconds; a network that drops idle connections sooner than this is not usable. */
  least: 60,
  /**
   * A link that is replaced within this long was not lost to a tunnel: the network was there, and had dropped the
   * connection.
   */
  replacedMs: 90_000,
  /** After a proof: this much longer. After a loss: this share of the time that was too long. */
  longer: 1.5,
  shorter: 0.6,
  /** A ping that got no answer is found out after one and a half intervals (mqtt.js); still there after that is a proof. */
  foundAfter: 1.5,
  answerS: 30,
  /** Networks change with the place: what was too long yesterday may hold today. */
  forgetMs: 86_400_000,
} as const;

interface Idle {
  /** Seconds of silence. */
  readonly idleS: number;
  readonly atMs: number;
}

export interface Keepalive {
  /** Seconds, of the link that is up or being opened; of the next one when there is none. */
  readonly everyS: number;
  /** What the next link gets. */
  readonly nextS: number;
  /** Monotonic ms of the last packet sent; null without a link. */
  readonly sentMs: number | null;
  /** Seconds of silence before that. */
  readonly gapS: number;
  /** A silence that the last link did not survive, until it is known whether the network was there. */
  readonly suspect: Idle | null;
  /** A silence that the network does not hold. */
  readonly tooLong: Idle | null;
}

/** @param startS the installer's choice, seconds. */
export function createKeepalive(startS: number): Keepalive {
  return { everyS: startS, nextS: startS, sentMs: null, gapS: 0, suspect: null, tooLong: null };
}

/** A connection is being opened; never with more than `mostS`. */
export function openLink(keepalive: Keepalive, mostS: number): Keepalive {
  return { ...keepalive, everyS: Math.min(keepalive.nextS, mostS), sentMs: null, gapS: 0 };
}

/** It is up. If the last one died of silence a moment ago, that silence was too long for this network. */
export function linkIsUp(keepalive: Keepalive, nowMs: number): Keepalive {
  const { suspect } = keepalive;
  const up: Keepalive = { ...keepalive, sentMs: nowMs, gapS: 0, suspect: null };
  if (suspect === null || nowMs - suspect.atMs > keepaliveLimits.replacedMs) return up;
  const shorterS = Math.max(keepaliveLimits.least, Math.round(suspect.idleS * keepaliveLimits.shorter));
  return { ...up, nextS: Math.min(up.nextS, shorterS), tooLong: suspect };
}

/** A packet was sent. Where pings alone kept the link for long enough before, the next one may wait longer. */
export function recordSent(keepalive: Keepalive, nowMs: number, mostS: number): Keepalive {
  const { everyS, sentMs } = keepalive;
  if (sentMs === null) return keepalive;
  const gapS = (nowMs - sentMs) / 1000;
  const sent: Keepalive = { ...keepalive, sentMs: nowMs, gapS };
  if (gapS < everyS * keepaliveLimits.foundAfter + keepaliveLimits.answerS) return sent;
  const { tooLong } = keepalive;
  const isKnown = tooLong !== null && nowMs - tooLong.atMs < keepaliveLimits.forgetMs;
  const boundS = Math.min(mostS, isKnown ? tooLong.idleS * keepaliveLimits.shorter : mostS);
  const longerS = Math.min(boundS, Math.round(everyS * keepaliveLimits.longer));
  return { ...sent, nextS: Math.max(keepalive.nextS, longerS) };
}

/**
 * The link is gone.
 * @param how `ping`: a keep-alive got no answer. `sending`: a packet got none. `other`: unrelated to idle time.
 */
export function loseLink(keepalive: Keepalive, nowMs: number, how: 'ping' | 'sending' | 'other'): Keepalive {
  const { everyS, gapS } = keepalive;
  const idleS = how === 'ping' ? everyS : how === 'sending' ? Math.min(gapS, everyS) : 0;
  const isSilence = keepalive.sentMs !== null && idleS >= keepaliveLimits.least;
  return {
    ...keepalive,
    everyS: keepalive.nextS,
    sentMs: null,
    gapS: 0,
    suspect: isSilence ? { idleS, atMs: nowMs } : null,
  };
}
