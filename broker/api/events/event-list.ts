// What every listing of event records has in common: the time range of the path, the opt-in query, the limit, the cursor and
// the pages of the answer. An answer is complete or it is refused or it says `more`; it must never be cut short in silence.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { eventLimits } from '../../../src/core/event.ts';
import { aheadMostMs } from '../../core/projection.ts';
import type { EventKey, KeyRange, KeyStream } from '../../store/event-keys.ts';
import { type EventRecord, eventRecords, recordsPerRead } from '../../store/event-records.ts';
import { lastEventNo } from '../../store/slices.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { zoneNames } from '../geozones/geozone-views.ts';
import type { ApiServices, Caller, Pages } from '../operation.ts';
import { type EventView, envelope, eventData } from '../shapes.ts';
import { viewEvent } from '../views.ts';

/** Most records of an answer that is not paged; about 10 MB of JSON. */
export const recordsMost = 20_000;
/** Most records of a page. */
const limitMost = 5000;
const dayMs = 24 * 3_600_000;
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

/** What the query does, for the descriptions of the operations. */
export const queryWords = `**Paging, opt-in.** \`?limit=\` (1 to ${limitMost}) gives that many records and the members \`more\` and \`next\`;
hand \`next\` back as \`?cursor=\` until \`more\` is false (a cursor alone gives pages of 1000). \`?fields=timestamp,speed\` gives
only these members of each record; an unknown one answers 422. \`?since=\` gives only records that were stored after that
number, whatever their event time, so late ones too: it is \`upTo\` of an earlier answer to any query with one of these
parameters, or an id of the live stream. A wrong cursor and any
other parameter answer 422.`;

/** Why an answer without paging may be refused. */
export const capWords = `Without them the answer is complete: it is as of the moment of the request, and more than ${recordsMost} records answer
422 with a hint, before anything is sent.`;

const record = eventData.properties.devices.items;
const recordMembers: readonly string[] = Object.keys(record.properties);

/** Records, whole or with some of their members. */
export const eventList = Type.Object(
  {
    devices: Type.Array(Type.Union([record, Type.Partial(record)]), {
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
  if (toMs - fromMs > daysMost * dayMs) {
    throw new AppError('invalid_content', `the period is longer than ${daysMost} days`, {
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

export interface Wanted {
  /** Path of the listing with its variables filled in: a cursor fits no other. */
  readonly subject: string;
  readonly span: Span;
  readonly query: ListQuery;
  readonly open: (range: KeyRange) => KeyStream;
  /** Known at small cost before the keys are read; without it the keys themselves tell. */
  readonly holdsMore?: (range: KeyRange, most: number) => Promise<boolean>;
}

export interface Listing {
  readonly eventNos: readonly number[];
  readonly page: { readonly more?: boolean; readonly next?: string | null; readonly upTo?: string };
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

function tooMany(lastMs: number | null): AppError {
  const end = lastMs === null ? '' : `; the first ${recordsMost} records end at ${Math.floor(lastMs / 1000)}`;
  return new AppError('invalid_content', `the range holds more than ${recordsMost} records`, {
    hint: `Ask for a shorter range${end}. Or ask for pages with ?limit= and follow \`next\`.`,
  });
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
  throw new AppError('invalid_content', `a record has no member ${JSON.stringify(unknown)}`, {
    details: [{ pointer: '/fields', message: `must be some of ${members.join()}` }],
  });
}

/**
 * Finds which records an answer holds, before any of them is read.
 * @throws AppError `invalid_content` for a wrong query, and for too many records without paging.
 */
export async function findEvents(
  services: ApiServices,
  caller: Caller,
  { subject, span, query, open, holdsMore }: Wanted,
  members = recordMembers,
): Promise<Listing> {
  const limit = limitOf(query);
  const fields = fieldsOf(query, members);
  const after = query.cursor === undefined ? null : decodeCursor(subject, query.cursor);
  const upToNo = await lastEventNo(services.db);
  const sinceNo = Number(query.since ?? 0);
  const range: KeyRange = { ...span, scope: caller.scope, after, sinceNo, upToNo };
  if (limit === null && (await holdsMore?.(range, recordsMost)) === true) throw tooMany(null);
  const most = limit ?? recordsMost;
  const keys = await take(open(range), most + 1);
  const isMore = keys.length > most;
  const last = keys[most - 1];
  if (limit === null && isMore) throw tooMany(last?.timestampMs ?? null);
  const next = isMore && last !== undefined ? encodeCursor(subject, last) : null;
  const isAsked = limit !== null || fields !== null || query.since !== undefined;
  return {
    eventNos: keys.slice(0, most).map(({ eventNo }) => eventNo),
    page: {
      ...(limit === null ? {} : { more: isMore, next }),
      ...(isAsked ? { upTo: String(upToNo) } : {}),
    },
    fields,
  };
}

/** The records of a listing, read some at a time while they are sent. */
export async function* recordPages(
  services: ApiServices,
  caller: Caller,
  { eventNos }: Pick<Listing, 'eventNos'>,
): Pages<EventRecord> {
  // A short answer is waited for.
  const db = eventNos.length <= recordsPerRead ? services.db : services.archive;
  for (let start = 0; start < eventNos.length; start += recordsPerRead) {
    yield await eventRecords(db, caller.scope, eventNos.slice(start, start + recordsPerRead));
  }
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
  listing: Pick<Listing, 'eventNos' | 'fields'>,
): Pages<EventView | Partial<EventView>> {
  for await (const records of recordPages(services, caller, listing)) {
    const ids = [...new Set(records.map(({ geozoneID }) => geozoneID).filter((id) => id !== ''))];
    const zones = await zoneNames(services, caller.accountID, ids);
    yield records.map((one) =>
      pickFields(viewEvent(one, { description: one.description, zones }), listing.fields),
    );
  }
}
