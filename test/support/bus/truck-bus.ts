// A truck's bus on a vehicle rig: its frames follow the true motion, through the decoder of the agent. What it sends can be altered.
import type { BusReading } from '../../../agent/core/bus/bus-reading.ts';
import { createBusValues } from '../../../agent/core/bus/bus-values.ts';
import type { CanFrame } from '../../../agent/core/bus/slcan-line.ts';
import { bamFrames, ccvs1, eec1, vep1 } from '../../../simulator/hardware/j1939-frames.ts';
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
  engine: 'combustion',
} as const;

/** What the truck does that its bus shows. */
export interface TruckState {
  readonly kmh: number;
  readonly rpm: number;
  readonly isBraked: boolean;
  readonly atMs: number;
}

/** Speed of the engine's address, parking brake of the cab's, volts that jitter. */
export const truckFrames = ({ kmh, rpm, isBraked, atMs }: TruckState): readonly CanFrame[] => [
  ccvs1(kmh, 3, 0),
  ccvs1(null, isBraked ? 1 : 0, 0x31),
  eec1(rpm, 0),
  ...(atMs % 1000 === 0 ? [vep1(24 + (atMs % 2000 === 0 ? 0.05 : 0), null, 0)] : []),
];

export const vinFrames = (vin: string): readonly CanFrame[] =>
  bamFrames(65_260, 0, [...Buffer.from(`${vin}*`)]);

/** Runs the rig with its bus. */
export function createTruckBus(rig: VehicleRig) {
  let bus = createBusValues();
  let frames = truckFrames;
  let engine: 'on' | 'off' = 'off';
  let isBraked = true;
  const run = {
    /** Turns the key, with the engine. */
    key(isOn: boolean) {
      rig.board.setSignal('ignition', isOn);
      engine = isOn ? 'on' : 'off';
      return run;
    },
    brake(isSet: boolean) {
      isBraked = isSet;
      return run;
    },
    /** What the nodes send from now on. */
    sends(next: (state: TruckState) => readonly CanFrame[]) {
      frames = next;
      return run;
    },
    /** The adapter was opened again. */
    reopen() {
      bus = createBusValues();
      return run;
    },
    run(seconds: number) {
      for (let steps = Math.round(seconds * 10); steps > 0; steps -= 1) {
        const kmh = rig.speedKmh();
        const atMs = Math.round(rig.nowMs() / 100) * 100;
        const rpm = engine === 'on' ? 600 + kmh * 12 : 0;
        const sent = frames({ kmh, rpm, isBraked, atMs });
        for (const frame of sent) bus.take(frame, rig.nowMs());
        const { movement, engine: turning } = bus.activity(rig.nowMs());
        const isActive = movement !== null || turning !== null;
        if (sent.length > 0 && atMs % (isActive ? 200 : 1000) === 0)
          rig.dispatch({
            kind: 'bus',
            reading: { atMs: rig.nowMs(), adapter: openAdapter, view: bus.view(rig.nowMs()) },
          });
        rig.run(0.1);
      }
      return run;
    },
    /** Away, a minute on the road, and back to a stop; the key is on. */
    trip() {
      run.key(true).brake(false).run(5);
      rig.drive(50);
      run.run(60);
      rig.drive(0);
      return run.run(15);
    },
    /** Parked, key off. */
    park(seconds: number) {
      return run.brake(true).key(false).run(seconds);
    },
  };
  return run;
}
