// Follows the frames of a J1939 bus: signals, texts and trouble codes. Values of the first 10 s after a start or gap are marked,
// as senders begin with defaults; movement counts at once.
import { busLimits } from './bus-limits.ts';
import type { BusText, BusView } from './bus-reading.ts';
import { createBusSlots, isSettledAt } from './bus-slots.ts';
import { parseJ1939Id } from './j1939-frame.ts';
import { signalsOf } from './j1939-signals.ts';
import {
  parseDriverCards,
  parseTroubleCodes,
  parseVin,
  type TroubleCode,
  textGroups,
} from './j1939-texts.ts';
import { createTransport } from './j1939-transport.ts';
import type { CanFrame } from './slcan-line.ts';

const wantedTexts: readonly number[] = Object.values(textGroups);

/** The decoder of one bus, from the opening of its port to its loss. */
export interface BusValues {
  take(frame: CanFrame, atMs: number): void;
  /** Current evidence of movement and of a running engine; cheap. */
  activity(nowMs: number): Pick<BusView, 'movement' | 'engine'>;
  view(nowMs: number): BusView;
}

/** A decoder that has seen nothing. */
export function createBusValues(): BusValues {
  const slots = createBusSlots();
  const codes = new Map<number, BusText<readonly TroubleCode[]>>();
  const transport = createTransport((pgn) => wantedTexts.includes(pgn));
  let vin: BusView['vin'] = null;
  let driverCards: BusView['driverCards'] = null;
  let frameMs: number | null = null;
  let sinceMs = 0;
  let frames = 0;
  let foreign = 0;

  const takeText = (pgn: number, source: number, data: Uint8Array, atMs: number): void => {
    if (pgn === textGroups.vehicleId) {
      const value = parseVin(data);
      if (value !== null) vin = { value, source, atMs };
    } else if (pgn === textGroups.driverId) {
      const value = parseDriverCards(data);
      if (value !== null) driverCards = { value, source, atMs };
    } else if (pgn === textGroups.troubleCodes) {
      const value = parseTroubleCodes(data);
      if (value === null || (!codes.has(source) && codes.size >= busLimits.codeSources)) return;
      codes.set(source, { value, source, atMs });
    }
  };
  return {
    take(frame, atMs) {
      frames += 1;
      if (frameMs === null || atMs - frameMs > busLimits.gapMs) sinceMs = atMs;
      frameMs = atMs;
      if (!frame.isExtended) {
        foreign += 1;
        return;
      }
      const id = parseJ1939Id(frame.id);
      const signals = signalsOf(id.pgn);
      if (signals !== undefined) return slots.take(signals, { source: id.source, data: frame.data }, atMs);
      if (wantedTexts.includes(id.pgn)) return takeText(id.pgn, id.source, frame.data, atMs);
      const message = transport.take(id, frame.data, atMs);
      if (message !== null) takeText(message.pgn, message.source, message.data, atMs);
    },
    activity: slots.activity,
    view: (nowMs) => ({
      frameMs,
      frames,
      foreign,
      dropped: transport.dropped(),
      isSettled: frameMs !== null && nowMs - frameMs <= busLimits.gapMs && isSettledAt(sinceMs, nowMs),
      values: slots.values(sinceMs, nowMs),
      vin,
      driverCards,
      troubleCodes: [...codes.values()].filter(({ atMs }) => nowMs - atMs <= busLimits.codesMs),
      odometerJumps: slots.odometerJumps(),
      ...slots.activity(nowMs),
    }),
  };
}
