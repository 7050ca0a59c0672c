// Learns from the mobile network how long an idle link may stay silent. A network drops idle connections after some minutes without notice; a command
// then waits until the next keep-alive finds out. Pure. The result applies to the next connection and never causes one.

export const keepaliveLimits = {
  /** Minimum, s; a network that drops idle connections sooner is not usable. */
  least: 60,
  /** A link that is replaced within this time was not lost in a tunnel: the network was there and had dropped the connection. */
  replacedMs: 90_000,
  /** Factor after a proof, on the interval; factor after a loss, on the time that was too long. */
  longer: 1.5,
  shorter: 0.6,
  /** An unanswered ping is detected after one and a half intervals (mqtt.js). A link that is still up after that is a proof. */
  foundAfter: 1.5,
  answerS: 30,
  /** Networks change with the place: a time that was too long yesterday may hold today. */
  forgetMs: 86_400_000,
} as const;

interface Idle {
  readonly idleS: number;
  readonly atMs: number;
}

export interface Keepalive {
  /** Interval of the present link, up or being opened, s; without one, of the next. */
  readonly everyS: number;
  readonly nextS: number;
  /** Monotonic time of the last packet sent, ms; null: no link. */
  readonly sentMs: number | null;
  /** Silence before that packet, s. */
  readonly gapS: number;
  /** Silence that ended the last link; a suspect until it is known whether the network was there. */
  readonly suspect: Idle | null;
  /** Silence that the network does not hold. */
  readonly tooLong: Idle | null;
}

/** @param startS the installer's choice, s. */
export function createKeepalive(startS: number): Keepalive {
  return { everyS: startS, nextS: startS, sentMs: null, gapS: 0, suspect: null, tooLong: null };
}

/** Opens a connection with at most `mostS`. */
export function openLink(keepalive: Keepalive, mostS: number): Keepalive {
  return { ...keepalive, everyS: Math.min(keepalive.nextS, mostS), sentMs: null, gapS: 0 };
}

/** The link is up. If the last one died of silence a moment ago, that silence was too long for this network. */
export function linkIsUp(keepalive: Keepalive, nowMs: number): Keepalive {
  const { suspect } = keepalive;
  const up: Keepalive = { ...keepalive, sentMs: nowMs, gapS: 0, suspect: null };
  if (suspect === null || nowMs - suspect.atMs > keepaliveLimits.replacedMs) return up;
  const shorterS = Math.max(keepaliveLimits.least, Math.round(suspect.idleS * keepaliveLimits.shorter));
  return { ...up, nextS: Math.min(up.nextS, shorterS), tooLong: suspect };
}

/** Records a sent packet. If pings alone kept the link for long enough before, the next interval may be longer. */
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
 * Records the loss of the link.
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
