// One connection of a feed: what was acknowledged counts, a slow target is waited for, and a silent one is not.
import { describe, expect, it } from 'vitest';
import { openFeedSession } from '../../broker/features/feed/feed-session.ts';
import type { FeedTarget } from '../../broker/ports/feed-targets.ts';
import type { MqttLinkHandlers } from '../../src/ports.ts';

/** A target whose acknowledgements and time the test gives. */
async function open() {
  const acknowledge: (() => void)[] = [];
  const timers = new Map<object, { readonly atMs: number; readonly run: () => void }>();
  let nowMs = 0;
  let handlers: MqttLinkHandlers | null = null;
  const clock = {
    utcMs: () => nowMs,
    monoMs: () => nowMs,
    after(delayMs: number, run: () => void) {
      const key = {};
      timers.set(key, { atMs: nowMs + delayMs, run });
      return () => void timers.delete(key);
    },
  };
  const ending = new AbortController();
  const target = {
    feedID: 'home',
    open(_clientID: string, _will: unknown, given: MqttLinkHandlers) {
      handlers = given;
      queueMicrotask(() => given.onUp());
      return {
        publish: () => new Promise<void>((resolve) => void acknowledge.push(resolve)),
        subscribe: async () => undefined,
        close: async () => undefined,
        destroy: (reason: string) => handlers?.onDown(reason),
      };
    },
  } as unknown as FeedTarget;
  const session = await openFeedSession(
    { target, clock, until: ending.signal },
    { clientID: 'c', offline: null },
  );
  return {
    session,
    ending,
    acknowledge: (at: number) => acknowledge[at]?.(),
    async advance(ms: number): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      nowMs += ms;
      for (const [key, { atMs, run }] of timers)
        if (atMs <= nowMs) {
          timers.delete(key);
          run();
        }
    },
    timers: () => timers.size,
  };
}
const publications = ['a', 'b', 'c', 'd'].map((payload) => ({ topic: 't', payload, isRetained: false }));

describe('a session of a feed', () => {
  it('waits for a target that acknowledges one message in 29 seconds', async () => {
    const { session, acknowledge, advance, timers } = await open();
    const sent = session.send(publications);
    for (let at = 0; at < 4; at++) {
      await advance(29_000);
      acknowledge(at);
    }
    expect(await sent).toEqual({ count: 4, fault: null });
    expect(timers()).toBe(0);
  });

  it('ends after 30 seconds of silence, and counts what was acknowledged from the first one on', async () => {
    const { session, acknowledge, advance } = await open();
    const sent = session.send(publications);
    for (const at of [0, 1, 3]) acknowledge(at);
    await advance(0);
    await advance(30_000);
    const { count, fault } = await sent;
    expect(count).toBe(2);
    expect(fault?.message).toBe('no acknowledgement within 30 s');
    expect(session.isUp()).toBe(false);
    expect((await session.send(publications)).count).toBe(0);
  });

  it('ends at once when the service ends', async () => {
    const { session, ending } = await open();
    const sent = session.send(publications);
    ending.abort();
    expect((await sent).fault?.message).toBe('the service ends');
  });
});
