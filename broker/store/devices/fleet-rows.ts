// Reads what a map and a list of vehicles need of each device: some of its columns and three of its states. A tenth of the work of the whole device.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { ownOrderNames } from '../../core/events/own-order.ts';
import { flagOf, numberOf, numberOrNull, textListOf, textOf, textOrNull } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Infer, shape } from '../base/table.ts';
import { type DevicePage, inPage } from './device-page.ts';

const fleetDevices = shape({
  deviceNo: numberOf,
  deviceID: textOf,
  uniqueID: textOf,
  displayName: textOf,
  description: textOf,
  driver: textOf,
  heartbeatMs: numberOf,
  fixMs: numberOf,
  latitude: numberOf,
  longitude: numberOf,
  speed: numberOrNull,
  heading: numberOrNull,
  address: textOf,
  geozoneID: textOf,
  fuelLevel: numberOrNull,
  isForeign: flagOf,
  isOnline: flagOf,
  features: textListOf,
  ignition: textOrNull,
  enginecutoff: textOrNull,
  cargoaccess: textOrNull,
  hasOwnOrder: flagOf,
});
/** States are null until the unit reported them. */
export type FleetDevice = Infer<typeof fleetDevices>;

/** A state as `DeviceState.isReported` judges it; NULL: never reported. */
const reported = (name: string): Statement => sql`(SELECT CASE
    WHEN s.changed_ms > 0 OR s.changed_tie <> '' OR s.state <> '0' THEN s.state END
  FROM device_states s WHERE s.device_no = d.device_no AND s.name = ${name})`;

/** Devices that the caller may see, by device id. @param page `limit` 1 to 1,000. */
export const listFleetDevices = (
  db: Database,
  scope: Scope,
  page: DevicePage,
): Promise<readonly FleetDevice[]> =>
  fleetDevices.all(db)(sql`
    SELECT d.device_no, d.device_id, d.unique_id, d.display_name, d.description, d.driver, d.heartbeat_ms, d.fix_ms,
      d.latitude, d.longitude, d.speed, d.heading, d.address, d.geozone_id, d.fuel_level, d.is_foreign, d.is_online, d.features,
      ${reported('ignition')} AS ignition, ${reported('enginecutoff')} AS enginecutoff,
      ${reported('cargoaccess')} AS cargoaccess,
      CASE WHEN EXISTS (SELECT 1 FROM device_states s WHERE s.device_no = d.device_no AND s.state <> ''
        AND s.name IN (${valueList(ownOrderNames)})) THEN 1 ELSE 0 END AS has_own_order
    FROM devices d WHERE ${visible(scope)} AND ${inPage(page)}
    ORDER BY d.device_id LIMIT ${page.limit}`);
