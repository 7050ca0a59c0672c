// One call with each client that a generator made of the OpenAPI document: the test compiles it strictly, and it never runs.
import { getDevice as getByHeyApi } from './hey-api/index.js';
import { getDevice as getByOazapfts } from './oazapfts.js';
import { getDevice as getByOrval } from './orval.js';
import { Api } from './swagger-typescript-api/client.js';

type Speed = number | null | undefined;

const heyApi = await getByHeyApi({ path: { deviceID: 'truck-17' } });
const oazapfts = await getByOazapfts('truck-17');
const orval = await getByOrval('truck-17');
const swagger = await new Api().api.getDevice('truck-17');

export const speeds: readonly Speed[] = [
  heyApi.data?.deviceLastValidSpeed,
  oazapfts.status === 200 ? oazapfts.data.deviceLastValidSpeed : undefined,
  orval.status === 200 ? orval.data.deviceLastValidSpeed : undefined,
  swagger.data.deviceLastValidSpeed,
];

// What the types must not let through.
export const mistakes = [
  // @ts-expect-error the device is missing
  () => getByHeyApi({}),
  // @ts-expect-error an id is text
  () => getByOazapfts(17),
  // @ts-expect-error a device has no colour of that name
  () => getByOrval('truck-17').then((answer) => answer.status === 200 && answer.data.colour),
  // @ts-expect-error an id is text
  () => new Api().api.getDevice(17),
];
