// One definition of a table: its DDL, its records and its marks.
import { expect, it } from 'vitest';
import {
  flagOf,
  numberOrZero,
  readNumber,
  readTexts,
  textOf,
  textOrEmpty,
} from '../../broker/store/base/row.ts';
import { assignments, column, givenAssignments, shape, table } from '../../broker/store/base/table.ts';
import type { Database, Row } from '../../src/ports.ts';

const trucks = table(
  'trucks',
  {
    truckNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
    truckID: "TEXT NOT NULL DEFAULT ''",
    kind: "TEXT NOT NULL CHECK (kind IN ('van', 'semi'))",
    lastSeenMs: 'BIGINT',
    heldSha256: column('TEXT', 'hidden'),
    isParked: column('INTEGER NOT NULL', flagOf, 'shown'),
    paint: column('TEXT', 'edited', 'shown'),
    seats: column('INTEGER', numberOrZero, 'edited'),
  },
  'UNIQUE (truck_id)',
);
const row: Row = {
  truck_no: '7',
  truck_id: 'a',
  kind: 'van',
  last_seen_ms: null,
  is_parked: 1,
  paint: null,
  seats: null,
};
const giving = (...rows: readonly Row[]): Database => ({
  read: async () => rows,
  write: async () => [],
  close: async () => {},
});
const any = { sql: 'SELECT', params: [] };

it('makes the DDL of its columns and constraints', () => {
  expect(trucks.create.sql.replace(/\s+/g, ' ')).toBe(
    "CREATE TABLE trucks ( truck_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, truck_id TEXT NOT NULL DEFAULT '', " +
      "kind TEXT NOT NULL CHECK (kind IN ('van', 'semi')), last_seen_ms BIGINT, held_sha256 TEXT, " +
      'is_parked INTEGER NOT NULL, paint TEXT, seats INTEGER, UNIQUE (truck_id))',
  );
  expect(trucks.createAs('trucks_2').sql).toMatch(/^CREATE TABLE trucks_2 \(/);
});

it('makes records of rows, without what is hidden', async () => {
  const kind: 'van' | 'semi' = trucks.toRecord(row).kind;
  const record = { truckNo: 7, truckID: 'a', kind, lastSeenMs: null, isParked: true, paint: null, seats: 0 };
  expect(trucks.toRecord(row)).toEqual(record);
  expect(await trucks.all(giving(row, row))(any)).toEqual([record, record]);
  expect(await trucks.first(giving(row))(any)).toEqual(record);
  expect(await trucks.first(giving())(any)).toBeNull();
});

it('refuses a row without one of its columns, and NULL where it cannot be', () => {
  const { paint: _paint, ...others } = row;
  expect(() => trucks.toRecord(others)).toThrow(/no column "paint"/);
  expect(() => trucks.toRecord({ ...row, truck_id: null })).toThrow(/"truck_id" is NULL/);
});

it('reads other columns of a query in a shape', () => {
  const named = shape({ ...trucks.columns, name: (all) => `${textOf(all, 'kind')}!`, note: textOrEmpty });
  expect(named.toRecord({ ...row, note: null })).toMatchObject({ truckID: 'a', name: 'van!', note: '' });
});

it('lists the members with a mark in order, and assigns what is given', () => {
  expect(trucks.marked('shown')).toEqual(['isParked', 'paint']);
  const edited = trucks.marked('edited');
  const other = { paint: 'red', seats: undefined, truckID: 'b' };
  expect(assignments(edited, other)).toEqual([{ sql: 'paint = $1', params: ['red'] }]);
  expect(assignments(['isParked'], { isParked: false })).toEqual([{ sql: 'is_parked = $1', params: [0] }]);
  expect(givenAssignments(edited, { seats: 2 })).toEqual({
    sql: 'paint = COALESCE($1, paint), seats = COALESCE($2, seats)',
    params: [null, 2],
  });
});

it('reads the only column of a query, and refuses several', async () => {
  expect(await readNumber(giving({ count: '3' }))(any)).toBe(3);
  expect(await readNumber(giving())(any)).toBeNull();
  expect(await readTexts(giving({ id: 'a' }, { id: 'b' }))(any)).toEqual(['a', 'b']);
  await expect(readNumber(giving({ count: 3, other: 1 }))(any)).rejects.toThrow(/one column.*count, other/);
});
