// The process that the storage section traces: an hour of a whole agent on a virtual clock with its outbox in a file. It
// marks the beginning and the end of what counts by one byte each in a file beside it. argv[2] is JSON, see HourPlan.
import { closeSync, openSync, writeSync } from 'node:fs';
import { startVirtualVehicle } from '../support/virtual/virtual-vehicle.ts';
import { benchRoute } from './agent-wire.ts';

export interface HourPlan {
  readonly path: string;
  readonly marks: string;
  readonly isParked: boolean;
  readonly seconds: number;
  /** `storage.windowS`. */
  readonly windowS: number;
}

const { path, marks, isParked, seconds, windowS } = JSON.parse(process.argv[2] ?? '{}') as HourPlan;
const route = benchRoute();
const hour = await startVirtualVehicle({ seed: 'hour', route, isParked, path, maxMb: 64, windowS });
const file = openSync(marks, 'a');
// A minute to settle in: the start reports much at once.
await hour.pass(60);
writeSync(file, '(');
await hour.pass(seconds);
writeSync(file, ')');
closeSync(file);
await hour.close();
