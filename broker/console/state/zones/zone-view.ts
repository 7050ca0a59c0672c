// Actions of a geozone, and the vehicles in it now, by the code of the vehicles. Pure.
import type { Point } from '../../../../src/core/geo/geo.ts';
import { type Zone, type ZoneSwitch, zoneContains, zoneSwitches } from '../../../../src/core/geo/geozone.ts';
import type { Body, Geozone } from '../../api/operations.ts';
import type { Vehicle } from '../fleet.ts';
import { draftText } from './zone-draft.ts';
import { zoneOf } from './zone-geometry.ts';
import { zoneName } from './zone-name.ts';

export const moments = ['arrival', 'departure'] as const;
export type Moment = (typeof moments)[number];
/** Objects of a zone's actions, with the two actions that exclude each other. */
export const zoneParts = {
  Engine: ['EngineOff', 'EngineOn'],
  Cargo: ['CargoLock', 'CargoUnlock'],
  Cabin: ['CabinLock', 'CabinUnlock'],
} as const;
export type ZonePart = keyof typeof zoneParts;
export type ZoneAct = (typeof zoneParts)[ZonePart][number];

export const switchOf = (moment: Moment, act: ZoneAct): ZoneSwitch => `${moment}${act}`;

type Member = `geozone${Capitalize<ZoneSwitch>}`;
const memberOf = (name: ZoneSwitch): Member =>
  `geozone${name.slice(0, 1).toUpperCase()}${name.slice(1)}` as Member;

/** Requests spell one word otherwise than answers. */
type SentMember =
  | Exclude<Member, `${string}Unlock`>
  | `geozone${'Arrival' | 'Departure'}${'Cabin' | 'Cargo'}UnLock`;
const sentMemberOf = (name: ZoneSwitch): SentMember =>
  memberOf(name).replace(/Unlock$/, 'UnLock') as SentMember;

export const switchesOf = (zone: Geozone): ReadonlySet<ZoneSwitch> =>
  new Set(zoneSwitches.filter((name) => zone[memberOf(name)]));

/** Results of a crossing besides its record. */
export const notices = ['nothing', 'notification', 'alarm'] as const;
export type Notice = (typeof notices)[number];

const noticeSwitches = {
  arrival: { alert: 'alertEntry', alarm: 'alarmEntry' },
  departure: { alert: 'alertExit', alarm: 'alarmExit' },
} as const;

export const isNotice = (name: ZoneSwitch): boolean => name.startsWith('alert') || name.startsWith('alarm');

export function noticeOf(switches: ReadonlySet<ZoneSwitch>, moment: Moment): Notice {
  const { alert, alarm } = noticeSwitches[moment];
  return switches.has(alarm) ? 'alarm' : switches.has(alert) ? 'notification' : 'nothing';
}

/** Switches that move a lock or open the engine's circuit: they are looked at twice. The release of an engine is never in the way. */
export const needsLook = (name: ZoneSwitch): boolean => !isNotice(name) && !name.endsWith('EngineOn');

const searchedOf = ({ geozoneID, geozoneDisplayName, geozoneDescription }: Geozone): string =>
  [geozoneID, geozoneDisplayName, geozoneDescription].join('\n').toLowerCase();

/** Those that match, by name. */
export const zonesFound = (zones: readonly Geozone[], text: string): readonly Geozone[] =>
  zones
    .filter((zone) => searchedOf(zone).includes(text.trim().toLowerCase()))
    .toSorted((one, other) => zoneName(one).localeCompare(zoneName(other)));

const pointOf = ([longitude, latitude]: readonly [number, number]): Point => ({ latitude, longitude });

/** Vehicles whose last position is in the zone. Plain geometry: at a border a vehicle itself waits until it is sure. */
export const vehiclesIn = (zone: Zone, vehicles: readonly Vehicle[]): readonly Vehicle[] =>
  vehicles.filter(({ place }) => place !== null && zoneContains(zone, pointOf(place)));

export interface ZoneForm {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly switches: ReadonlySet<ZoneSwitch>;
}

export const formOf = (zone: Geozone | undefined): ZoneForm => ({
  id: zone?.geozoneID ?? '',
  name: zone?.geozoneDisplayName ?? '',
  description: zone?.geozoneDescription ?? '',
  switches: zone === undefined ? new Set() : switchesOf(zone),
});

/** The form after one of the acts of a part, or none, was chosen for a moment. */
export function withAct(
  form: ZoneForm,
  { moment, part, act }: { moment: Moment; part: ZonePart; act: ZoneAct | null },
): ZoneForm {
  const switches = new Set(form.switches);
  for (const one of zoneParts[part]) switches.delete(switchOf(moment, one));
  if (act !== null) switches.add(switchOf(moment, act));
  return { ...form, switches };
}

export function withNotice(form: ZoneForm, moment: Moment, notice: Notice): ZoneForm {
  const switches = new Set(form.switches);
  const { alert, alarm } = noticeSwitches[moment];
  for (const [name, isOn] of [[alert, notice !== 'nothing'] as const, [alarm, notice === 'alarm'] as const]) {
    if (isOn) switches.add(name);
    else switches.delete(name);
  }
  return { ...form, switches };
}

const pointNumbers = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** Request body: members that differ from the read zone; all of a new one. */
export function changeOf(form: ZoneForm, draft: Zone, before: Geozone | undefined): Body<'createGeozone'> {
  const body: { -readonly [K in keyof Body<'createGeozone'>]: Body<'createGeozone'>[K] } = {
    geozoneID: form.id,
  };
  const known = formOf(before);
  if (form.name !== known.name) body.geozoneDisplayName = form.name;
  if (form.description !== known.description) body.geozoneDescription = form.description;
  for (const name of zoneSwitches) {
    if (form.switches.has(name) !== known.switches.has(name))
      body[sentMemberOf(name)] = form.switches.has(name);
  }
  if (before !== undefined && draftText(zoneOf(before)) === draftText(draft)) return body;
  body.geozoneType = draft.type;
  body.geozoneRadius = draft.radiusM;
  for (const number of pointNumbers) {
    const point = draft.points[number - 1];
    body[`geozonePoint${number}`] =
      point === undefined ? '' : `${point.latitude.toFixed(5)},${point.longitude.toFixed(5)}`;
  }
  return body;
}
