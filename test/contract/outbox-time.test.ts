// Time in the durable queue, on a real file: what was stored without UTC or with a guess is sent with what is known by
// then, in later boots too; what the broker has is never told again; the order is that of boot and number, whatever any
// clock said.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outbox, OutboxRecord } from '../../agent/outbox.ts';
import type { FleetEvent, TimeQuality } from '../../src/core/events/event.ts';
import type { Priority } from '../../src/core/events/status-codes.ts';
import { createFolder, drain, open } from '../support/storage/outbox-bench.ts';

const trueMs = Date.UTC(2027, 0, 1);
const yearMs = 365 * 86_400_000;

interface Told {
  readonly boot: string;
  readonly event: FleetEvent;
}

function record(
  upMs: number,
  time: { readonly timestamp: number | null; readonly quality: TimeQuality },
  priority: Priority = 2,
): OutboxRecord {
  const { timestamp, quality } = time;
  return { priority, event: { timestamp, upMs, timeQuality: quality, statusCode: 62465 } };
}

const unknown = { timestamp: null, quality: 'none' } as const;
const rtc = (timestamp: number) => ({ timestamp, quality: 'rtc' }) as const;

async function told(outbox: Outbox): Promise<readonly Told[]> {
  return (await drain(outbox)).flatMap(({ boot, events }) => events.map((event) => ({ boot, event })));
}

const times = (list: readonly Told[]): readonly (readonly [number | null, TimeQuality])[] =>
  list.map(({ event }) => [event.timestamp, event.timeQuality]);

describe('events stored before the time was known', () => {
  let place: ReturnType<typeof createFolder>;
  let outbox: Outbox;
  beforeEach(async () => {
    place = createFolder();
    outbox = await open(place.path, { boot: 'b1' });
  });
  afterEach(async () => {
    await outbox.close();
    place.remove();
  });
  const restart = async (boot: string): Promise<void> => {
    await outbox.close();
    outbox = await open(place.path, { boot });
  };

  it('get it when they are sent, each by its own moment', async () => {
    await outbox.append([record(1000, unknown)]);
    await outbox.append([record(2000, rtc(trueMs - 20 * yearMs))]);
    expect(times(await told(outbox))).toEqual([
      [null, 'none'],
      [trueMs - 20 * yearMs, 'rtc'],
    ]);
    await outbox.setOrigin(trueMs, 'gnss');
    await outbox.append([record(3000, { timestamp: trueMs + 3000, quality: 'gnss' })]);
    expect(times(await told(outbox))).toEqual([
      [trueMs + 1000, 'gnss'],
      [trueMs + 2000, 'gnss'],
      [trueMs + 3000, 'gnss'],
    ]);
  });

  it('that the broker has are not sent again when the time turns out to be another', async () => {
    await outbox.append([record(1000, rtc(trueMs - yearMs)), record(2000, rtc(trueMs - yearMs + 1000))]);
    const [first] = await told(outbox);
    await outbox.acknowledge('b1', [[first?.event.seq ?? 0, first?.event.seq ?? 0]]);
    await outbox.setOrigin(trueMs, 'server');
    expect((await told(outbox)).map(({ event }) => [event.seq, event.timestamp])).toEqual([
      [(first?.event.seq ?? 0) + 1, trueMs + 2000],
    ]);
  });

  it('get it after a restart too, by the origin of their own boot', async () => {
    await outbox.append([record(1000, unknown)]);
    await outbox.setOrigin(trueMs, 'server');
    await restart('b2');
    await outbox.append([record(1000, unknown)]);
    await outbox.setOrigin(trueMs + yearMs, 'gnss');
    expect((await told(outbox)).map(({ boot, event }) => [boot, event.timestamp, event.timeQuality])).toEqual(
      [
        ['b1', trueMs + 1000, 'server'],
        ['b2', trueMs + yearMs + 1000, 'gnss'],
      ],
    );
  });

  it('of a boot that never knew it keep their order and claim nothing', async () => {
    await outbox.append([record(9000, unknown), record(9500, unknown)]);
    await restart('b2');
    // The wall clock of this boot is twenty years behind, and the one after it knows the time.
    await outbox.append([record(100, rtc(trueMs - 20 * yearMs + 100))]);
    await outbox.setOrigin(trueMs - 20 * yearMs, 'rtc');
    await restart('b3');
    await outbox.setOrigin(trueMs, 'gnss');
    await outbox.append([record(50, { timestamp: trueMs + 50, quality: 'gnss' })]);
    const list = await told(outbox);
    expect(list.map(({ boot, event }) => [boot, event.seq])).toEqual([
      ['b1', 1],
      ['b1', 2],
      ['b2', 1],
      ['b3', 1],
    ]);
    expect(times(list)).toEqual([
      [null, 'none'],
      [null, 'none'],
      [trueMs - 20 * yearMs + 100, 'rtc'],
      [trueMs + 50, 'gnss'],
    ]);
  });

  it('follow a wall clock that NTP steps while it is all there is', async () => {
    await outbox.setOrigin(trueMs - 7 * yearMs, 'rtc');
    await outbox.append([record(1000, rtc(trueMs - 7 * yearMs + 1000))]);
    await outbox.setOrigin(trueMs, 'rtc');
    await outbox.append([record(2000, rtc(trueMs + 2000))]);
    expect(times(await told(outbox))).toEqual([
      [trueMs + 1000, 'rtc'],
      [trueMs + 2000, 'rtc'],
    ]);
  });

  it('are corrected when a receiver proves to be wrong, and a good time is left as it was sent', async () => {
    await outbox.setOrigin(trueMs + yearMs, 'gnss');
    await outbox.append([record(1000, { timestamp: trueMs + yearMs + 1000, quality: 'gnss' })]);
    await outbox.setOrigin(trueMs, 'server');
    await outbox.append([record(2000, { timestamp: trueMs + 2400, quality: 'server' })]);
    expect(times(await told(outbox))).toEqual([
      [trueMs + 1000, 'server'],
      [trueMs + 2400, 'server'],
    ]);
  });
});
