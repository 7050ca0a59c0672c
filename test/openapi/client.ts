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

const latitude: number | undefined = before.data?.deviceLastValidLatitude;
const pending: string | null | undefined = after.data?.state.cargoaccess.pendingState;
console.log(
  JSON.stringify({
    devices: fleet.data?.devices.map((device) => device.deviceID),
    latitude,
    commandState: command.data?.commandState,
    pending,
    isSame: after.data?.state.cargoaccess.commandID === command.data?.commandID,
    unknown: [unknown.response.status, unknown.error?.error.code],
  }),
);
