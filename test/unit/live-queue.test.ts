// What waits for a reader of a live stream: nothing that must arrive is lost or doubled, the present of devices is
// coalesced, and all of it is bounded, whatever comes in whichever order.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDeviceBatch, createMessageBatch } from '../../broker/core/live/live-batch.ts';
import { createPresenceBoard } from '../../broker/core/live/live-presence.ts';
import { createLiveQueue, type LiveQueue } from '../../broker/core/live/live-queue.ts';
import { createSlots } from '../../broker/scheduling/slots.ts';

const offer = (queue: LiveQueue, ...messages: readonly (readonly [no: number | null, text: string])[]) =>
  queue.offer(createMessageBatch(messages.map(([no, text]) => ({ no, text }))));
const take = (queue: LiveQueue): string => new TextDecoder().decode(queue.take());

type Step =
  | { readonly do: 'event' }
  | { readonly do: 'device'; readonly deviceNo: number; readonly isSameBeat: boolean }
  | { readonly do: 'note' }
  | { readonly do: 'comment' }
  | { readonly do: 'take' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'event' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('device' as const),
      deviceNo: fc.nat(5),
      isSameBeat: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'note' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'comment' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'take' }) },
);

describe('the queue of a reader', () => {
  it('gives every event and note once and in order, and of each device the newest', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.nat(20), (steps, floor) => {
        const queue = createLiveQueue({ messages: 1000, portion: 7 });
        queue.startAfter(floor);
        const given: string[] = [];
        const offered: string[] = [];
        const newest = new Map<number, string>();
        let no = 0;
        const inBeat = new Set<number>();
        let [beats, lastBeat] = [0, 0];
        const takeOne = () => {
          const text = take(queue);
          if (text !== '') given.push(...text.split(';').slice(0, -1));
          return text;
        };
        for (const [index, one] of steps.entries()) {
          if (one.do === 'event') {
            no += 1;
            offer(queue, [no, `e${no};`]);
            if (no > floor) offered.push(`e${no}`);
          } else if (one.do === 'note') {
            offer(queue, [null, `n${index};`]);
            offered.push(`n${index}`);
          } else if (one.do === 'device') {
            // Several batches belong to one beat; they have no device in common.
            const beat = one.isSameBeat && !inBeat.has(one.deviceNo) ? beats : ++beats;
            if (beat !== lastBeat) inBeat.clear();
            lastBeat = beat;
            inBeat.add(one.deviceNo);
            const text = `d${one.deviceNo}.${index};`;
            queue.offerDevices(createDeviceBatch(beat, new Map([[one.deviceNo, text]])));
            newest.set(one.deviceNo, `d${one.deviceNo}.${index}`);
          } else if (one.do === 'comment') {
            queue.offerComment(`c${Math.max(no, floor)};`);
          } else takeOne();
        }
        while (takeOne() !== '');
        expect(given.filter((text) => /^[en]/.test(text))).toEqual(offered);
        for (const text of newest.values()) expect(given.filter((one) => one === text)).toHaveLength(1);
        // A resume point never lies behind what was sent before it, nor before what is still to come.
        let highest = 0;
        for (const text of given) {
          const at = Number(text.slice(1));
          if (text.startsWith('e')) highest = Math.max(highest, at);
          if (text.startsWith('c')) expect(at).toBeGreaterThanOrEqual(highest);
          if (text.startsWith('c')) highest = at;
        }
        expect(given.filter((text) => text.startsWith('e')).map((text) => Number(text.slice(1)))).toEqual(
          given
            .flatMap((text) => (text.startsWith('e') ? [Number(text.slice(1))] : []))
            .sort((a, b) => a - b),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('drops what the store reports, whether it comes before or after that is known', () => {
    const queue = createLiveQueue();
    offer(queue, [1, 'e1;'], [2, 'e2;'], [3, 'e3;']);
    queue.startAfter(2);
    offer(queue, [2, 'late;'], [4, 'e4;']);
    expect(take(queue)).toBe('e3;e4;');
  });

  it('overflows at its limit and keeps nothing from then on', () => {
    const queue = createLiveQueue({ messages: 3, portion: 10 });
    for (const no of [1, 2, 3]) offer(queue, [no, 'x']);
    expect(queue.isOverflowing()).toBe(false);
    const device = createDeviceBatch(1, new Map([[1, 'd']]));
    queue.offerDevices(device);
    offer(queue, [4, 'x'], [5, 'x']);
    queue.offerDevices(device);
    expect([queue.isOverflowing(), take(queue)]).toEqual([true, '']);
  });
});

describe('readers who keep up', () => {
  it('get the bytes of one batch, made once', () => {
    const batch = createMessageBatch([{ no: 1, text: 'e1;' }]);
    const states = createDeviceBatch(1, new Map([[1, 'd1;']]));
    const taken = [createLiveQueue(), createLiveQueue()].map((queue) => {
      queue.offer(batch);
      queue.offerDevices(states);
      return [queue.take(), queue.take()];
    });
    expect(taken[0]?.[0]).toBe(taken[1]?.[0]);
    expect(taken[0]?.[1]).toBe(taken[1]?.[1]);
  });
});

describe('the present of devices', () => {
  const moment = fc.record({ ms: fc.integer({ min: 1, max: 50 }), tie: fc.constantFrom('a', 'b') });

  it('is the newest by event time in whatever order it comes, and never goes back', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ at: moment, drains: fc.boolean() }), { minLength: 1 }), (reports) => {
        const board = createPresenceBoard();
        const device = { accountID: 'acme', deviceNo: 1, deviceID: 'truck-1' };
        const seen: string[] = [];
        const drain = () => {
          for (const { position } of board.drain()) {
            if (position !== null) seen.push(`${String(position.ms).padStart(3, '0')}${position.tie}`);
          }
        };
        const place = { latitude: 1, longitude: 1, speed: 0, heading: 0, altitude: 0, geozoneID: '' };
        for (const [receivedMs, { at, drains }] of reports.entries()) {
          board.record({ ...device, receivedMs, projection: { position: { ...at, ...place }, fuel: null } });
          if (drains) drain();
        }
        drain();
        const all = reports.map(({ at }) => `${String(at.ms).padStart(3, '0')}${at.tie}`).sort();
        expect(seen).toEqual([...new Set(seen)].sort());
        expect(seen.at(-1)).toBe(all.at(-1));
      }),
    );
  });

  it('is not held still by a clock that ran ahead', () => {
    const board = createPresenceBoard();
    const note = (ms: number, receivedMs: number) => {
      const position = {
        ms,
        tie: '',
        latitude: ms,
        longitude: 1,
        speed: 0,
        heading: 0,
        altitude: 0,
        geozoneID: '',
      };
      board.record({
        accountID: 'acme',
        deviceNo: 1,
        deviceID: 'a',
        receivedMs,
        projection: { position, fuel: null },
      });
      return board.drain()[0]?.position?.ms;
    };
    expect(note(80_000_000, 1000)).toBe(80_000_000);
    expect(note(2000, 2000)).toBe(2000);
  });
});

describe('slots', () => {
  it('are limited by user, account and process, and come back once', () => {
    const places = createSlots({ token: 2, user: 2, account: 3, process: 4 });
    const take = (accountID: string, userID: string, until = new AbortController()) =>
      places.take({ accountID, userID, tokenHash: String(places.count()) }, until.signal);
    const first = new AbortController();
    expect([take('a', 'x', first), take('a', 'x'), take('a', 'x')]).toEqual([null, null, 'user']);
    expect([take('a', 'y'), take('a', 'y')]).toEqual([null, 'account']);
    expect([take('b', 'x'), take('c', 'x')]).toEqual([null, 'process']);
    for (let times = 0; times < 3; times++) first.abort();
    expect(take('a', 'x', first), 'of an answer that has ended').toBe(null);
    expect([places.count(), take('a', 'x'), take('c', 'x')]).toEqual([3, null, 'process']);
  });
});
