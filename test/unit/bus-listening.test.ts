// The reader of the vehicle bus on a virtual clock: how it opens an adapter, finds the bit rate, comes back after a loss, and that nothing
// is written after an opening.
import { describe, expect, test } from 'vitest';
import { busTiming, startVehicleBus, type VehicleBus } from '../../agent/bus/vehicle-bus.ts';
import type { BusConfig } from '../../agent/core/bus/bus-config.ts';
import { busLimits } from '../../agent/core/bus/bus-limits.ts';
import { type BusReading } from '../../agent/core/bus/bus-reading.ts';
import type { CanFrame } from '../../agent/core/bus/slcan-line.ts';
import { openingCommands, slcanDialects } from '../../agent/core/bus/slcan-opening.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { ccvs1, eec1, slcanLine } from '../../simulator/hardware/j1939-frames.ts';
import { createSlcanAdapter, type SlcanAdapterOptions } from '../../simulator/hardware/slcan-adapter.ts';
import { AppError } from '../../src/core/errors.ts';
import type { ByteLinkHandlers, OpenByteLink } from '../../src/ports.ts';
import { extent } from '../support/extent.ts';
import { latin1, seededRandom } from '../support/serial/nmea-lines.ts';

const port = { path: '/dev/can', baudRate: 115_200, dataBits: 8, parity: 'none', stopBits: 1 } as const;

interface Desk {
  readonly bus: VehicleBus;
  readonly readings: BusReading[];
  readonly adapter: ReturnType<typeof createSlcanAdapter>;
  /** Every write of each link, in order. */
  readonly links: string[][];
  readonly logged: string[];
  /** Lets time pass; frames come every `everyMs`. */
  pass(ms: number, frames?: readonly CanFrame[], everyMs?: number): Promise<void>;
  send(bytes: Uint8Array): void;
  unplug(): void;
  plug(): void;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function desk(config: Partial<BusConfig> = {}, options: Partial<SlcanAdapterOptions> = {}): Desk {
  const clock = createVirtualClock(0);
  let handlers: ByteLinkHandlers | null = null;
  let isThere = true;
  const links: string[][] = [];
  const readings: BusReading[] = [];
  const logged: string[] = [];
  const send = (bytes: Uint8Array): void => handlers?.onBytes(bytes);
  const adapter = createSlcanAdapter({ dialect: 'lawicel', send: (text) => send(latin1(text)), ...options });
  const openByteLink: OpenByteLink = async (_settings, given) => {
    if (!isThere) throw new AppError('serial', 'no such port');
    const writes: string[] = [];
    links.push(writes);
    handlers = given;
    return {
      write(bytes) {
        writes.push(String.fromCharCode(...bytes));
        adapter.receive(bytes);
        return true;
      },
      async close() {
        if (handlers === given) handlers = null;
      },
    };
  };
  const record = (event: string): void => void logged.push(event);
  const bus = startVehicleBus({
    config: { port, bitRate: 250_000, ...config },
    clock,
    openByteLink,
    log: { info: record, warn: record },
    onReading: (reading) => void readings.push(reading),
  });
  return {
    bus,
    readings,
    adapter,
    links,
    logged,
    send,
    async pass(ms, frames = [], everyMs = 100) {
      for (let passedMs = 0; passedMs < ms; passedMs += everyMs) {
        await turn();
        clock.advance(everyMs);
        for (const one of frames) adapter.frame(one);
      }
      await turn();
    },
    unplug() {
      isThere = false;
      adapter.restart();
      handlers?.onDown('the device hung up');
      handlers = null;
    },
    plug() {
      isThere = true;
    },
  };
}

const standing = [ccvs1(0, 1), eec1(0)];

describe('the reader of the vehicle bus', () => {
  test.each(slcanDialects)('opens a %s in listen-only mode and reads its bus', async (dialect) => {
    const { bus, adapter, pass } = desk({}, { dialect });
    await pass(15_000, standing);
    expect(adapter.mode()).toBe('silent');
    const { adapter: facts, view } = bus.reading();
    expect(facts).toMatchObject({ phase: 'open', dialect, bitRate: 250_000, refusal: null, framesPerS: 20 });
    expect(view.isSettled).toBe(true);
    expect(view.values.map(({ name, value }) => [name, value])).toContainEqual(['speed', 0]);
    await bus.close();
  });

  test('finds the bit rate by listening', async () => {
    const { bus, adapter, links, pass } = desk({ bitRate: 'auto' }, { busRate: 500_000 });
    await pass(8000, standing, 50);
    expect(bus.reading().adapter).toMatchObject({ phase: 'open', bitRate: 500_000 });
    expect(adapter.transmissions).toEqual([]);
    expect(links.map((writes) => writes.at(-2))).toEqual(['S5\r', 'S6\r']);
    await bus.close();
  });

  test('searches again while the bus sleeps, ever more rarely', async () => {
    const { bus, links, pass } = desk({ bitRate: 'auto' });
    await pass(120_000);
    expect(bus.reading().adapter.refusal ?? 'searching').toMatch(/no_frames|searching/);
    const first = links.length;
    await pass(120_000);
    expect(links.length - first).toBeLessThanOrEqual(16);
    await bus.close();
  });

  test('is opened again while a bus whose bit rate is known sleeps, and is logged once', async () => {
    const { bus, links, logged, pass } = desk();
    await pass(5000, standing);
    await pass(600_000);
    expect(links.length).toBeGreaterThan(5);
    expect(logged).toEqual(['bus_open']);
    await bus.close();
  });

  test('refuses an adapter that cannot listen, says so once, and never opens it otherwise', async () => {
    const { bus, adapter, links, logged, pass } = desk({}, { canListen: false });
    await pass(120_000, standing);
    expect(bus.reading().adapter).toMatchObject({ phase: 'waiting', refusal: 'not_silent' });
    expect(adapter.mode()).toBe('closed');
    expect(links.flat()).not.toContain('O\r');
    expect(logged).toEqual(['bus_open_failed']);
    await bus.close();
  });

  test('is back within 5 s after the adapter was plugged in again', async () => {
    const { bus, adapter, logged, pass, plug, unplug } = desk();
    await pass(5000, standing);
    unplug();
    await pass(20_000, standing);
    expect(bus.reading().adapter).toMatchObject({ phase: 'waiting', refusal: 'port' });
    plug();
    await pass(5000, standing);
    expect(bus.reading().adapter.phase).toBe('open');
    expect(bus.reading().view.frames).toBeGreaterThan(0);
    expect(adapter.mode()).toBe('silent');
    expect(logged.filter((event) => event === 'bus_lost')).toHaveLength(1);
    await bus.close();
  });

  test('sets an adapter up anew that has lost its settings, and writes nothing while it waits', async () => {
    const { bus, adapter, links, pass } = desk();
    await pass(5000, standing);
    adapter.restart();
    await pass(busTiming.silentMs - 5000, standing);
    expect(links).toHaveLength(1);
    await pass(15_000, standing);
    expect(links).toHaveLength(2);
    expect(bus.reading().view.frames).toBeGreaterThan(0);
    await bus.close();
  });

  test('passes movement on at once, and otherwise one reading a second', async () => {
    const { bus, readings, pass } = desk();
    await pass(15_000, standing);
    readings.length = 0;
    await pass(10_000, standing);
    expect(readings.length).toBeLessThanOrEqual(11);
    readings.length = 0;
    await pass(100, [ccvs1(5)]);
    expect(readings.at(-1)?.view.movement).toMatchObject({ value: 5 });
    // A frame that speaks for movement does so for as long as it is fresh.
    await pass(600, standing);
    expect(readings.at(-1)?.view.movement).toBeNull();
    await bus.close();
  });

  test('counts the frames of a flood beyond its limit and does not read them', async () => {
    const { bus, send, pass } = desk();
    await pass(5000, standing);
    const flood = latin1(slcanLine(ccvs1(0)).repeat(busLimits.framesPerS + 500));
    send(flood);
    const { adapter, view } = bus.reading();
    expect(adapter.skipped).toBeGreaterThanOrEqual(500);
    expect(view.frames).toBeLessThanOrEqual(busLimits.framesPerS + 200);
    await bus.close();
  });
});

const framesMost = extent({ gate: 100_000, nightly: 1_000_000 });

describe('after an opening', () => {
  test.each(slcanDialects)(
    `of a %s not one byte is written, in ${framesMost} frames and faults`,
    async (dialect) => {
      const random = seededRandom(27);
      const { bus, adapter, links, pass, send, plug, unplug } = desk({}, { dialect });
      await pass(3000, standing);
      const answers = ['\r', '\u0007', 'V1013\r', 'v0107\r', 'F00\r', 'z\r', 'Z\r', '>', 'S5\rL\r', 'C\r'];
      const noise = (): Uint8Array =>
        Uint8Array.from({ length: 1 + Math.floor(random() * 60) }, () => Math.floor(random() * 256));
      let frames = 0;
      while (frames < framesMost) {
        const burst: string[] = [];
        for (let n = 0; n < 100; n += 1, frames += 1) {
          const data = Uint8Array.from({ length: Math.floor(random() * 9) }, () =>
            Math.floor(random() * 256),
          );
          const isExtended = random() < 0.8;
          const line = slcanLine({
            id: Math.floor(random() * (isExtended ? 0x2000_0000 : 0x800)),
            isExtended,
            data,
          });
          burst.push(random() < 0.05 ? line.slice(0, Math.floor(random() * line.length)) : line);
          if (random() < 0.02) burst.push(answers[Math.floor(random() * answers.length)] ?? '');
        }
        send(latin1(burst.join('')));
        if (random() < 0.1) send(noise());
        if (random() < 0.02) adapter.restart();
        if (random() < 0.01) {
          unplug();
          await pass(1000);
          plug();
          await pass(3000, standing);
        }
        await pass(100);
      }
      // A bus that is silent for long is set up anew: that is an opening too.
      await pass(3 * busTiming.silentMs, [], 500);
      const allowed = openingCommands.map((command) => `${command}\r`);
      for (const writes of links) {
        expect(writes.filter((text) => !allowed.includes(text))).toEqual([]);
        const ends = writes.filter((text) => text === 'L\r' || text === 'O\r');
        expect(ends.length).toBeLessThanOrEqual(1);
        if (ends.length === 1) expect(writes.at(-1)).toBe(ends[0]);
      }
      expect(links.filter((writes) => /^[LO]/.test(writes.at(-1) ?? '')).length).toBeGreaterThan(5);
      expect(adapter.transmissions).toEqual([]);
      const written = links.flat().join('').length;
      expect(bus.reading().adapter.writtenBytes).toBe(written);
      await bus.close();
    },
  );
});
