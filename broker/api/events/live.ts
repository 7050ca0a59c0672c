// The live stream of fleet events, as server-sent events.
import { Type } from 'typebox';
import { type LiveKind, liveKinds, liveMembers } from '../../core/live/live-kinds.ts';
import { queueLimits } from '../../core/live/live-queue.ts';
import { openingLimits } from '../../live/opening.ts';
import { liveSlotLimits } from '../../scheduling/per-account-limits.ts';
import { invalidAt } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';

const hours = openingLimits.ageMs / 3_600_000;

/** A resume point as a number; null: none. An invalid one resumes from nowhere, and the stream says so. */
function resumeAfter(text: string | null): number | null {
  if (text === null || text === '') return null;
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

const listed = (text: string | undefined): readonly string[] | null =>
  text === undefined ? null : text.split(',');

const members: ReadonlySet<string> = new Set(Object.values(liveMembers).flat());

/** A list whose values must be known. @throws AppError `invalid_content`. */
function known(
  text: string | undefined,
  of: { readonly pointer: string; readonly values: ReadonlySet<string>; readonly what: string },
): ReadonlySet<string> | null {
  const values = listed(text);
  const unknown = values?.find((value) => !of.values.has(value));
  if (unknown === undefined) return values && new Set(values);
  const message = `${JSON.stringify(unknown)} is no ${of.what}`;
  throw invalidAt(of.pointer, message, `Choose among ${[...of.values].join(', ')}.`);
}

interface Choice {
  readonly kinds?: string;
  readonly fields?: string;
  readonly positions?: string;
}

/** The requested choice. A kind without any chosen member is not sent. */
function choiceOf({ kinds, fields, positions }: Choice) {
  const chosen = known(kinds, { pointer: '/kinds', values: new Set(liveKinds), what: 'kind of message' });
  const names = known(fields, { pointer: '/fields', values: members, what: 'member of a message' });
  const others = names === null ? [] : [...names].filter((name) => name !== 'deviceID');
  const isWanted = (kind: LiveKind): boolean => {
    if (chosen !== null && !chosen.has(kind)) return false;
    if (kind === 'device' && positions === 'off') return false;
    const own: readonly string[] = liveMembers[kind];
    return others.length === 0 || others.some((name) => own.includes(name));
  };
  return { kinds: new Set(liveKinds.filter(isWanted)), fields: names };
}

const streamEvents = operation({
  id: 'streamEvents',
  method: 'GET',
  path: '/events/stream/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Live',
  summary: 'What happens, while it happens',
  description: `A stream of server-sent events (\`text/event-stream\`) that stays open. A browser's own \`EventSource\` cannot
send the header \`authorization\`: read it with \`fetch\`, or with any client for server-sent events that takes headers.

| event | \`id\` | data |
|---|---|---|
| \`hello\` | when nothing was missed | First of all: \`eventNo\`, the number of the newest stored event |
| \`event\` | number of the event | One event that is not routine: \`deviceID\`, \`eventID\`, \`statusCode\`, \`statusDescription\`, \`timestamp\`, \`creationTime\`, \`isPositionValid\`, \`latitude\`, \`longitude\`, \`speed\`, \`heading\`, \`geozoneID\`, \`commandID\`, \`commandState\`, as in event data records. Alarms, changes and reports on commands arrive each, once and in order |
| \`device\` | none | The present of a device in members of the Device record: \`deviceID\`, \`deviceLastHeartbeat\` and, where they changed, \`deviceLastValidTimestamp\`, \`deviceLastValidLatitude\`, \`deviceLastValidLongitude\`, \`deviceLastValidSpeed\`, \`deviceLastValidHeading\`, \`deviceLastGeozoneID\`, \`fuelLevelAverage\`. At most one a second for each device, made of its newest reports by event time. Lay it over the Device that you hold unless its \`deviceLastValidTimestamp\` is older |
| \`command\` | none | Where a command stands in the ledger: \`commandID\`, \`deviceID\`, \`feature\`, \`state\`, \`pendingState\`, \`pendingReason\`, \`verdict\`, \`commandState\`, \`expires\`; at once. A state that lasted shorter than a moment may be left out; one may be sent twice after a resumption, as every message without an \`id\` |
| \`presence\` | none | A unit went online or offline: \`deviceID\`, \`online\`, \`since\`, \`cause\` (\`hello\`; \`closed\`: its connection ended; \`service\`: the service stopped or started; \`cluster\`: found so by the MQTT cluster; \`message\`; \`silent\`: for longer than is usual for a device that says no hello) |
| \`approval\` | none | An order that waits for a second user or the owner's persons was requested, signed, approved, refused, withdrawn, became void, or ran out: a record of \`listApprovals\` without \`signOptions\` |
| \`zone\` | none | \`zoneType\` \`geozone\` or \`route\`: \`zoneID\` was \`change\` (\`created\`, \`changed\`, \`deleted\`) at \`changed\`; read it, or where \`zoneID\` is null the list of them. It is null for routes if groups limit what you see. \`zoneType\` \`configuration\`: \`deviceID\` reported that it holds (\`held\`) or refuses (\`refused\`) settings and geozones; \`version\` is the one wanted, or refused, \`heldVersion\` the one that it holds |
| \`release\` | none | What runs on a unit: \`deviceID\`, \`agentVersion\`, \`agentSince\`, and of its newest firmware job \`commandID\`, \`version\`, \`commandState\`, \`detail\`, \`expires\`, \`updated\` (null, empty or 0 without one) |
| \`alarm\` | none | An alarm was raised, repeated, taken, shelved, closed, escalated or given a note: a record of \`listAlarms\`, with a higher \`version\` or \`count\` |
| \`reset\` | the new resume point | \`reason\` (\`unknown\`, \`old\`, \`gap\`: the missed events are not sent again; \`scope\`, without an \`id\`: the devices that you may see have changed) and \`hint\`: read getalldevices again, the stream goes on |

Routine are positions, heartbeats and fuel samples (61472, 61477, 61536, 61714, 61716, 61717, 61724, 4384): they show in
\`device\` only, also while an alarm waits in the same payload.

**To begin**, open the stream, and when \`hello\` has come read getalldevices: nothing lies between the two.
**To resume**, send the last \`id\` that you saw as the header \`Last-Event-ID\` (clients for server-sent events do so by
themselves) or as \`lastEventId\`; the header counts where both are sent. Then come the present of each device that reported since, what else
changed since (\`presence\`, \`release\`, \`zone\`, \`approval\`, \`command\`, \`alarm\`), and each missed event. A resume point that is older than ${hours} hours, has more than ${openingLimits.events} events of the account
after it, or is not known answers with \`reset\`. A comment \`: keep-alive\` comes each second in which the service could read what changed: silence for
3 seconds means that what you show may be old. It may carry an \`id\` without data, which moves the resume point too.

Members are those that the table names; \`?fields=\` chooses some of them and \`?kinds=\` some of the messages, and an unknown one
answers 422. Further kinds may come: leave out what you do not know, or choose.

The server ends a stream when its session ends (logout, expiry, suspension; within 5 seconds), when the user's limits
change, when more than ${queueLimits.messages} messages wait for a slow reader, and when a reader takes nothing for 50 seconds: connect
again with \`Last-Event-ID\`. An open stream counts as use of its session. At most ${liveSlotLimits.user} streams of a user, ${liveSlotLimits.account} of an account
and ${liveSlotLimits.process} in all are open at a time; one more answers 503 \`throttled\`. There is no HEAD: it would hold a place for nothing.`,
  params: Type.Object({}),
  query: Type.Object(
    {
      kinds: Type.Optional(
        Type.String({
          maxLength: 200,
          description: `Kinds of messages with commas between them: ${liveKinds.join(', ')}; all unless given. \`hello\` and \`reset\` always come`,
        }),
      ),
      fields: Type.Optional(
        Type.String({
          maxLength: 1000,
          description:
            'Members of the data with commas between them; each message then has these only, and `deviceID`; kinds that have none of them do not come',
        }),
      ),
      devices: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{1,64}(,[A-Za-z0-9_-]{1,64}){0,199}$',
          description:
            'Device ids with commas between them, at most 200; of messages about devices only theirs. Ids that you do not see give nothing',
        }),
      ),
      codes: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,5}(,[0-9]{1,5}){0,199}$',
          description: 'Decimal status codes with commas between them, at most 200; only `event`s of these',
        }),
      ),
      positions: Type.Optional(
        Type.Enum(['on', 'off'], { description: '`off`: no `device` messages; `on` unless given' }),
      ),
      lastEventId: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,15}$',
          description: 'Resume point, for clients that cannot send the header',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.String({ description: 'Server-sent events' }),
  produces: 'text/event-stream',
  errors: ['throttled', 'invalid_content'],
  // A HEAD would occupy a stream without reading it.
  effects: true,
  examples: {
    result: `retry: 3000
id: 41
event: hello
data: {"eventNo":41}

event: device
data: {"deviceID":"truck-17","deviceLastHeartbeat":1763683200,"deviceLastValidTimestamp":1763683199,"deviceLastValidLatitude":43.65107,"deviceLastValidLongitude":-79.34702,"deviceLastValidSpeed":54,"deviceLastValidHeading":90,"deviceLastGeozoneID":""}

id: 43
event: event
data: {"deviceID":"truck-17","eventID":"b1:2","statusCode":63553,"statusDescription":"Panic","timestamp":1763683210,"creationTime":1763683211,"isPositionValid":false,"latitude":0,"longitude":0,"speed":null,"heading":null,"geozoneID":"","commandID":null,"commandState":null}

`,
  },
  async run({ query, caller, lastEventID, until }, { live }) {
    const deviceIDs = listed(query.devices);
    const codes = listed(query.codes);
    return live.open({
      caller,
      until: until(),
      after: resumeAfter(lastEventID ?? query.lastEventId ?? null),
      ...choiceOf(query),
      deviceIDs: deviceIDs === null ? null : new Set(deviceIDs),
      codes: codes === null ? null : new Set(codes.map(Number)),
    });
  },
});

export const liveOperations = [streamEvents] as const;
