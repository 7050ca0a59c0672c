// What is kept of the fleet for a start without network, whose it is, how old it may be; and what the wallboard shows. Pure functions of the console.
import { describe, expect, it } from 'vitest';
import type { Alarm } from '../../broker/console/api/operations.ts';
import { noVehicle, type Vehicle } from '../../broker/console/state/fleet.ts';
import { vehicleOf } from '../../broker/console/state/fleet-messages.ts';
import {
  ageOf,
  deviceOwnerText,
  parseDeviceOwner,
  pictureLimits,
  pictureOf,
  shownPicture,
  vehiclesOf,
} from '../../broker/console/state/offline/picture.ts';
import {
  boardAlarms,
  boardOrders,
  parseBoardToken,
  refusalOf,
  rowsMost,
  type TokenEntry,
} from '../../broker/console/state/wallboard/board-view.ts';

const owner = { accountID: 'acme', userID: 'olga' };
const atMs = 1_763_683_200_000;
const van: Vehicle = {
  ...noVehicle,
  id: 'van-01',
  name: 'Van 1',
  driver: 'Jane Roe',
  address: '1 Some Street',
  place: [9.9, 53.5],
  speed: 38,
  isOnline: true,
};

describe('the picture of the fleet', () => {
  it('holds places, states and times, and neither drivers nor addresses', () => {
    const picture = pictureOf(owner, [van], atMs);
    expect(JSON.stringify(picture)).not.toMatch(/Jane|Street/);
    expect(vehiclesOf(picture)).toEqual([{ ...van, driver: '', address: '' }]);
    expect(shownPicture(structuredClone(picture), owner, atMs + 1000)).toEqual(picture);
  });

  it('is shown to nobody but its user, and to nobody without one', () => {
    const picture = pictureOf(owner, [van], atMs);
    expect(shownPicture(picture, { ...owner, userID: 'pavel' }, atMs)).toBeNull();
    expect(shownPicture(picture, { ...owner, accountID: 'other' }, atMs)).toBeNull();
    expect(shownPicture(picture, null, atMs)).toBeNull();
  });

  it('is not shown when it is older than a day, or of another form', () => {
    const picture = pictureOf(owner, [van], atMs);
    expect(shownPicture(picture, owner, atMs + pictureLimits.ageMs)).not.toBeNull();
    expect(shownPicture(picture, owner, atMs + pictureLimits.ageMs + 1)).toBeNull();
    for (const kept of [undefined, null, 'x', {}, { ...picture, form: 0 }, { ...picture, vehicles: null }])
      expect(shownPicture(kept, owner, atMs)).toBeNull();
  });

  it('has an unknown age when the clock was set back, and never a negative one', () => {
    const picture = pictureOf(owner, [], atMs);
    expect(ageOf(picture, atMs + 35 * 60_000)).toBe(2100);
    expect(ageOf(picture, atMs - 5000)).toBe(0);
    expect(ageOf(picture, atMs - 3_600_000)).toBeNull();
  });

  it('is bounded: the most urgent vehicles are kept, and how many there were', () => {
    const alarm = { alarmID: '1', statusCode: 63_553, priority: 'critical', hasOwner: false } as const;
    const fleet = Array.from({ length: pictureLimits.vehicles + 5 }, (_, at) => ({ ...van, id: `v${at}` }));
    const picture = pictureOf(owner, [...fleet, { ...van, id: 'urgent', alarm }], atMs);
    expect(picture.vehicles).toHaveLength(pictureLimits.vehicles);
    expect(picture.total).toBe(pictureLimits.vehicles + 6);
    expect(picture.vehicles[0]?.id).toBe('urgent');
  });

  it('belongs to the user who signed in last on the device, whose choice is read strictly', () => {
    const kept = { ...owner, keeping: 'on' } as const;
    expect(parseDeviceOwner(deviceOwnerText(kept))).toEqual(kept);
    for (const text of [null, '', 'acme', 'acme olga', 'acme olga maybe', ' olga on', 'acme olga on more'])
      expect(parseDeviceOwner(text)).toBeNull();
  });
});

describe('the wallboard', () => {
  const alarmOf = (change: Partial<Alarm>): Alarm =>
    ({ alarmID: '1', priority: 'high', alarmState: 'new', opened: 1, ...change }) as Alarm;

  it('shows new and taken alarms, the most urgent first, and counts the others', () => {
    const all = [
      alarmOf({ alarmID: '1', priority: 'low' }),
      alarmOf({ alarmID: '2', alarmState: 'shelved' }),
      alarmOf({ alarmID: '3', alarmState: 'taken', priority: 'critical' }),
      ...Array.from({ length: 9 }, (_, at) => alarmOf({ alarmID: String(at + 10), priority: 'critical' })),
    ];
    const { shown, count, shelved } = boardAlarms(all);
    expect(shown).toHaveLength(rowsMost.alarms);
    expect(shown.every(({ priority, alarmState }) => priority === 'critical' && alarmState === 'new')).toBe(
      true,
    );
    expect([count, shelved]).toEqual([11, 1]);
  });

  it('shows each order that waits, cuts and restores, cargo locked and unlocked', () => {
    const of = (enginecutoff: object, cargoaccess: object): Vehicle =>
      vehicleOf({ deviceID: 'van-01', state: { enginecutoff, cargoaccess } } as never, undefined);
    const none = { pendingState: null, commandState: null };
    expect(boardOrders([of(none, none)])).toEqual([]);
    const both = of(
      { pendingState: '1', commandState: 'approval' },
      { pendingState: '0', commandState: 'sent' },
    );
    expect(boardOrders([both]).map(({ asked, state, vehicleName }) => [asked, state, vehicleName])).toEqual([
      ['cut', 'approval', 'van-01'],
      ['lock', 'sent', 'van-01'],
    ]);
    expect(boardOrders([of({ pendingState: '0', commandState: 'armed' }, none)])[0]?.asked).toBe('restore');
  });

  it('takes a token that may read and nothing else', () => {
    const entry = (change: Partial<TokenEntry>): TokenEntry =>
      ({ kind: 'api', scopes: ['read'], ...change }) as TokenEntry;
    expect(refusalOf(entry({}))).toBeNull();
    expect(refusalOf(entry({ kind: 'login' }))).toBe('login');
    expect(refusalOf(undefined)).toBe('login');
    expect(refusalOf(entry({ scopes: ['read', 'command'] }))).toBe('scopes');
    expect(refusalOf(entry({ scopes: ['write'] }))).toBe('scopes');
  });

  it('reads a whole token as it was pasted, or from an address, and nothing else', () => {
    const random = 'a1'.repeat(32);
    const expected = { token: `acme%7Cscreens%7C${random}`, accountID: 'acme', userID: 'screens' };
    for (const text of [
      expected.token,
      ` ${expected.token}\n`,
      `#${expected.token}`,
      `acme|screens|${random}`,
    ])
      expect(parseBoardToken(text)).toEqual(expected);
    for (const text of ['', '#', 'acme', `share-${random}`, expected.token.slice(0, -1), `acme%7C${random}`])
      expect(parseBoardToken(text)).toBeNull();
  });
});
