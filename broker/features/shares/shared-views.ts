// What the holder of a share link may call: these operations and no others. Each answer names its members one by one; nothing of a
// device or event record passes through as it is.
import { type Static, Type } from 'typebox';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import type { Caller, LinkCaller } from '../../api/base/caller.ts';
import { operation, type Pages } from '../../api/base/operation.ts';
import { envelope, epoch, ok, wholeOrNull } from '../../api/base/shapes.ts';
import { fixOf } from '../../core/events/belief.ts';
import { numberedTrackEvents } from '../../store/events/trip-events.ts';
import { viewShared } from './core/share-message.ts';
import { shareOf } from './share-caller.ts';
import { countUse } from './share-statements.ts';
import { shareStreams } from './share-streams.ts';

const position = Type.Object(
  {
    timestamp: epoch('When it was there'),
    latitude: Type.Number({ description: 'Degrees' }),
    longitude: Type.Number({ description: 'Degrees' }),
    speed: wholeOrNull('km/h; null where it is not known'),
    heading: wholeOrNull('Degrees from north; null where it is not known'),
  },
  { description: 'A position' },
);

const examplePosition: Static<typeof position> = {
  timestamp: 1763683199,
  latitude: 43.65107,
  longitude: -79.34702,
  speed: 54,
  heading: 90,
};

/** Its own failure must not hide the answer. */
async function recordUse({ db, clock, log }: ApiServices, { tokenHash }: Caller): Promise<void> {
  try {
    await db.write([countUse(tokenHash, Math.floor(clock.utcMs() / 1000))]);
  } catch (thrown) {
    log.warn('share_use_not_counted', { reason: messageOf(thrown) });
  }
}

const viewShare = operation({
  id: 'viewShare',
  method: 'GET',
  path: '/share/view/authorization',
  forms: ['versioned'],
  access: 'share',
  tag: 'Shares',
  summary: 'What a share link shows',
  description: `With the token of a share in the header \`authorization\`: until when it lasts, and for a live share the last position (null
before the first; null for a trip). A token that is unknown, expired or revoked answers 401, with the same message.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    kind: Type.Enum(['live', 'trip'], { description: '`live`: see `position`; `trip`: see `shareTrack`' }),
    title: Type.String({ description: 'From who shares it; may be empty' }),
    startTime: epoch('Beginning of the trip; 0 for a live share'),
    endTime: epoch('End of the trip; 0 for a live share'),
    expires: epoch('When the share ends'),
    position: Type.Union([position, Type.Null()], { description: 'Last known position' }),
  }),
  errors: [],
  effects: false,
  examples: {
    result: {
      kind: 'live',
      title: 'Your delivery',
      startTime: 0,
      endTime: 0,
      expires: 1763769600,
      position: examplePosition,
    },
  },
  async run({ caller }, services) {
    await recordUse(services, caller);
    const { kind, title, fromMs, toMs, expiresS, position: last } = shareOf(caller);
    return {
      ...ok,
      kind,
      title,
      startTime: Math.floor((fromMs ?? 0) / 1000),
      endTime: Math.floor((toMs ?? 0) / 1000),
      expires: expiresS,
      position: kind === 'trip' || last === null ? null : viewShared(last),
    };
  },
});

const wrongKind = (kind: string): AppError =>
  new AppError('conflict', `This share shows ${kind === 'trip' ? 'a trip, which is over' : 'no trip'}`, {
    hint: kind === 'trip' ? 'Read it with shareTrack.' : 'Read it with viewShare or streamShare.',
  });

async function* trackPages({ archive }: ApiServices, caller: LinkCaller): Pages<Static<typeof position>> {
  const { deviceID, fromMs, toMs } = shareOf(caller);
  const { scope } = caller;
  const span = { scope, deviceID, fromMs: fromMs ?? 0, toMs: toMs ?? 0 };
  for await (const events of numberedTrackEvents(archive, span)) {
    yield events.flatMap(({ event, line }) => {
      const at = line === 'off' ? null : fixOf(event);
      if (at === null) return [];
      const { timestampMs: fixMs, speed, heading } = event;
      return [viewShared({ ...at, fixMs, speed, heading })];
    });
  }
}

const shareTrack = operation({
  id: 'shareTrack',
  method: 'GET',
  path: '/share/track/authorization',
  forms: ['versioned'],
  access: 'share',
  tag: 'Shares',
  summary: 'The track of a shared trip',
  description: `With the token of a share of a trip: the positions of that time, oldest first. The token of a live share answers 422
\`conflict\`. Sent while it is read; a fault on the way breaks the connection.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, points: Type.Array(position, { description: 'Oldest first' }) }),
  errors: ['conflict'],
  effects: false,
  examples: { result: { points: [examplePosition] } },
  async run({ caller }, services) {
    const { kind } = shareOf(caller);
    if (kind !== 'trip') throw wrongKind(kind);
    return { ...ok, points: trackPages(services, caller) };
  },
});

const streamShare = operation({
  id: 'streamShare',
  method: 'GET',
  path: '/share/stream/authorization',
  forms: ['versioned'],
  access: 'share',
  tag: 'Shares',
  summary: 'Where a shared vehicle is, while it moves',
  description: `With the token of a live share: server-sent events. \`position\` with the members of \`position\` in \`viewShare\`, first the last
known one and then each new one, at most one a second; \`end\` when the share has ended, then the stream ends. There is nothing to resume: a new
connection begins with the last position. A comment \`: keep-alive\` comes each second in which the service has read the position and the share,
so that silence means that the last position may not be the newest. The token of a trip answers 422 \`conflict\`; more than 20 streams of a
share at once answer 503 \`throttled\`.`,
  params: Type.Object({}),
  body: null,
  result: Type.String({ description: 'Server-sent events' }),
  produces: 'text/event-stream',
  errors: ['conflict'],
  // A HEAD would occupy a stream without reading it.
  effects: true,
  examples: {
    result: `retry: 3000

event: position
data: ${JSON.stringify(examplePosition)}

`,
  },
  async run({ caller, until }, services) {
    const share = shareOf(caller);
    if (share.kind !== 'live') throw wrongKind(share.kind);
    await recordUse(services, caller);
    return services.of(shareStreams).open(share, until());
  },
});

export const sharedViewOperations = [viewShare, shareTrack, streamShare] as const;
