// Maps the findings of the fuel machine to status codes of OpenGTS and flat attributes. Data only.
import type { AttributeValue } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { FuelEvent } from './fuel-types.ts';

const fuelStatusCodes = {
  refill: statusCodes.FUEL_REFILL.code,
  theft: statusCodes.FUEL_THEFT.code,
  low: statusCodes.LOW_FUEL.code,
  fault: statusCodes.FUEL_SENSOR.code,
  faultOver: statusCodes.FUEL_SENSOR_OK.code,
  level: statusCodes.FUEL_LEVEL.code,
} as const satisfies Record<FuelEvent['kind'], number>;

export interface FuelEventDraft {
  readonly statusCode: number;
  /** The level after, as a fraction; absent while the sender is faulty. */
  readonly fuelLevel?: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

const rounded = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;

/**
 * The event to record, at `event.atMs`. Attributes of refill and theft: `before` and `after` (fractions), `litres` (with
 * `capacityL` only, always positive), `durationS` (from the last moment at the old level to the end) and `seen`.
 */
export function fuelEventDraft(event: FuelEvent, capacityL?: number): FuelEventDraft {
  const statusCode = fuelStatusCodes[event.kind];
  switch (event.kind) {
    case 'refill':
    case 'theft': {
      const { before, after } = event;
      const litres =
        capacityL === undefined ? {} : { litres: rounded(Math.abs(after - before) * capacityL, 1) };
      const durationS = Math.max(0, Math.round((event.atMs - event.beganAtMs) / 1000));
      return {
        statusCode,
        fuelLevel: rounded(after, 3),
        attributes: {
          before: rounded(before, 3),
          after: rounded(after, 3),
          ...litres,
          durationS,
          seen: event.situation,
        },
      };
    }
    case 'low':
    case 'level': {
      const litres = capacityL === undefined ? {} : { litres: rounded(event.level * capacityL, 1) };
      return { statusCode, fuelLevel: rounded(event.level, 3), attributes: litres };
    }
    case 'fault':
    case 'faultOver':
      return { statusCode, attributes: { reason: event.reason } };
  }
}
