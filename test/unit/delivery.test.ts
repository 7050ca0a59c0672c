// The session as a specification: when it connects, what may be in flight, that only the broker's `ack` deletes, and
// that a link on which nothing is acknowledged is given up.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noTraffic } from '../../agent/core/link/data-budget.ts';
import {
  createDelivery,
  type DeliveryEffect,
  type DeliveryInput,
  type DeliveryState,
  deliveryLimits,
  deliveryWakeMs,
  isDrained,
  stepDelivery,
} from '../../agent/core/link/delivery.ts';
import { type LinkSettings } from '../../src/core/settings/link.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';

const utcMs = Date.UTC(2026, 10, 21);

/** Steps the machine at times of the caller's choice; `effects` are those of the last step. */
function createRig(timeKnown = true, change: Partial<LinkSettings> = {}) {
  const link: LinkSettings = { ...standardSettings.link, ...change };
  let state: DeliveryState = createDelivery(0, { firstDelayMs: 1000, traffic: noTraffic, keepaliveS: 240 });
  const rig = {
    effects: [] as readonly DeliveryEffect[],
    state: () => state,
    wakeMs: () => deliveryWakeMs(state, link),
    kinds: () => rig.effects.map(({ kind }) => kind),
    at(ms: number, input: DeliveryInput = { kind: 'time' }) {
      const step = stepDelivery(state, input, {
        ms,
        fraction: 0.5,
        utcMs: timeKnown ? utcMs + ms : null,
        link,
      });
      state = step.state;
      rig.effects = step.effects;
      return rig;
    },
    /** Connected, greeted and welcomed at `ms`. */
    up(ms: number) {
      return rig
        .at(ms)
        .at(ms, { kind: 'up', nonce: 'n' })
        .at(ms, { kind: 'greeted' })
        .at(ms, { kind: 'welcomed', isShort: false });
    },
    send(ms: number, seqs: readonly number[], more: { isBacklog?: boolean; bytes?: number } = {}) {
      return rig.at(ms, { kind: 'fetched', boot: 'b', seqs, bytes: 100, isBacklog: false, ...more });
    },
    ack(ms: number, ranges: readonly (readonly [number, number])[]) {
      return rig.at(ms, { kind: 'ack', ack: { boot: 'b', upTo: 0, ranges } });
    },
  };
  return rig;
}

describe('a session', () => {
  it('connects after its random delay, not before', () => {
    const rig = createRig();
    expect(rig.at(999).kinds()).toEqual([]);
    expect(rig.at(1000).kinds()).toEqual(['connect']);
  });

  it('reads the outbox only once the broker has shown its key by a signed welcome on this link', () => {
    for (const isTimeKnown of [true, false]) {
      const rig = createRig(isTimeKnown);
      rig.at(1000).at(1000, { kind: 'up', nonce: 'n' });
      expect(rig.kinds()).toEqual(['greet']);
      expect(rig.at(1000, { kind: 'greeted' }).kinds()).toEqual([]);
      expect(rig.at(20_000, { kind: 'stored', dueMs: 0 }).kinds()).toEqual([]);
      expect(rig.at(20_000, { kind: 'welcomed', isShort: false }).kinds()).toEqual(['fetch']);
    }
  });

  it('honours no acknowledgement before the welcome, nor one on a later link before its own', () => {
    const rig = createRig().at(1000).at(1000, { kind: 'up', nonce: 'n' }).at(1000, { kind: 'greeted' });
    expect(rig.ack(1100, [[1, 9]]).kinds()).toEqual([]);
    rig.at(1200, { kind: 'welcomed', isShort: false }).send(1200, [1, 2]);
    rig.at(1300, { kind: 'down', reason: 'lost' });
    expect(rig.ack(1400, [[1, 2]]).kinds()).toEqual([]);
    rig.at(200_000).at(200_000, { kind: 'up', nonce: 'm' }).at(200_000, { kind: 'greeted' });
    expect(rig.ack(200_100, [[1, 2]]).kinds()).toEqual([]);
    rig.at(200_200, { kind: 'welcomed', isShort: false });
    expect(rig.ack(200_300, [[1, 2]]).kinds()).toContain('forget');
  });

  it('abandons a link without a welcome', () => {
    const rig = createRig().at(1000).at(1000, { kind: 'up', nonce: 'n' }).at(1000, { kind: 'greeted' });
    const dueMs = rig.wakeMs();
    expect(dueMs).toBe(1000 + deliveryLimits.ackTimeoutMs + 1);
    expect(rig.at(dueMs).kinds()).toEqual(['destroy', 'rewind']);
  });

  it('has at most four batches on the way', () => {
    const rig = createRig().up(1000);
    for (let batch = 1; batch < deliveryLimits.window; batch += 1)
      expect(rig.send(1000, [batch]).kinds()).toEqual(['fetch']);
    expect(rig.send(1000, [deliveryLimits.window]).kinds()).toEqual([]);
    expect(rig.ack(1000, [[1, 1]]).kinds()).toEqual(['forget', 'fetch']);
  });

  it('deletes exactly what is acknowledged, and waits for the rest of a batch', () => {
    const rig = createRig().up(1000).send(1000, [1, 2, 3]);
    rig.ack(1100, [[1, 2]]);
    expect(rig.effects[0]).toEqual({ kind: 'forget', boot: 'b', ranges: [[1, 2]] });
    expect(rig.state().inFlight[0]?.seqs).toEqual([3]);
    expect(rig.state().acknowledged).toBe(2);
  });

  it('looks again when something is stored while it reads an empty outbox', () => {
    const rig = createRig().up(1000);
    rig.at(1000, { kind: 'stored', dueMs: 0 });
    expect(rig.at(1000, { kind: 'empty' }).kinds()).toEqual(['fetch']);
    expect(rig.at(1000, { kind: 'empty' }).kinds()).toEqual([]);
    expect(rig.at(1000, { kind: 'stored', dueMs: 0 }).kinds()).toEqual(['fetch']);
  });

  it('is abandoned without acknowledgements, and everything counts as unsent', () => {
    const rig = createRig().up(1000).send(1000, [1]).at(1000, { kind: 'empty' });
    const dueMs = rig.wakeMs();
    expect(dueMs).toBe(1000 + deliveryLimits.ackTimeoutMs + 1);
    expect(rig.at(dueMs - 1).kinds()).toEqual([]);
    expect(rig.at(dueMs).kinds()).toEqual(['destroy', 'rewind']);
    expect(rig.state()).toMatchObject({ inFlight: [], phase: { kind: 'waiting' } });
  });

  it('is kept while acknowledgements come, however slowly: a broker that slows a backlog gets nothing twice', () => {
    const rig = createRig().up(1000);
    for (let batch = 1; batch <= deliveryLimits.window; batch += 1) rig.send(1000, [batch]);
    for (let batch = 1; batch < deliveryLimits.window; batch += 1) {
      const atMs = 1000 + batch * 25_000;
      expect(rig.at(atMs - 1).kinds()).toEqual([]);
      expect(rig.ack(atMs, [[batch, batch]]).kinds()[0]).toBe('forget');
    }
    const dueMs = rig.wakeMs();
    expect(dueMs).toBe(76_000 + deliveryLimits.ackTimeoutMs + 1);
    // What acknowledges nothing of what is on the way is no sign.
    rig.ack(dueMs - 10, [[1, 1]]);
    expect(rig.at(dueMs).kinds()).toEqual(['destroy', 'rewind']);
  });

  it('sends an event that is never acknowledged at most once a minute in the long run, whatever the broker does', () => {
    const rig = createRig();
    const hourMs = 3_600_000;
    let sent = 0;
    for (let ms = 0; ms < 24 * hourMs; ms += 500) {
      rig.at(ms);
      const { phase, fetching } = rig.state();
      // It takes every connection, welcomes, and then swallows what it is sent.
      if (phase.kind === 'connecting') rig.up(ms);
      if (rig.state().fetching !== 'no' && fetching === 'no') {
        sent += 1;
        rig.send(ms, [1]).at(ms, { kind: 'empty' });
      }
    }
    expect(sent).toBeGreaterThan(24);
    expect(sent).toBeLessThanOrEqual(24 * 60);
  });

  it('asks for the time of the broker again every six hours, and only then', () => {
    const rig = createRig();
    const { renewMs } = deliveryLimits;
    rig.up(1000).at(1000, { kind: 'empty' });
    expect(rig.at(1000 + renewMs - 1).kinds()).toEqual([]);
    expect(rig.wakeMs()).toBeLessThanOrEqual(1000 + renewMs);
    expect(rig.at(1000 + renewMs).kinds()).toEqual(['renew']);
    // No welcome to the hello before is one to this.
    expect(rig.state().phase).toMatchObject({ nonce: '', askedMs: 1000 + renewMs });
    rig.at(1000 + renewMs, { kind: 'renewed', nonce: 'later' });
    expect(rig.state().phase).toMatchObject({ nonce: 'later', welcomed: true });
    expect(rig.at(2000 + renewMs).kinds()).toEqual([]);
    expect(rig.at(1000 + 2 * renewMs).kinds()).toEqual(['renew']);
  });

  it('is abandoned when no welcome arrives', () => {
    const rig = createRig().at(1000).at(1000, { kind: 'up', nonce: 'n' });
    expect(rig.at(1000 + deliveryLimits.ackTimeoutMs + 1).kinds()).toEqual(['destroy', 'rewind']);
  });

  it('doubles the pause between connections, and starts over after a connection of a minute', () => {
    const pauses: number[] = [];
    const rig = createRig();
    let ms = 1000;
    for (let attempt = 0; attempt < 12; attempt += 1) {
      rig.at(ms).at(ms, { kind: 'down', reason: 'refused' });
      pauses.push(rig.wakeMs() - ms);
      ms = rig.wakeMs();
    }
    expect(pauses.at(-1)).toBeGreaterThan(pauses[0] ?? 0);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(deliveryLimits.backoff.capMs);
    rig.up(ms).at(ms + deliveryLimits.stableMs, { kind: 'down', reason: 'gone' });
    expect(rig.state().attempt).toBe(1);
  });

  it('sends a backlog at its rate, and asks for live events in between', () => {
    const rig = createRig(true, { backlogPerS: 100 })
      .up(1000)
      .at(1000, { kind: 'stored', dueMs: 0 })
      .at(1000, { kind: 'empty' });
    let sent = 0;
    let pauses = 0;
    for (let ms = 1000; ms < 11_000; ms += 1) {
      const asked = rig.effects.find((effect) => effect.kind === 'fetch');
      if (asked === undefined) {
        rig.at(ms, ms % 100 === 0 ? { kind: 'stored', dueMs: 0 } : { kind: 'time' });
      } else if (asked.backlog === 0) {
        pauses += 1;
        rig.at(ms, { kind: 'empty' });
        expect(rig.wakeMs()).toBeGreaterThan(ms);
      } else {
        const seqs = Array.from({ length: Math.min(50, asked.backlog) }, (_, index) => sent + index + 1);
        sent += seqs.length;
        rig.ack(ms, [[1, sent]]).send(ms, seqs, { isBacklog: true });
      }
    }
    expect(pauses).toBeGreaterThan(10);
    expect(sent).toBeGreaterThan(900);
    expect(sent).toBeLessThanOrEqual(1050);
  });

  it('keeps a place for live events while the backlog fills the rest', () => {
    const rig = createRig().up(1000);
    for (let batch = 1; batch <= deliveryLimits.backlogWindow; batch += 1)
      rig.send(1000, [batch], { isBacklog: true });
    expect(rig.effects).toEqual([{ kind: 'fetch', isShort: false, backlog: 0, urgentOnly: false }]);
    expect(rig.at(1000, { kind: 'empty' }).kinds()).toEqual([]);
    expect(rig.at(1000, { kind: 'stored', dueMs: 0 }).effects).toEqual([
      { kind: 'fetch', isShort: false, backlog: 0, urgentOnly: false },
    ]);
    expect(rig.send(1000, [100]).kinds()).toEqual([]);
    expect(rig.ack(1000, [[100, 100]]).kinds()).toEqual(['forget', 'fetch']);
  });

  it('stops the backlog at amber and everything except alarms at red, until the next month', () => {
    const rig = createRig(true, { monthlyMb: 1, amberPercent: 50 }).up(1000);
    rig.send(1000, [1], { bytes: 600_000 });
    expect(rig.state().light).toBe('amber');
    expect(rig.effects).toEqual([{ kind: 'fetch', isShort: false, backlog: 0, urgentOnly: false }]);
    rig.send(1000, [2], { bytes: 600_000 }).ack(1000, [[1, 2]]);
    expect(rig.state().light).toBe('red');
    rig.at(1000, { kind: 'empty' }).at(1000, { kind: 'stored', dueMs: 0 });
    expect(rig.effects).toEqual([{ kind: 'fetch', isShort: false, backlog: 0, urgentOnly: true }]);
    const nextMonthMs = Date.UTC(2026, 11, 1) - utcMs;
    rig.at(1000, { kind: 'down', reason: 'gone' }).up(nextMonthMs);
    expect(rig.state().light).toBe('green');
    expect(rig.state().asked.urgentOnly).toBe(false);
  });

  it('sends events that may wait with the next that may not, and no later than they are due', () => {
    const rig = createRig().up(1000).at(1000, { kind: 'empty' });
    expect(rig.at(2000, { kind: 'stored', dueMs: 4000 }).kinds()).toEqual([]);
    expect(rig.at(2500, { kind: 'stored', dueMs: 4500 }).kinds()).toEqual([]);
    expect(rig.wakeMs()).toBe(4000);
    expect(rig.at(3999).kinds()).toEqual([]);
    expect(rig.at(4000).kinds()).toEqual(['fetch']);
    rig.at(4000, { kind: 'empty' }).at(5000, { kind: 'stored', dueMs: 7000 });
    expect(rig.at(5100, { kind: 'stored', dueMs: 5100 }).kinds()).toEqual(['fetch']);
  });

  it('is not drained while events wait, and a new link sends them at once', () => {
    const rig = createRig().up(1000).at(1000, { kind: 'empty' });
    expect(isDrained(rig.state())).toBe(true);
    rig.at(2000, { kind: 'stored', dueMs: 60_000 });
    expect(isDrained(rig.state())).toBe(false);
    rig.at(2100, { kind: 'down', reason: 'lost' });
    expect(rig.up(rig.wakeMs()).kinds()).toEqual(['fetch']);
  });

  it('reads what was stored no later than it is due, whatever else happens', () => {
    const inputs = fc.oneof(
      fc.record({ kind: fc.constant('stored' as const), dueMs: fc.nat(9000) }),
      fc.record({ kind: fc.constantFrom('time' as const, 'empty' as const, 'outdated' as const) }),
    );
    const history = fc.array(fc.record({ afterMs: fc.nat(900), input: inputs }), { maxLength: 60 });
    fc.assert(
      fc.property(history, (steps) => {
        const rig = createRig().up(1000);
        let ms = 1000;
        /** When the oldest event that no read has covered is due; reads that began before it was stored do not cover it. */
        let dueMs = Number.POSITIVE_INFINITY;
        const step = (input: DeliveryInput): void => {
          if (input.kind === 'stored') dueMs = Math.min(dueMs, Math.max(ms, input.dueMs));
          rig.at(ms, input);
          if (rig.kinds().includes('fetch')) dueMs = Number.POSITIVE_INFINITY;
          const isReading = rig.state().fetching !== 'no';
          expect(isReading || dueMs > ms).toBe(true);
          expect(isReading || rig.wakeMs() <= dueMs).toBe(true);
        };
        for (const { afterMs, input } of steps) {
          const untilMs = ms + afterMs;
          for (let wakeMs = rig.wakeMs(); wakeMs < untilMs && wakeMs > ms; wakeMs = rig.wakeMs()) {
            ms = wakeMs;
            step({ kind: 'time' });
          }
          ms = untilMs;
          step(input.kind === 'stored' ? { ...input, dueMs: ms + input.dueMs } : { kind: input.kind });
        }
      }),
    );
  });

  it('uses the short topic only on a link whose own welcome offers it', () => {
    const rig = createRig().at(1000).at(1000, { kind: 'up', nonce: 'n' }).at(1000, { kind: 'greeted' });
    const topicOf = () => rig.effects.flatMap((effect) => (effect.kind === 'fetch' ? [effect.isShort] : []));
    rig.at(1000, { kind: 'welcomed', isShort: true });
    expect(topicOf()).toEqual([true]);
    rig.at(1100, { kind: 'down', reason: 'lost' });
    rig.at(200_000).at(200_000, { kind: 'up', nonce: 'm' }).at(200_000, { kind: 'greeted' });
    expect(rig.kinds()).toEqual([]);
    rig.at(200_100, { kind: 'welcomed', isShort: false });
    expect(topicOf()).toEqual([false]);
  });
});
