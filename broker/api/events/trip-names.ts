// Adds drivers' names to trips, by the owner of each driver key at the time of the trip.
import { Type } from 'typebox';
import { driversMost, driversOf, type TripDriver } from '../../core/events/trip-drivers.ts';
import type { Trip, TripOrStop } from '../../core/events/trip-way.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Pages } from '../base/operation.ts';
import { calendarQuery } from './calendar-range.ts';

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const tripDrivers = Type.Array(
  Type.Object({
    driverUniqueId: Type.String({ description: 'Id of the key' }),
    driverID: textOrNull('Driver that it belonged to; null: to none'),
    driverDisplayName: textOrNull('Name of that driver'),
  }),
  {
    maxItems: 10 * driversMost,
    description:
      'The same with names, in order; a key that was handed over on the way stands once for each driver',
  },
);

export const tripsQuery = Type.Object(
  {
    ...calendarQuery,
    driverID: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Trips of this driver alone, by any key that was theirs then',
      }),
    ),
  },
  { additionalProperties: false },
);

interface Naming {
  readonly services: Pick<ApiServices, 'keyOwners'>;
  readonly accountID: string;
  /** Trips of this driver alone; undefined: all. */
  readonly driverID: string | undefined;
}

/** The trips of what was found, each as `view` shows it, with its drivers. */
export async function* withDrivers<V extends object>(
  found: AsyncIterable<readonly TripOrStop[]>,
  { services, accountID, driverID }: Naming,
  view: (trip: Trip) => V,
): Pages<V & { drivers: TripDriver[] }> {
  for await (const some of found) {
    const trips = some.flatMap((one) => (one.kind === 'trip' ? [one.trip] : []));
    const keyIDs = [...new Set(trips.flatMap(({ drivers }) => drivers.map(({ id }) => id)))];
    const owners = keyIDs.length === 0 ? [] : await services.keyOwners(accountID, keyIDs);
    const named = trips.map((trip) => ({ ...view(trip), drivers: [...driversOf(trip.drivers, owners)] }));
    yield driverID === undefined
      ? named
      : named.filter(({ drivers }) => drivers.some((one) => one.driverID === driverID));
  }
}
