// An arrival or departure as an event: its status code and attributes, the same of a vehicle and of the service. Pure.
import type { AttributeValue } from '../events/event.ts';
import { statusCodes } from '../events/status-codes.ts';
import type { Crossing } from './zone-watch.ts';

const codes = {
  inside: { place: statusCodes.GEOFENCE_ARRIVE, corridor: statusCodes.CORRIDOR_ARRIVE },
  outside: { place: statusCodes.GEOFENCE_DEPART, corridor: statusCodes.CORRIDOR_DEPART },
} as const;

export function crossingCode({ zone, mark }: Crossing): number {
  return codes[mark.to][zone.zone.type === 2 ? 'corridor' : 'place'].code;
}

/** Attributes of a crossing: wanted notification and circumstances. */
export function circumstancesOf({ mark, zone }: Crossing): Record<string, AttributeValue> {
  const alert = mark.to === 'inside' ? 'alertEntry' : 'alertExit';
  const attributes: Record<string, AttributeValue> = { alert: zone.switches.includes(alert) };
  if (mark.cause === 'start') attributes['reason'] = 'the border was crossed while the unit was off';
  if (mark.gapMs !== null && mark.cause === 'seen') {
    attributes['gapS'] = Math.round(mark.gapMs / 1000);
    attributes['reason'] = 'the border was crossed without a position';
  }
  return attributes;
}
