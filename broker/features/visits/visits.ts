// "Who was here?": the vehicles in a circle within a span of time.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { Point } from '../../../src/core/geo/geo.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { type Circle, type Span, visitLimits } from './core/visit.ts';
import { readVisits } from './visit-reading.ts';

/** Vehicles of an answer. */
const limitMost = 400;
const { radiusM, spanMs, gapMs, gapM } = visitLimits;
const hours = spanMs / 3_600_000;

interface Given {
  readonly latitude: string;
  readonly longitude: string;
  readonly radius: string;
  readonly startTime: string;
  readonly endTime: string;
}

function refuse(pointer: string, message: string): never {
  throw new AppError('invalid_content', `${pointer} ${message}`, { details: [{ pointer, message }] });
}

/** @throws AppError `invalid_content`. */
function circleOf({ latitude, longitude, radius }: Given): Circle {
  const centre: Point = { latitude: Number(latitude), longitude: Number(longitude) };
  if (Math.abs(centre.latitude) > 90) refuse('/latitude', 'must be between -90 and 90');
  if (Math.abs(centre.longitude) > 180) refuse('/longitude', 'must be between -180 and 180');
  const m = Number(radius);
  if (m < radiusM.least || m > radiusM.most) refuse('/radius', `must be ${radiusM.least} to ${radiusM.most}`);
  return { centre, radiusM: m };
}

/** @throws AppError `invalid_content`. */
function spanOf({ startTime, endTime }: Given): Span {
  const [startS, endS] = [Number(startTime), Number(endTime)];
  if (startS > endS) refuse('/startTime', 'must not be after endTime');
  const span = { fromMs: startS * 1000, toMs: endS * 1000 + 999 };
  if (endS - startS > spanMs / 1000) refuse('/startTime', `must be within ${hours} hours of endTime`);
  return span;
}

const degrees = (name: string, digits: number, most: number) =>
  Type.String({
    pattern: `^-?[0-9]{1,${digits}}(\\.[0-9]{1,15})?$`,
    description: `${name}: decimal degrees, -${most} to ${most}`,
  });
const epoch = (which: string) =>
  Type.String({ pattern: '^[0-9]{1,10}$', description: `${which}: epoch seconds` });
const seconds = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description} (epoch seconds)` });

const visit = Type.Object({
  deviceID: Type.String({ description: 'The vehicle' }),
  firstTimestamp: seconds('First moment inside'),
  lastTimestamp: seconds('Last moment inside; it may have been away between the two'),
  positions: Type.Integer({
    minimum: 0,
    description: 'Positions that it reported inside; 0: it only crossed the circle between two',
  }),
  nearestDistance: Type.Number({ minimum: 0, description: 'How near it came to the centre, m' }),
});

const getVisits = operation({
  id: 'getVisits',
  method: 'GET',
  path: '/eventdata/visits/{latitude}/{longitude}/{radius}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Events',
  summary: 'Vehicles that were within a circle',
  description: `Our addition. The vehicles that the caller sees and that were within \`radius\` metres of a place between two times, both
included, by event time. No geozone has to be there, and events that arrived late count.

A vehicle was inside when it reported a position there, or when the straight line between two positions that follow each other crosses the
circle. Of two positions more than ${gapMs / 1000} s or ${gapM} m apart nothing is known between them, and the line does not count. On a line the times are
those of even speed. Every stored position counts, but a repeated last location, latitude and longitude 0, and one without a time of its own or
with one more than a day ahead of its arrival. A vehicle without a position in that time is not in the answer: where it was is unknown.

At most ${hours} hours, ${radiusM.least} to ${radiusM.most} m, and \`limit\` vehicles (1 to ${limitMost}, without it ${limitMost}) in the order of their ids. \`more\` says whether
further vehicles have to be looked at, and \`next\` is the \`cursor\` to ask for them with: an answer that is not the last may hold fewer than \`limit\`. After an upgrade of a
large database the answer is 503 until older events are in the index.`,
  params: Type.Object({
    latitude: degrees('Centre', 2, 90),
    longitude: degrees('Centre', 3, 180),
    radius: Type.String({
      pattern: '^[0-9]{2,4}$',
      description: `Metres, ${radiusM.least} to ${radiusM.most}`,
    }),
    startTime: epoch('Beginning'),
    endTime: epoch('End'),
  }),
  query: Type.Object({
    cursor: Type.Optional(
      Type.String({ pattern: idPatternSource, description: '`next` of the last answer' }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|[1-3][0-9]{2}|400)$',
        description: `At most so many, 1 to ${limitMost}`,
      }),
    ),
  }),
  body: null,
  result: Type.Object({
    ...envelope,
    visits: Type.Array(visit, { description: 'In the order of ids' }),
    more: Type.Boolean({ description: 'Whether there are further vehicles to look at' }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'The `cursor` of the further vehicles; null at the end',
    }),
  }),
  errors: ['invalid_content', 'unavailable'],
  effects: false,
  examples: {
    params: {
      latitude: '43.65107',
      longitude: '-79.34702',
      radius: '200',
      startTime: '1763680000',
      endTime: '1763683600',
    },
    result: {
      visits: [
        {
          deviceID: 'truck-17',
          firstTimestamp: 1763680740,
          lastTimestamp: 1763680815,
          positions: 7,
          nearestDistance: 38.5,
        },
      ],
      more: false,
      next: null,
    },
  },
  async run({ params, query: { cursor = '', limit }, caller, until }, services) {
    const asked = {
      scope: caller.scope,
      circle: circleOf(params),
      span: spanOf(params),
      afterID: cursor,
      limit: limit === undefined ? limitMost : Number(limit),
    };
    const read = () => readVisits(services.archive, asked);
    const { visits, nextID } = await services.pageLimit.run(caller, until(), read);
    return {
      ...ok,
      visits: visits.map((one) => ({
        deviceID: one.deviceID,
        firstTimestamp: Math.floor(one.firstMs / 1000),
        lastTimestamp: Math.floor(one.lastMs / 1000),
        positions: one.positions,
        nearestDistance: Math.round(one.nearestM * 10) / 10,
      })),
      more: nextID !== null,
      next: nextID,
    };
  },
});

export const visitOperations = [getVisits] as const;
