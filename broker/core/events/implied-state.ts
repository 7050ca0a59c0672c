// What a status code alone says of an input or output.
import { statusCodes } from '../../../src/core/events/status-codes.ts';

export interface ImpliedState {
  /** Of the input or output. */
  readonly name: string;
  readonly state: '0' | '1';
}

/** An input or output, the code that says it is active, and the one that says it is not. */
const pairs = [
  ['ignition', statusCodes.IGNITION_ON, statusCodes.IGNITION_OFF],
  ['panic', statusCodes.PANIC_ON, statusCodes.PANIC_OFF],
  ['tamper', statusCodes.TAMPER_ON, statusCodes.TAMPER_OFF],
  ['cabinDoor', statusCodes.DOOR_OPEN_CABIN, statusCodes.DOOR_CLOSE_CABIN],
  ['cargoDoor', statusCodes.DOOR_OPEN_CARGO, statusCodes.DOOR_CLOSE_CARGO],
  ['enginecutoff', statusCodes.VEHICLE_DISABLED, statusCodes.VEHICLE_ENABLED],
  ['cargoaccess', statusCodes.DOOR_UNLOCK, statusCodes.DOOR_LOCK],
] as const;

const implied: ReadonlyMap<number, ImpliedState> = new Map(
  pairs.flatMap(([name, on, off]): [number, ImpliedState][] => [
    [on.code, { name, state: '1' }],
    [off.code, { name, state: '0' }],
  ]),
);

/** The state that a status code says by itself, as trackers without `inputs` send it; null for one that says none. */
export const impliedState = (statusCode: number): ImpliedState | null => implied.get(statusCode) ?? null;
