// Common parts of all listings of event records: time range, query, limit, cursor and pages. An answer is complete, rejected,
// or says `more`; it is never truncated silently.

import { type Static, Type } from 'typebox';
import { dayMs, hourMs } from '../../../src/core/durations.ts';
import { AppError } from '../../../src/core/errors.ts';
import { eventLimits } from '../../../src/core/events/event.ts';
import { aheadMostMs } from '../../core/events/projection.ts';
import { pageLimits } from '../../scheduling/per-account-limits.ts';
import type { EventKey, KeyRange, KeyStream } from '../../store/events/event-keys.ts';
import { type EventRecord, eventRecords, recordsPerRead } from '../../store/events/event-records.ts';
import { lastEventNo } from '../../store/slices/slices.ts';
import { viewEvent } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import { decodeCursor, encodeCursor } from '../base/cursor.ts';
import type { Pages } from '../base/operation.ts';
import { envelope, type ListedEvent, listedEvent } from '../base/shapes.ts';
import { zoneNames } from '../geozones/geozone-views.ts';

/** Most records of a page. */
const limitMost = 5000;
/** Longest `fields`: every member once, and then some. */
const fieldsLength = 512;

/** Opt-in query parameters of a listing. */
export const listQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,4}$',
        description: `Page size, 1 to ${limitMost}: the answer is then paged`,
      }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 128, description: '`next` of the page before' })),
    fields: Type.Optional(
      Type.String({
        maxLength: fieldsLength,
        description: 'Members of each record, with commas between them',
      }),
    ),
    since: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}$',
        description: 'Only records stored after: `upTo` of an earlier answer, or an id of the live stream',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListQuery = Static<typeof listQuery>;

/** Text on the query, for the descriptions of the operations. */
export const queryText = `**Paging, opt-in.** \`?limit=\` (1 to ${limitMost}) gives that many records and the members \`more\` and \`next\`;
send \`next\` back as \`?cursor=\` until \`more\` is false (a cursor alone gives pages of 1000). \`?fields=timestamp,speed\` gives
only these members of each record; an unknown one answers 422. \`?since=\` gives only records that were stored after that
number, whatever their event time, so late ones too: it is \`upTo\` of an earlier answer to any query with one of these
parameters, or an id of the live stream. A wrong cursor and any
other parameter answer 422.`;

/** What an answer without paging is. */
export const wholeListText = `Without them the answer is complete, however many records there are: it is as of the moment of the request, and
is sent while it is read. A fault on the way breaks the connection, so an answer that ended properly is complete. A client that takes
nothing for ${pageLimits.stalledMs / 1000} seconds is cut. More than ${pageLimits.answers.token} long answers of a token, ${pageLimits.answers.user} of a user or ${pageLimits.answers.account} of an account at once answer 503 \`throttled\`.`;

export const recordMembers: readonly string[] = Object.keys(listedEvent.properties);

/** Records, whole or with some of their members. */
export const eventList = Type.Object(
  {
    devices: Type.Array(listedEvent, {
      description: 'Records in the order of event time; with `fields` only the members asked for',
    }),
  },
  { description: 'Records' },
);

/** Members that a paged answer has besides. */
export const pageMembers = {
  more: Type.Optional(
    Type.Boolean({ description: 'With `limit` or `cursor`: whether there are further records' }),
  ),
  next: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'With `limit` or `cursor`: the cursor of the next page; null at the end',
    }),
  ),
  upTo: Type.Optional(
    Type.String({
      description:
        'With any of the query parameters: number of the newest record of the service, for `since`',
    }),
  ),
} as const;

/** `status_code`, `success`, `eventdata` and, where asked for, the place of the page. */
export const eventListAnswer = Type.Object({ ...envelope, eventdata: eventList, ...pageMembers });

/** Epoch seconds in a path; 0 is a wildcard. Ten digits reach the year 2286. */
const epochText = (wildcard: string) =>
  Type.String({ pattern: '^[0-9]{1,10}$', description: `Epoch seconds; 0 = ${wildcard}` });

/** Path variables of a time range. */
export const rangeParams = { startTime: epochText('from the beginning'), endTime: epochText('now') } as const;

/** A span of event time. */
export type Span = Pick<KeyRange, 'fromMs' | 'toMs' | 'plausibleMs'>;

/** No event has a later time. */
const latestMs = eventLimits.timestamp + 999;

/** @throws AppError `invalid_content` when the ends are exchanged. */
export function spanOf(params: { readonly startTime: string; readonly endTime: string }): Span {
  const startS = Number(params.startTime);
  const endS = Number(params.endTime);
  if (endS !== 0 && startS > endS) {
    throw new AppError('invalid_content', 'startTime is after endTime', {
      details: [{ pointer: '/startTime', message: 'must not be after endTime' }],
    });
  }
  // No upper end for 0: an alarm of a vehicle whose clock runs ahead is shown too.
  const toMs = endS === 0 ? latestMs : Math.min(latestMs, endS * 1000 + 999);
  return { fromMs: startS * 1000, toMs, plausibleMs: latestMs };
}

/**
 * A period of limited length, up to now where endTime is 0. It begins at `firstMs`, where the first record is, when
 * startTime is 0.
 * @throws AppError `invalid_content` when it is longer than `daysMost`, or its ends are exchanged.
 */
export function periodOf(
  { clock }: Pick<ApiServices, 'clock'>,
  given: {
    readonly startTime: string;
    readonly endTime: string;
    readonly firstMs: number | null;
    readonly daysMost: number;
  },
): Span {
  const { startTime, endTime, firstMs, daysMost } = given;
  const nowMs = Math.round(clock.utcMs());
  const span = spanOf(given);
  const toMs = endTime === '0' ? nowMs : span.toMs;
  const fromMs = Number(startTime) === 0 ? (firstMs ?? toMs) : span.fromMs;
  // Days as the calendar counts them: the clock may be put back within them.
  if (toMs - fromMs > daysMost * dayMs + hourMs) {
    throw new AppError('invalid_content', `The period is longer than ${daysMost} days`, {
      details: [{ pointer: '/startTime', message: `must be within ${daysMost} days of endTime` }],
      hint: 'Ask for several shorter periods.',
    });
  }
  return { fromMs, toMs, plausibleMs: nowMs + aheadMostMs };
}

/** The last 24 hours; what a clock that ran ahead has stamped counts by its arrival, for a day and not until its time comes. */
export function lastDay({ clock }: Pick<ApiServices, 'clock'>): Span {
  const nowMs = Math.round(clock.utcMs());
  return { fromMs: nowMs - dayMs, toMs: latestMs, plausibleMs: nowMs + aheadMostMs };
}

export interface Selection {
  /** Path of the listing with its variables filled in: a cursor fits no other. */
  readonly subject: string;
  readonly span: Span;
  readonly query: ListQuery;
  readonly open: (range: KeyRange) => KeyStream;
}

/** Members of an answer that say where its page stands. */
export interface ListPage {
  readonly more?: boolean;
  readonly next?: string | null;
  readonly upTo?: string;
}

export interface Listing {
  /** Numbers of the records in order, some at a time; each call reads the same ones again. */
  readonly numbers: () => AsyncIterable<readonly number[]>;
  readonly page: ListPage;
  /** Null: all. */
  readonly fields: ReadonlySet<string> | null;
}

async function take(stream: KeyStream, most: number): Promise<readonly EventKey[]> {
  const found: EventKey[] = [];
  for await (const keys of stream) {
    for (const key of keys) if (found.length < most) found.push(key);
    if (found.length >= most) break;
  }
  return found;
}

async function* numbersOf(stream: KeyStream): AsyncGenerator<readonly number[]> {
  for await (const keys of stream) yield keys.map(({ eventNo }) => eventNo);
}

function limitOf({ limit, cursor }: ListQuery): number | null {
  if (limit === undefined) return cursor === undefined ? null : 1000;
  const count = Number(limit);
  if (count >= 1 && count <= limitMost) return count;
  throw new AppError('invalid_content', `limit must be 1 to ${limitMost}`, {
    details: [{ pointer: '/limit', message: `must be 1 to ${limitMost}` }],
  });
}

function fieldsOf({ fields }: ListQuery, members: readonly string[]): ReadonlySet<string> | null {
  if (fields === undefined) return null;
  const wanted = fields.split(',');
  const unknown = wanted.find((name) => !members.includes(name));
  if (unknown === undefined) return new Set(wanted);
  throw new AppError('invalid_content', `A record has no member ${JSON.stringify(unknown)}`, {
    details: [{ pointer: '/fields', message: `must be some of ${members.join()}` }],
  });
}

interface ListRequest {
  /** Null: no page was asked for. */
  readonly limit: number | null;
  /** Null: all. */
  readonly fields: ReadonlySet<string> | null;
  readonly after: EventKey | null;
  readonly sinceNo: number;
  /** One of the parameters is there that make an answer say `upTo`. */
  readonly isAsked: boolean;
}

/**
 * What a query asks for.
 * @param members that `fields` may name.
 * @throws AppError `invalid_content`.
 */
export function readQuery(
  query: ListQuery,
  { subject, members }: { readonly subject: string; readonly members: readonly string[] },
): ListRequest {
  const limit = limitOf(query);
  const fields = fieldsOf(query, members);
  const after = query.cursor === undefined ? null : decodeCursor(subject, query.cursor);
  const isAsked = limit !== null || fields !== null || query.since !== undefined;
  return { limit, fields, after, sinceNo: Number(query.since ?? 0), isAsked };
}

/**
 * Finds the records of an answer. A page is found before any record is read; a whole listing while it is sent, from the events
 * stored at its request.
 * @throws AppError `invalid_content` for a wrong query.
 */
export async function findEvents(
  services: ApiServices,
  caller: Caller,
  { subject, span, query, open }: Selection,
): Promise<Listing> {
  const { limit, fields, after, sinceNo, isAsked } = readQuery(query, { subject, members: recordMembers });
  const upToNo = await lastEventNo(services.db);
  const range: KeyRange = { ...span, scope: caller.scope, after, sinceNo, upToNo };
  const upTo = isAsked ? { upTo: String(upToNo) } : {};
  if (limit === null) return { numbers: () => numbersOf(open(range)), page: upTo, fields };
  const keys = await take(open(range), limit + 1);
  const more = keys.length > limit;
  const last = keys[limit - 1];
  const next = more && last !== undefined ? encodeCursor(subject, last) : null;
  const numbers = async function* onePage() {
    yield keys.slice(0, limit).map(({ eventNo }) => eventNo);
  };
  return { numbers, page: { more, next, ...upTo }, fields };
}

/** The records of a listing, read some at a time while they are sent; a page may be empty. */
export async function* recordPages(
  services: ApiServices,
  caller: Caller,
  { numbers }: Pick<Listing, 'numbers'>,
): Pages<EventRecord> {
  const { db, archive } = services;
  let found: readonly number[] = [];
  let isShort = true;
  for await (const some of numbers()) {
    found = [...found, ...some];
    // Nothing yet: the turn goes to others.
    if (found.length <= recordsPerRead) yield [];
    for (; found.length > recordsPerRead; found = found.slice(recordsPerRead)) {
      isShort = false;
      yield await eventRecords(archive, caller.scope, found.slice(0, recordsPerRead));
    }
  }
  // A short answer is waited for.
  yield await eventRecords(isShort ? db : archive, caller.scope, found);
}

/** A listing of one record, with all of its members. */
export function oneRecord(eventNo: number): Pick<Listing, 'numbers' | 'fields'> {
  const numbers = async function* one() {
    yield [eventNo];
  };
  return { numbers, fields: null };
}

/** The members of a view that were asked for. */
export function pickFields<T extends object>(view: T, fields: ReadonlySet<string> | null): T | Partial<T> {
  if (fields === null) return view;
  return Object.fromEntries(Object.entries(view).filter(([name]) => fields.has(name))) as Partial<T>;
}

/** The `eventdata.devices` of a listing. */
export async function* eventPages(
  services: ApiServices,
  caller: Caller,
  listing: Pick<Listing, 'numbers' | 'fields'>,
): Pages<ListedEvent> {
  for await (const records of recordPages(services, caller, listing)) {
    if (records.length === 0) {
      yield [];
      continue;
    }
    const ids = [...new Set(records.map(({ geozoneID }) => geozoneID).filter((id) => id !== ''))];
    const zones = await zoneNames(services, caller.accountID, ids);
    yield records.map((one) =>
      pickFields(viewEvent(one, { description: one.description, zones }), listing.fields),
    );
  }
}
