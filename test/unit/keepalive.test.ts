// How long an idle link stays silent: longer where the network holds it, shorter where it forgets, and never for longer than
// the setting allows.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createKeepalive,
  type Keepalive,
  keepaliveLimits,
  linkIsUp,
  loseLink,
  openLink,
  recordSent,
} from '../../agent/core/link/keepalive.ts';

const mostS = 1740;

/** A network that forgets a connection after `holdS` of silence, and a vehicle that speaks every `speakS`. */
function live(given: { holdS: number; speakS: number; days?: number; mostS?: number }): {
  keepalive: Keepalive;
  losses: number;
} {
  const bound = given.mostS ?? mostS;
  let nowMs = 0;
  let losses = 0;
  let keepalive = createKeepalive(240);
  const connect = (): void => {
    keepalive = linkIsUp(openLink(keepalive, bound), nowMs);
  };
  connect();
  const endMs = (given.days ?? 2) * 86_400_000;
  let linkMs = 0;
  while (nowMs < endMs) {
    const { everyS } = keepalive;
    const isSilentFor = Math.min(given.speakS, everyS);
    if (isSilentFor > given.holdS) {
      // Found out by the ping, or by what was sent and got no answer.
      const byPing = everyS < given.speakS;
      nowMs += (byPing ? everyS * 1.5 : given.speakS) * 1000;
      if (!byPing) keepalive = recordSent(keepalive, nowMs, bound);
      if (!byPing) nowMs += 30_000;
      keepalive = loseLink(keepalive, nowMs, byPing ? 'ping' : 'sending');
      losses += 1;
      nowMs += 3000;
      connect();
      linkMs = nowMs;
      continue;
    }
    nowMs += given.speakS * 1000;
    keepalive = recordSent(keepalive, nowMs, bound);
    // Links end now and then for reasons of their own.
    if (nowMs - linkMs > 4 * 3_600_000) {
      keepalive = loseLink(keepalive, nowMs, 'other');
      nowMs += 3000;
      connect();
      linkMs = nowMs;
    }
  }
  return { keepalive, losses };
}

describe('the keep-alive', () => {
  it('begins with what the installer chose, within the bound of the setting', () => {
    expect(openLink(createKeepalive(240), 600).everyS).toBe(240);
    expect(openLink(createKeepalive(1200), 600).everyS).toBe(600);
  });

  it('grows to the bound where the network holds idle links', () => {
    expect(live({ holdS: 7200, speakS: 3600 }).keepalive.nextS).toBe(mostS);
    expect(live({ holdS: 7200, speakS: 3600, mostS: 600 }).keepalive.nextS).toBe(600);
  });

  it('shrinks below the limit of the network, and then loses no more links', () => {
    for (const holdS of [90, 150, 200, 239]) {
      const { keepalive, losses } = live({ holdS, speakS: 3600 });
      expect(keepalive.everyS).toBeLessThanOrEqual(holdS);
      // Once a day it may try again.
      expect(losses).toBeLessThanOrEqual(6);
    }
  });

  it('learns also from a packet without an answer', () => {
    const { keepalive } = live({ holdS: 150, speakS: 200 });
    expect(Math.min(200, keepalive.everyS)).toBeLessThanOrEqual(150);
  });

  it('does not blame the network for a tunnel: the link came back too late', () => {
    let keepalive = linkIsUp(openLink(createKeepalive(240), mostS), 0);
    keepalive = loseLink(keepalive, 360_000, 'ping');
    keepalive = linkIsUp(openLink(keepalive, mostS), 360_000 + keepaliveLimits.replacedMs + 1);
    expect(keepalive.nextS).toBe(240);
  });

  it('does not learn from a link that ended for another reason', () => {
    let keepalive = linkIsUp(openLink(createKeepalive(240), mostS), 0);
    keepalive = loseLink(keepalive, 500_000, 'other');
    expect(linkIsUp(openLink(keepalive, mostS), 501_000).nextS).toBe(240);
  });

  it('stays within its bounds and a real number, whatever happens in whatever order', () => {
    const step = fc.record({
      what: fc.constantFrom('open', 'up', 'sent', 'ping', 'sending', 'other'),
      afterMs: fc.integer({ min: 0, max: 7_200_000 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 1740 }), fc.array(step), (startS, steps) => {
        let nowMs = 0;
        let keepalive = createKeepalive(startS);
        for (const { what, afterMs } of steps) {
          nowMs += afterMs;
          if (what === 'open') keepalive = openLink(keepalive, mostS);
          else if (what === 'up') keepalive = linkIsUp(keepalive, nowMs);
          else if (what === 'sent') keepalive = recordSent(keepalive, nowMs, mostS);
          else keepalive = loseLink(keepalive, nowMs, what);
          expect(keepalive.everyS).toBeGreaterThanOrEqual(keepaliveLimits.least);
          expect(keepalive.everyS).toBeLessThanOrEqual(mostS);
          expect(keepalive.nextS).toBeGreaterThanOrEqual(keepaliveLimits.least);
          expect(keepalive.nextS).toBeLessThanOrEqual(mostS);
        }
      }),
    );
  });
});
