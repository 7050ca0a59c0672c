// A truck's bus on a vehicle rig: its frames follow the true motion, through the decoder of the agent. What it sends can be altered.
import type { BusReading } from '../../../agent/core/bus/bus-reading.ts';
import { createBusValues } from '../../../agent/core/bus/bus-values.ts';
import type { CanFrame } from '../../../agent/core/bus/slcan-line.ts';
import { ccvs1, eec1, vep1 } from '../../../simulator/hardware/j1939-frames.ts';
import type { VehicleRig } from '../vehicle/vehicle-rig.ts';

export const openAdapter: BusReading['adapter'] = {
  phase: 'open',
  refusal: null,
  portFault: null,
  dialect: 'canable',
  version: '8ca5d39 canable-fw',
  bitRate: 250_000,
  writtenBytes: 17,
  rejected: 0,
  remotes: 0,
  skipped: 0,
  framesPerS: 20,
};

export const truckBusConfig = {
  port: { path: '/dev/fleet-bus', baudRate: 115_200, dataBits: 8, parity: 'none', stopBits: 1 },
  bitRate: 250_000,
} as const;

/** Speed of the engine's address, parking brake of the cab's, volts that jitter. */
const truckFrames = (kmh: number, rpm: number, isBraked: boolean, atMs: number): readonly CanFrame[] => [
  ccvs1(kmh, 3, 0),
  ccvs1(null, isBraked ? 1 : 0, 0x31),
  eec1(rpm, 0),
  ...(atMs % 1000 === 0 ? [vep1(24 + (atMs % 2000 === 0 ? 0.05 : 0), null, 0)] : []),
];

/** Runs the rig with its bus, whose nodes stay awake. */
export function createTruckBus(rig: VehicleRig) {
  const bus = createBusValues();
  let isEngineOn = false;
  const run = {
    /** Turns the key, with the engine. */
    key(isOn: boolean) {
      rig.board.setSignal('ignition', isOn);
      isEngineOn = isOn;
      return run;
    },
    run(seconds: number) {
      for (let steps = Math.round(seconds * 10); steps > 0; steps -= 1) {
        const kmh = rig.speedKmh();
        const nowMs = rig.nowMs();
        const atMs = Math.round(nowMs / 100) * 100;
        for (const frame of truckFrames(kmh, isEngineOn ? 600 + kmh * 12 : 0, !isEngineOn, atMs))
          bus.take(frame, nowMs);
        const { movement, engine } = bus.activity(nowMs);
        if (atMs % (movement !== null || engine !== null ? 200 : 1000) === 0)
          rig.dispatch({
            kind: 'bus',
            reading: { atMs: nowMs, adapter: openAdapter, view: bus.view(nowMs) },
          });
        rig.run(0.1);
      }
      return run;
    },
    /** Away, a minute on the road, and back to a stop, where it is parked. */
    trip() {
      run.key(true).run(5);
      rig.drive(50);
      run.run(60);
      rig.drive(0);
      return run.run(15).key(false).run(40);
    },
  };
  return run;
}
