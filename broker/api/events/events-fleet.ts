// Event data of the whole fleet over a time range, with one status code or any.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { codesKeys, fleetHoldsMore, fleetKeys, type KeyRange } from '../../store/event-keys.ts';
import { isRoutine } from '../../store/routine-codes.ts';
import { exampleEvent } from '../examples.ts';
import { type ApiServices, type Caller, operation } from '../operation.ts';
import { ok } from '../shapes.ts';
import {
  capWords,
  eventListAnswer,
  eventPages,
  findEvents,
  type ListQuery,
  listQuery,
  queryWords,
  rangeParams,
  type Span,
  spanOf,
} from './event-list.ts';

interface Asked {
  readonly span: Span;
  readonly query: ListQuery;
  /** Null: any. */
  readonly code: number | null;
}

function streamOf(services: ApiServices, code: number | null) {
  const { archive: db } = services;
  return (range: KeyRange) => {
    if (code === null) return fleetKeys(db, range, null);
    return isRoutine(code) ? fleetKeys(db, range, new Set([code])) : codesKeys(db, range, [code]);
  };
}

async function answerFleet(services: ApiServices, caller: Caller, { span, query, code }: Asked) {
  const listing = await findEvents(services, caller, {
    subject: `fleet ${code ?? '*'} ${span.toMs}`,
    span,
    query,
    open: streamOf(services, code),
    ...(code === null
      ? { holdsMore: (range: KeyRange, most: number) => fleetHoldsMore(services.archive, range, most) }
      : {}),
  });
  return { ...ok, eventdata: { devices: eventPages(services, caller, listing) }, ...listing.page };
}

const fleetWords = `of every device that the caller sees, from startTime to endTime by event time, both included, oldest
first; records of one moment in the order of their arrival. startTime 0 = from the beginning; endTime 0 = up to now,
including records of a vehicle whose clock runs ahead. A startTime after endTime answers 422.`;

const example = { ...ok, eventdata: { devices: [exampleEvent] } };

const fleetMetadata = operation({
  id: 'fleetMetadata',
  method: 'GET',
  path: '/eventdata/fleetmetadata/{startTime}/{endTime}/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Records of the fleet over a time range',
  description: `Every record ${fleetWords} They are the same records, in the same shape, as those of fleetdata with \`*\`.

${queryWords}

${capWords}`,
  params: Type.Object(rangeParams),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['invalid_content'],
  effects: false,
  examples: { params: { startTime: '1763680000', endTime: '0' }, body: null, result: example },
  run: ({ params, query, caller }, services) =>
    answerFleet(services, caller, { span: spanOf(params), query, code: null }),
});

const fleetDataRange = operation({
  id: 'fleetDataRange',
  method: 'GET',
  path: '/eventdata/fleetdata/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Events',
  summary: 'Records of the fleet over a time range, any status code',
  description: `Every record ${fleetWords} The same as fleetdata with the status code \`*\`.

${queryWords}

${capWords}`,
  params: Type.Object(rangeParams),
  query: listQuery,
  body: null,
  result: eventListAnswer,
  errors: ['invalid_content'],
  effects: false,
  examples: { params: { startTime: '1763680000', endTime: '0' }, body: null, result: example },
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
  tag: 'Events',
  summary: 'Records of the fleet with one status code over a time range',
  description: `Every record with that status code ${fleetWords} The code is decimal, 1 to 65535; \`*\` matches any. A
code that no record carries, known or not, gives an empty list.

${queryWords}

${capWords}`,
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
    body: null,
    result: {
      ...ok,
      eventdata: { devices: [{ ...exampleEvent, statusCode: 63553, statusDescription: 'Panic' }] },
    },
  },
  run: ({ params, query, caller }, services) =>
    answerFleet(services, caller, { span: spanOf(params), query, code: codeOf(params.statusCode) }),
});

export const fleetEventOperations = [fleetMetadata, fleetDataRange, fleetData] as const;
