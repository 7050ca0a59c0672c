// Geozones around vehicles on the road: every crossing is reported by the vehicle, shown by the service, and true.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { distanceM, earthRadiusM, type Point, radians } from '../../../src/core/geo/geo.ts';
import { judgeZone, type RoundZone } from '../../core/judgement/judgement-zones.ts';
import type { ShownEvent } from '../../core/ledger/ledger-types.ts';
import type { ShownDevice } from '../../core/ledger/shown-views.ts';
import {
  createFindings,
  type Exercise,
  type ExerciseContext,
  eventually,
  post,
  read,
  readHistory,
  readRecords,
} from './exercise.ts';
import { readSettings } from './settings.ts';

const zonesMost = 3;
/** A vehicle in a town drives through it in some 20 s. */
const radiusM = 100;
/** Its middle is so far ahead of a vehicle that drives, metres: it is sure to be inside when it holds the zone. */
const aheadM = 70;
const drivesKmh = 15;
const metresPerDegree = earthRadiusM * radians(1);
const dwellS = 2;
/** The border itself, metres: places travel with seven decimals. */
const borderM = 1;

/** The middle of the zone for a vehicle. */
function middleOf({
  deviceLastValidLatitude: latitude,
  deviceLastValidLongitude: longitude,
  deviceLastValidSpeed: speed,
  deviceLastValidHeading: heading,
}: ShownDevice): Point {
  if (speed < drivesKmh) return { latitude, longitude };
  const [north, east] = [Math.cos(radians(heading)), Math.sin(radians(heading))];
  const degrees = aheadM / metresPerDegree;
  return {
    latitude: latitude + north * degrees,
    longitude: longitude + (east * degrees) / Math.cos(radians(latitude)),
  };
}

/** For the fastest vehicles that have a position, and the slowest. */
async function createZones({ access, changes }: ExerciseContext): Promise<ReadonlyMap<string, RoundZone>> {
  const { service, created, target } = access;
  const own = new Set(created);
  const { devices } = await read<{ devices: readonly ShownDevice[] }>(service, '/device/getalldevices');
  const fastest = devices
    .filter(({ deviceID, deviceLastValidTimestamp }) => own.has(deviceID) && deviceLastValidTimestamp > 0)
    .toSorted((one, other) => other.deviceLastValidSpeed - one.deviceLastValidSpeed);
  const about = [...fastest.slice(0, zonesMost - 1), ...fastest.slice(zonesMost - 1).slice(-1)];
  const zones = new Map<string, RoundZone>();
  for (const [at, device] of about.entries()) {
    const { latitude, longitude } = middleOf(device);
    const zone: RoundZone = { geozoneID: `sim-zone-${at + 1}`, radiusM, latitude, longitude };
    await post(service, '/geozone/creategeozone', {
      geozoneID: zone.geozoneID,
      geozoneType: 0,
      geozoneRadius: radiusM,
      geozonePoint1: `${latitude.toFixed(6)},${longitude.toFixed(6)}`,
    });
    changes.push({ userID: target.login.userID, action: 'geozone.create', object: zone.geozoneID });
    zones.set(device.deviceID, zone);
  }
  return zones;
}

/** The crossings of the fleet, by vehicle and zone. */
async function readCrossings({ access }: ExerciseContext): Promise<readonly ShownEvent[]> {
  const all: ShownEvent[] = [];
  for (const { code } of [statusCodes.GEOFENCE_ARRIVE, statusCodes.GEOFENCE_DEPART]) {
    for (const record of await readRecords(access.service, `/eventdata/fleetdata/${code}/0/0`))
      all.push(record);
  }
  return all.toSorted((one, other) => one.timestamp - other.timestamp);
}

/** Checks that the service names the zones around a vehicle's last place. */
async function wrongPresence(
  { access }: ExerciseContext,
  deviceID: string,
  zone: RoundZone,
): Promise<string | null> {
  const device = await read<ShownDevice>(access.service, `/device/getdevice/${deviceID}`);
  const { geozones } = await read<{ geozones: Readonly<Record<string, unknown>> }>(
    access.service,
    `/geozone/getgeozone/device/${deviceID}`,
  );
  const metres = distanceM(zone, {
    latitude: device.deviceLastValidLatitude,
    longitude: device.deviceLastValidLongitude,
  });
  if (Math.abs(metres - zone.radiusM) <= borderM) return null;
  const isIn = metres < zone.radiusM;
  const isNamed = Object.hasOwn(geozones, zone.geozoneID);
  return isIn === isNamed
    ? null
    : `${zone.geozoneID} is ${isNamed ? '' : 'not '}named as one that holds it, ${Math.round(metres)} m from the middle`;
}

export const exerciseZones: Exercise = async (context) => {
  const { access, changes, time } = context;
  const { service, target } = access;
  const { accountID, userID } = target.login;
  const findings = createFindings('zonesWrong');
  await post(service, '/settings/saveaccount', { settings: { zones: { dwellS } } });
  changes.push({ userID, action: 'settings.saveaccount', object: accountID });
  let zones: ReadonlyMap<string, RoundZone> = new Map();
  await eventually(context, async () => {
    zones = await createZones(context);
    return zones.size > 0;
  });
  const heldMs = new Map<string, number>();
  for (const deviceID of zones.keys()) {
    const isHeld = await eventually(context, async () => {
      const { configuration } = await readSettings(context, deviceID);
      return configuration.state === 'current';
    });
    if (isHeld) heldMs.set(deviceID, time.nowMs());
    else findings.look(deviceID, 'its geozones did not come to it in time');
  }
  return async ({ ledger }) => {
    const crossings = await readCrossings(context);
    for (const [deviceID, zone] of zones) {
      for (const vehicle of ledger.vehicles.values()) {
        const isOwn = vehicle.deviceID === deviceID;
        const records = isOwn ? await readHistory(service, deviceID) : [];
        const compared = judgeZone(vehicle, {
          zone,
          heldMs: isOwn ? (heldMs.get(deviceID) ?? null) : null,
          dwellMs: dwellS * 1000,
          crossings: crossings.filter(
            (one) => one.deviceID === vehicle.deviceID && one.geozoneID === zone.geozoneID,
          ),
          records,
        });
        for (const words of compared) findings.look(vehicle.deviceID, words);
      }
      findings.look(deviceID, await wrongPresence(context, deviceID, zone));
    }
    return findings.outcome();
  };
};
