// Tracks in fewer records (`?points=`): `core/events/thinning.ts` chooses the records. This file reads them page by page, yields
// between pages, and holds only the chosen ones in memory.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import {
  createThinner,
  isPlainPosition,
  type Thinned,
  type Thinner,
  thinningLimits,
} from '../../core/events/thinning.ts';
import type { NumberedTrackEvent } from '../../store/events/trip-events.ts';
import type { PagedRecord, Pages } from '../base/operation.ts';

const { least, most } = thinningLimits.points;

export const pointsQuery = {
  points: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,3}$',
      description: `At most so many records, ${least} to ${most}; more only where more must be kept`,
    }),
  ),
} as const;

export const pointsText = `**Thinning.** \`?points=\` (${least} to ${most}) gives a track of at most so many records. Always kept, even if they are more: the first and the
last record, every record that is not a plain position (alarms, doors, ignition, commands, ...), positions at which the ignition changed,
both ends of each stop (${thinningLimits.stopMs / 60_000} minutes within ${thinningLimits.stillM} m) and of each gap (${thinningLimits.gapMs / 60_000} minutes without a position while the vehicle moved on, or
${thinningLimits.silentMs / 3_600_000} hour), the outermost and the fastest positions. Of the others those stay that show best where the vehicle was at each time; plain records
without a position, or with one that is not believed (see \`reportTrips\`), are left out. The same records give the same answer. A period in which more than ${thinningLimits.kept} records
must be kept answers 422.`;

/** @throws AppError `invalid_content`. */
export function pointsOf(text: string): number {
  const count = Number(text);
  if (count >= least && count <= most) return count;
  throw new AppError('invalid_content', `points must be ${least} to ${most}`, {
    details: [{ pointer: '/points', message: `must be ${least} to ${most}` }],
  });
}

interface Source<T> {
  readonly points: number;
  readonly events: AsyncIterable<readonly NumberedTrackEvent[]>;
  /** What is kept of an event. */
  readonly pick: (event: NumberedTrackEvent) => T;
}

interface IgnitionState {
  isOn: boolean | null;
}

function addEvent<T>(
  thinner: Thinner<T>,
  item: T,
  { event, line, state }: Pick<NumberedTrackEvent, 'event' | 'line'> & { state: IgnitionState },
) {
  const { timestampMs, statusCode, speed, ignition } = event;
  const hasChanged = ignition !== null && state.isOn !== null && ignition !== state.isOn;
  state.isOn = ignition ?? state.isOn;
  thinner.add(item, {
    timestampMs,
    point: line === 'off' ? null : event.point,
    isAfterGap: line === 'anew',
    speed,
    isPlain: isPlainPosition(statusCode) && !hasChanged,
  });
}

/**
 * Reads all events and gives what is kept, after an empty page for each page read.
 * @throws AppError `invalid_content` when too many must be kept.
 */
export async function* thin<T>({
  points,
  events,
  pick,
}: Source<T>): AsyncGenerator<null, Thinned<T>, undefined> {
  const thinner = createThinner<T>(points);
  const state: IgnitionState = { isOn: null };
  for await (const page of events) {
    for (const one of page) addEvent(thinner, pick(one), { ...one, state });
    if (thinner.isOverfull()) {
      throw new AppError(
        'invalid_content',
        `More than ${thinningLimits.kept} records of the period must be kept`,
        {
          details: [{ pointer: '/points', message: 'cannot thin a period with so many occurrences' }],
          hint: 'Ask for several shorter periods, or without points.',
        },
      );
    }
    yield null;
  }
  return thinner.end();
}

export const thinningResult = Type.Object(
  {
    records: Type.Integer({ minimum: 0, description: 'Records of the period' }),
    kept: Type.Integer({ minimum: 0, description: 'Records of the answer' }),
    maximumDeviation: Type.Number({
      minimum: 0,
      description:
        'No position that was left out is further than this (m) from where the straight line between its neighbours in the answer puts the vehicle at its time',
    }),
  },
  { description: 'With `points`: what was left out' },
);

/** A thinned listing: the numbers of its records, and what was left out, known once they have been read. */
export function thinnedNumbers(source: Omit<Source<number>, 'pick'>) {
  let result: Thinned<number> | null = null;
  async function* numbers(): AsyncGenerator<readonly number[]> {
    const pass = thin({ ...source, pick: ({ eventNo }) => eventNo });
    let step = await pass.next();
    for (; step.done !== true; step = await pass.next()) yield [];
    result = step.value;
    yield step.value.kept;
  }
  async function* summary(): Pages<readonly [string, number]> {
    if (result === null) throw new Error('the records come before what was left out');
    yield [
      ['records', result.total],
      ['kept', result.kept.length],
      ['maximumDeviation', Math.ceil(result.deviationM * 10) / 10],
    ];
  }
  return { numbers, thinning: { pagedRecord: summary() } satisfies PagedRecord<number> };
}

/** A thinned track with the far ends of its gaps, in pages; empty ones while it is read. */
export async function* thinnedTrack(
  source: Omit<Source<NumberedTrackEvent>, 'pick'>,
  afterGap: Set<NumberedTrackEvent>,
) {
  const pass = thin({ ...source, pick: (one) => one });
  let step = await pass.next();
  for (; step.done !== true; step = await pass.next()) yield [];
  for (const one of step.value.afterGap) afterGap.add(one);
  const { kept } = step.value;
  const pageSize = 500;
  for (let from = 0; from < kept.length; from += pageSize) yield kept.slice(from, from + pageSize);
}
