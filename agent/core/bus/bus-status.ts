// The vehicle bus for `status --json`: the adapter, and every signal of every sender with its age. Pure. A value that does not count now is
// marked, never shown as known.
import { chooseValues } from './bus-choice.ts';
import { type BusReading, isCurrent } from './bus-reading.ts';
import { busVetoAt } from './bus-veto.ts';
import type { CounterSenders } from './counter-senders.ts';
import { busSignals } from './j1939-signals.ts';

/** Without a frame for this long the bus is silent, ms. */
const silentMs = 2000;

/** `silent`: no frames; `settling`: for 10 s after a start or a gap values do not count. */
export type BusState = 'waiting' | 'opening' | 'searching' | 'silent' | 'settling' | 'live';

const units = new Map<string, string>(busSignals.map(({ name, unit }) => [name, unit] as const));
const seconds = (ms: number): number => Math.round(Math.max(0, ms) / 100) / 10;

function stateOf({ adapter, view }: BusReading, nowMs: number): BusState {
  if (adapter.phase !== 'open') return adapter.phase;
  if (view.frameMs === null || nowMs - view.frameMs > silentMs) return 'silent';
  return view.isSettled ? 'live' : 'settling';
}

/** The bus as it is at `nowMs`, monotonic. @param reading of at most a second ago while frames come. @param senders of its counters. */
export function busStatus(reading: BusReading, nowMs: number, senders: CounterSenders = {}) {
  const { adapter, view } = reading;
  const chosen = new Set(chooseValues(view.values, nowMs, senders).values());
  const veto = busVetoAt(reading, nowMs);
  const state = stateOf(reading, nowMs);
  return {
    state,
    ...adapter,
    framesPerS: state === 'live' || state === 'settling' ? adapter.framesPerS : 0,
    frames: view.frames,
    foreign: view.foreign,
    dropped: view.dropped,
    frameAgoS: view.frameMs === null ? null : seconds(nowMs - view.frameMs),
    isMoving: veto?.isMoving ?? false,
    isEngineRunning: veto?.isEngineRunning ?? false,
    odometerJumps: view.odometerJumps,
    vin: view.vin?.value ?? null,
    driverCards: view.driverCards?.value ?? null,
    troubleCodes: view.troubleCodes.flatMap(({ source, value }) =>
      value.map((code) => ({ source, ...code })),
    ),
    values: view.values.map((one) => ({
      name: one.name,
      spn: one.spn,
      source: one.source,
      value: one.value,
      unit: units.get(one.name) ?? '',
      /** Why the sender has no value; null when it has one. */
      fault: one.fault,
      ageS: seconds(nowMs - one.atMs),
      periodMs: one.periodMs === null ? null : Math.round(one.periodMs),
      /** Fresh, and not one of the first 10 s after a start. */
      isCurrent: isCurrent(one, nowMs),
      /** It is the one of all senders that is reported. */
      isChosen: chosen.has(one),
    })),
  };
}

export type BusStatus = ReturnType<typeof busStatus>;
