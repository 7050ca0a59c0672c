// Status codes for changes of digital inputs. Data only.
import type { InputName } from '../../src/core/events/event.ts';
import { type StatusName, statusCodes } from '../../src/core/events/status-codes.ts';

/** `motion` and `service` are evidence: they make no events. */
const changes: Readonly<Partial<Record<InputName, { readonly on: StatusName; readonly off: StatusName }>>> = {
  ignition: { on: 'IGNITION_ON', off: 'IGNITION_OFF' },
  panic: { on: 'PANIC_ON', off: 'PANIC_OFF' },
  cabinDoor: { on: 'DOOR_OPEN_CABIN', off: 'DOOR_CLOSE_CABIN' },
  cargoDoor: { on: 'DOOR_OPEN_CARGO', off: 'DOOR_CLOSE_CARGO' },
  tamper: { on: 'TAMPER_ON', off: 'TAMPER_OFF' },
  externalPower: { on: 'POWER_RESTORED', off: 'POWER_FAILURE' },
};

/** Inputs whose resting state is on: a first reading in that state makes no event. */
const restsOn: readonly InputName[] = ['externalPower'];

/**
 * Status code of an input that is now `value`; null when that makes no event.
 * @param before its last known value, also from before a restart; null when it was never known.
 */
export function changeStatusCode(name: InputName, before: boolean | null, value: boolean): number | null {
  if (before === value) return null;
  const change = changes[name];
  if (change === undefined) return null;
  const rests = restsOn.includes(name) === value;
  if (before === null && rests && name !== 'ignition') return null;
  return statusCodes[value ? change.on : change.off].code;
}
