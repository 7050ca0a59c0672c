// A synthetic recording of a truck's J1939 bus: key on with defaults, a drive, a stop with the parking brake set. Two senders share CCVS1, one
// of them without a speed, as recorded trucks do.
import type { CanFrame } from '../../../agent/core/bus/slcan-line.ts';
import { bamFrames, ccvs1, eec1, j1939Frame, vdhr } from '../../../simulator/hardware/j1939-frames.ts';

export interface TimedFrame {
  /** Since the key was turned, ms. */
  readonly atMs: number;
  readonly frame: CanFrame;
}

const startsMs = 12_000;
const stopsMs = 40_000;

/** Speed in km/h: it gathers speed for 8 s, keeps 64 km/h, and brakes for 8 s. */
function speedAt(atMs: number): number {
  const gathered = (atMs - startsMs) / 1000;
  const left = (stopsMs - atMs) / 1000;
  return Math.max(0, Math.min(8 * gathered, 8 * left, 64));
}

/** The frames of `forMs`, in order. */
export function truckDrive(forMs: number): readonly TimedFrame[] {
  const frames: TimedFrame[] = [];
  const add = (atMs: number, ...more: readonly CanFrame[]): void => {
    for (const frame of more) frames.push({ atMs, frame });
  };
  let km = 123_456;
  for (let atMs = 0; atMs < forMs; atMs += 20) {
    const kmh = speedAt(atMs);
    km += kmh * (20 / 3_600_000);
    // Defaults until the gateway knows better.
    const isDefault = atMs < 700;
    const isParked = atMs < startsMs || atMs > stopsMs + 2000;
    add(atMs, eec1(isDefault ? 0 : 600 + kmh * 12, 0));
    if (atMs % 100 === 0) add(atMs, ccvs1(kmh, 3, 0), ccvs1(null, isDefault || !isParked ? 0 : 1, 0x31));
    if (atMs % 1000 === 0) {
      add(atMs, vdhr(isDefault ? 0 : km, 0xee));
      add(atMs, j1939Frame(65_276, 0x17, [0xff, 100, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
      add(atMs, ...bamFrames(65_226, 0x17, [0x04, 0xff, 0xb2, 0x0c, 0x44, 0x03, 0x6e, 0x00, 0x0f, 0x81]));
    }
    if (atMs % 10_000 === 0) add(atMs, ...bamFrames(65_260, 0, [...Buffer.from('WDB9634031L738256*')]));
  }
  return frames;
}
