// Event data of the whole fleet over a time range, with one status code or any.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { isRoutine } from '../../store/base/routine-codes.ts';
import { fleetKeys, type KeyRange } from '../../store/events/event-keys.ts';
import { exampleEvent } from '../answers/examples.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { ok } from '../base/shapes.ts';
import {
  eventListAnswer,
  eventPages,
  findEvents,
  type ListQuery,
  listQuery,
  queryText,
  rangeParams,
  recordMembers,
  type Span,
  spanOf,
  wholeListText,
} from './event-list.ts';
import { findWritten } from './written-events.ts';

interface Selection {
  readonly span: Span;
  readonly query: ListQuery;
  /** Null: any. */
  readonly code: number | null;
}

async function answerFleet(services: ApiServices, caller: Caller, { span, query, code }: Selection) {
  const subject = `fleet ${code ?? '*'} ${span.toMs}`;
  if (code !== null && !isRoutine(code)) {
    const asked = { subject, span, query, listed: { code }, members: recordMembers };
    const { records, page } = await findWritten(services, caller, asked);
    return { ...ok, eventdata: { devices: records() }, ...page };
  }
  const codes = code === null ? null : new Set([code]);
  const open = (range: KeyRange) => fleetKeys(services.archive, range, codes);
  const listing = await findEvents(services, caller, { subject, span, query, open });
  return { ...ok, eventdata: { devices: eventPages(services, caller, listing) }, ...listing.page };
}

const fleetText = `of every device that the caller sees, from startTime to endTime by event time, both included, oldest
first; records of one moment in the order of their arrival. startTime 0 = from the beginning; endTime 0 = up to now,
including records of a vehicle whose clock runs ahead. A startTime after endTime answers 422.`;

const example = { ...ok, eventdata: { devices: [exampleEvent] } };

const fleetMetadata = operation({
  id: 'fleetMetadata',
  method: 'GET',
  path: '/eventdata/fleetmetadata/{startTime}/{endTime}/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Records of the fleet over a time range',
  description: `Every record ${fleetText} They are the same records, in the same shape, as those of fleetdata with \`*\`.

${queryText}

${wholeListText}`,
  params: Type.Object(rangeParams),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['invalid_content'],
  effects: false,
  examples: { result: example },
  run: ({ params, query, caller }, services) =>
    answerFleet(services, caller, { span: spanOf(params), query, code: null }),
});

const fleetDataRange = operation({
  id: 'fleetDataRange',
  method: 'GET',
  path: '/eventdata/fleetdata/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Records of the fleet over a time range, any status code',
  description: `Every record ${fleetText} The same as fleetdata with the status code \`*\`.

${queryText}

${wholeListText}`,
  params: Type.Object(rangeParams),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['invalid_content'],
  effects: false,
  examples: { result: example },
  run: ({ params, query, caller }, services) =>
    answerFleet(services, caller, { span: spanOf(params), query, code: null }),
});

/** @throws AppError `invalid_content` for a number that no event can carry. */
function codeOf(text: string): number | null {
  if (text === '*') return null;
  const code = Number(text);
  if (code >= 1 && code <= 65_535) return code;
  throw new AppError('invalid_content', `${text} is no status code`, {
    details: [{ pointer: '/statusCode', message: 'must be 1 to 65535, or *' }],
  });
}

const fleetData = operation({
  id: 'fleetData',
  method: 'GET',
  path: '/eventdata/fleetdata/{statusCode}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Records of the fleet with one status code over a time range',
  description: `Every record with that status code ${fleetText} The code is decimal, 1 to 65535; \`*\` matches any. A
code that no record carries, known or not, gives an empty list.

${queryText}

${wholeListText}`,
  params: Type.Object({
    statusCode: Type.String({ pattern: '^([0-9]{1,5}|\\*)$', description: 'Decimal status code; `*` = any' }),
    ...rangeParams,
  }),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['invalid_content'],
  effects: false,
  examples: {
    params: { statusCode: '63553', startTime: '1763680000', endTime: '0' },
    result: { eventdata: { devices: [{ ...exampleEvent, statusCode: 63553, statusDescription: 'Panic' }] } },
  },
  run: ({ params, query, caller }, services) =>
    answerFleet(services, caller, { span: spanOf(params), query, code: codeOf(params.statusCode) }),
});

export const fleetEventOperations = [fleetMetadata, fleetDataRange, fleetData] as const;
