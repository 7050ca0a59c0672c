// A row of the fleet for tests of the console: of a unit that has never sent anything, but for what is given.
import { type FleetPending, type FleetRow, fleetColumns } from '../../../src/core/events/fleet-row.ts';

const neverSent: FleetRow = [
  'van-01',
  '',
  '',
  '',
  '',
  0,
  0,
  0,
  0,
  null,
  null,
  '',
  '',
  null,
  null,
  null,
  null,
  false,
  [],
  false,
  null,
];

/** @param change by the names of the columns. */
export const fleetRow = (
  change: Partial<Record<(typeof fleetColumns)[number], FleetRow[number]>>,
): FleetRow => fleetColumns.map((name, at) => change[name] ?? neverSent[at]) as never;

/** A change of a relay of which nothing but this is known. */
export const pendingChange = (change: Partial<FleetPending>): FleetPending => ({
  feature: 'enginecutoff',
  state: '1',
  commandState: 'armed',
  commandID: null,
  approvalID: null,
  ...change,
});

/** Nothing is known but the row. */
export const rowAlone = { before: undefined, isOnline: undefined, mayUpdate: true } as const;
