// A program as an integrator writes it: types generated from the OpenAPI document, requests by openapi-fetch. The test
// compiles it strictly and runs it; it must use nothing but what the document says.
import createClient from 'openapi-fetch';
import type { paths } from './service.d.ts';

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
const { SERVICE_URL: baseUrl = '', SERVICE_PASSWORD: password = '' } = process.env;
const deviceID = 'truck-17';

const stranger = createClient<paths>({ baseUrl });
const login = await stranger.POST('/api/v1/auth/login', {
  body: { accountID: 'acme', userID: 'dispatch', password },
});
if (login.error !== undefined) throw new Error(login.error.error.detail);

const client = createClient<paths>({ baseUrl, headers: { authorization: login.data.token } });
const fleet = await client.GET('/api/v1/device/getalldevices/authorization');
const before = await client.GET('/api/v1/device/getdevice/{deviceID}/authorization', {
  params: { path: { deviceID } },
});
const command = await client.POST('/api/v1/command/feature/authorization', {
  body: { deviceID, feature: 'cargoaccess', state: '1', reason: 'loading' },
});
const after = await client.GET('/api/v1/device/getdevice/{deviceID}/authorization', {
  params: { path: { deviceID } },
});
const unknown = await client.GET('/api/v1/device/getdevice/{deviceID}/authorization', {
  params: { path: { deviceID: 'no-such-device' } },
});

// What the types must not let through. These never run.
export const mistakes = [
  // @ts-expect-error there is no such path
  () => client.GET('/api/v1/device/getdevices/authorization'),
  // @ts-expect-error the device is missing
  () => client.GET('/api/v1/device/getdevice/{deviceID}/authorization'),
  // @ts-expect-error an id is text
  () => client.POST('/api/v1/device/createdevice/authorization', { body: { deviceID: 17 } }),
  // @ts-expect-error a device has no colour of that name
  () => before.data?.colour,
];

// Items of lists are of one type each, whose members can be read without asking which of several it is.
type Answer<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer T } } } };
}
  ? T
  : never;
type FleetItem = Answer<'/api/v1/device/getalldevices/authorization'>['devices'][number];
const positionOf = (item: FleetItem): string => {
  const { deviceLastValidLatitude = 0, deviceLastValidLongitude = 0, sensors } = item;
  return `${item.deviceID} ${deviceLastValidLatitude} ${deviceLastValidLongitude} ${sensors?.ignition.state ?? '-'}`;
};
type EventItem =
  Answer<'/api/v1/eventdata/fleetmetadata/{startTime}/{endTime}/authorization'>['eventdata']['devices'][number];
const codeOf = ({ deviceID = '', statusCode = 0 }: EventItem): string =>
  `${deviceID} ${statusCode.toFixed(0)}`;
const events = await client.GET('/api/v1/eventdata/fleetmetadata/{startTime}/{endTime}/authorization', {
  params: { path: { startTime: '0', endTime: '0' } },
});
const metadata = await client.GET('/api/v1/eventdata/devicemetadata/{deviceID}/authorization', {
  params: { path: { deviceID } },
});
const narrow = await client.GET('/api/v1/device/getalldevices/authorization', {
  params: { query: { fields: 'deviceDriver' } },
});

const latitude: number | undefined = before.data?.deviceLastValidLatitude;
const pending: string | null | undefined = after.data?.state.cargoaccess.pendingState;
console.log(
  JSON.stringify({
    devices: fleet.data?.devices.map((device) => device.deviceID),
    position: fleet.data?.devices.map(positionOf).find((text) => text.startsWith(`${deviceID} `)),
    codes: events.data?.eventdata.devices.map(codeOf),
    counts: metadata.data?.metadata.map(({ count = '', isPositionValid = false }) => [
      count,
      isPositionValid,
    ]),
    drivers: narrow.data?.devices.every((item) => item.deviceDriver?.length === 0),
    latitude,
    commandState: command.data?.commandState,
    pending,
    isSame: after.data?.state.cargoaccess.commandID === command.data?.commandID,
    unknown: [unknown.response.status, unknown.error?.error.code],
  }),
);
