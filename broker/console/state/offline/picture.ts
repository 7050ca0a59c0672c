// The last picture of the fleet, as it is kept for a start without network: no more of a vehicle than map and list show of it. Pure.
import { noVehicle, type Vehicle, worstFirst } from '../fleet.ts';

/** What is kept of a vehicle: no driver, no address. */
const keptMembers = [
  'id',
  'name',
  'place',
  'speed',
  'heading',
  'fixS',
  'heartbeatS',
  'cutoff',
  'isOnline',
  'isDoubtful',
  'alarm',
] as const satisfies readonly (keyof Vehicle)[];

export type KeptVehicle = Pick<Vehicle, (typeof keptMembers)[number]>;

export interface PictureOwner {
  readonly accountID: string;
  readonly userID: string;
}

export interface Picture extends PictureOwner {
  /** A picture of another form is none. */
  readonly form: typeof form;
  /** When the service last gave a sign of life, ms since 1970 by the clock of this computer. */
  readonly atMs: number;
  /** Vehicles that there were; `vehicles` may hold fewer. */
  readonly total: number;
  /** Worst first. */
  readonly vehicles: readonly KeptVehicle[];
}

const form = 1;
export const pictureLimits = { vehicles: 10_000, ageMs: 24 * 3600 * 1000 } as const;
/** The clock may be set back by so much before the age counts as unknown, ms. */
const clockFaultMs = 60_000;

const keptOf = (vehicle: Vehicle): KeptVehicle =>
  Object.fromEntries(keptMembers.map((name) => [name, vehicle[name]])) as unknown as KeptVehicle;

export function pictureOf(owner: PictureOwner, fleet: readonly Vehicle[], atMs: number): Picture {
  const { accountID, userID } = owner;
  const vehicles = worstFirst(fleet).slice(0, pictureLimits.vehicles).map(keptOf);
  return { form, accountID, userID, atMs, total: fleet.length, vehicles };
}

/** As map and list take them. What is not kept is unknown. */
export const vehiclesOf = ({ vehicles }: Picture): readonly Vehicle[] =>
  vehicles.map((kept) => ({ ...noVehicle, ...kept }));

/** Seconds since the picture; null: the clock of this computer was set back since. */
export function ageOf({ atMs }: Picture, nowMs: number): number | null {
  return atMs > nowMs + clockFaultMs ? null : Math.max(0, (nowMs - atMs) / 1000);
}

/**
 * What may be shown of what was kept.
 * @param kept as it was read; what has another form counts as absent.
 * @param owner whose picture may be shown; null: of no user.
 */
export function shownPicture(kept: unknown, owner: PictureOwner | null, nowMs: number): Picture | null {
  const picture = kept as Partial<Picture> | null | undefined;
  if (owner === null || picture?.form !== form || !Array.isArray(picture.vehicles)) return null;
  const { accountID, userID, atMs = 0 } = picture;
  if (accountID !== owner.accountID || userID !== owner.userID) return null;
  return nowMs - atMs > pictureLimits.ageMs ? null : (picture as Picture);
}

/** Whether the picture of a user is kept on this device; `installed`: while the console runs as an installed app. */
export const keepings = ['on', 'installed', 'off'] as const;
export type Keeping = (typeof keepings)[number];

/** The last signed-in user of this device, with the choice whether a picture is kept. */
export interface DeviceOwner extends PictureOwner {
  readonly keeping: Keeping;
}

/** @returns null for what names no user. */
export function parseDeviceOwner(text: string | null): DeviceOwner | null {
  const [accountID, userID, last, ...rest] = (text ?? '').split(' ');
  const keeping = keepings.find((one) => one === last);
  if (!accountID || !userID || keeping === undefined || rest.length > 0) return null;
  return { accountID, userID, keeping };
}

export const deviceOwnerText = ({ accountID, userID, keeping }: DeviceOwner): string =>
  [accountID, userID, keeping].join(' ');

export const isSameOwner = (one: PictureOwner | null, other: PictureOwner | null): boolean =>
  one !== null && other !== null && one.accountID === other.accountID && one.userID === other.userID;
