// Reads all other views of its vehicles at the end of a run: history, exports, present, commands, alerts and inbox. Of a large
// fleet some vehicles are read, evenly spread over it.
import type { ShownEvent } from '../../core/ledger/ledger-types.ts';
import type {
  AlertViews,
  ShownCommand,
  ShownDevice,
  ShownFeature,
  ShownNotice,
  ShownPoint,
  ShownStop,
  ShownSummary,
  ShownTrip,
  VehicleViews,
} from '../../core/ledger/shown-views.ts';
import { forAll } from '../shared/for-all.ts';
import type { Service } from './service.ts';

/** Vehicles of which everything is read. */
const vehiclesMost = 40;

/** Commands of a vehicle that are compared: the newest. */
const commandsMost = 500;
/** Exports and long lists hold places of the account: no more at a time. */
const atOnce = 2;

/** Evenly spread ones of a list. */
export function spreadOf<T>(all: readonly T[]): readonly T[] {
  const step = Math.max(1, all.length / vehiclesMost);
  return all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
}

interface Records {
  readonly eventdata: { readonly devices: readonly ShownEvent[] };
}

/** Epoch seconds of a written time. */
const writtenS = (time: string): number => Math.floor(Date.parse(time) / 1000);

/** Cells of a line of CSV (RFC 4180). */
function cellsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  );
}

function linesOf(csv: string): readonly Readonly<Record<string, string>>[] {
  const [head = '', ...lines] = csv
    .replace(/^\ufeff/, '')
    .split('\r\n')
    .filter((line) => line !== '');
  const names = cellsOf(head);
  return lines.map((line) => {
    const cells = Object.fromEntries(cellsOf(line).map((cell, at) => [names[at] ?? '', cell]));
    return { ...cells, time: String(writtenS(cells['time'] ?? '')) };
  });
}

interface Feature {
  readonly geometry: { readonly coordinates: readonly [longitude: number, latitude: number] } | null;
  readonly properties: { readonly time: string } & Pick<
    ShownFeature,
    'timestamp' | 'creationTime' | 'statusCode'
  > & { readonly eventID?: string };
}

/** The records of GeoJSON; lines have no `eventID`. */
const featuresOf = (geojson: string): readonly ShownFeature[] =>
  (JSON.parse(geojson) as { readonly features: readonly Feature[] }).features.flatMap(
    ({ geometry, properties: { eventID, time, timestamp, creationTime, statusCode } }) => {
      if (eventID === undefined) return [];
      const [longitude = 0, latitude = 0] = geometry?.coordinates ?? [];
      const place = geometry === null ? null : { latitude, longitude };
      return [{ eventID, place, writtenS: writtenS(time), timestamp, creationTime, statusCode }];
    },
  );

const pointsOf = (gpx: string): readonly ShownPoint[] =>
  [...gpx.matchAll(/<trkpt lat="([^"]*)" lon="([^"]*)">.*?<time>([^<]*)<\/time>/g)].map(
    ([, latitude, longitude, time = '']) => ({
      latitude: Number(latitude),
      longitude: Number(longitude),
      timestamp: writtenS(time),
    }),
  );

async function readVehicle(
  service: Service,
  deviceID: string,
  of: { readonly records: readonly ShownEvent[]; readonly listed: ShownDevice | null },
): Promise<VehicleViews> {
  const whole = `${deviceID}/0/0/authorization`;
  const [history, latest, metadata, csv, geojson, gpx, device, commands] = await Promise.all([
    service.call<Records>({ path: `/eventdata/devicedata/${whole}` }),
    service.call<Records>({ path: `/eventdata/latest/${deviceID}/authorization` }),
    service.call<{ readonly metadata: VehicleViews['pins'] }>({
      path: `/eventdata/devicemetadata/${whole}`,
    }),
    service.text(`/export/csv/${whole}`),
    service.text(`/export/geojson/${whole}`),
    service.text(`/export/gpx/${whole}`),
    service.call<ShownDevice>({ path: `/device/getdevice/${deviceID}/authorization` }),
    service.call<{ readonly commands: readonly ShownCommand[] }>({
      path: `/command/list/${deviceID}/authorization?limit=${commandsMost}`,
    }),
  ]);
  const { trips } = await service.call<{ readonly trips: readonly ShownTrip[] }>({
    path: `/report/trips/${whole}`,
  });
  const { stops } = await service.call<{ readonly stops: readonly ShownStop[] }>({
    path: `/report/stops/${whole}`,
  });
  const { devices: summary } = await service.call<{ readonly devices: readonly ShownSummary[] }>({
    path: `/report/summary/${whole}`,
  });
  return {
    deviceID,
    ...of,
    history: history.eventdata.devices,
    latest: latest.eventdata.devices[0] ?? null,
    pins: metadata.metadata,
    csv: linesOf(csv),
    geojson: featuresOf(geojson),
    gpx: pointsOf(gpx),
    device,
    commands: commands.commands,
    trips,
    stops,
    summary,
  };
}

/**
 * Reads all about these vehicles.
 * @param records of each of them, as the listing of the fleet gave them.
 */
export async function readVehicleViews(
  service: Service,
  records: ReadonlyMap<string, readonly ShownEvent[]>,
): Promise<readonly VehicleViews[]> {
  const { devices } = await service.call<{ readonly devices: readonly ShownDevice[] }>({
    path: '/device/getalldevices/authorization',
  });
  const listed = new Map(devices.map((device) => [device.deviceID, device]));
  const views: VehicleViews[] = [];
  const read = async ([deviceID, own]: readonly [string, readonly ShownEvent[]]): Promise<void> => {
    views.push(await readVehicle(service, deviceID, { records: own, listed: listed.get(deviceID) ?? null }));
  };
  await forAll([...records], read, atOnce);
  return views;
}

export async function readAlertViews(service: Service): Promise<AlertViews> {
  const [alerts, summary, inbox] = await Promise.all([
    service.call<Records>({ path: '/events/activations/authorization' }),
    service.call<AlertViews['summary']>({ path: '/events/activations/summary/authorization' }),
    service.call<{ readonly notifications: readonly ShownNotice[] }>({
      path: '/notification/getallpushnotifications/authorization',
    }),
  ]);
  return { alerts: alerts.eventdata.devices, summary, inbox: inbox.notifications };
}
