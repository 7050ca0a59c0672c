// Requests to a unit: health, position, newest log lines, whether it would cut or unlock now. Requests and reads of a log are audited; none can move a relay.
// An answer contains only what the unit sent.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { AttributeValue } from '../../../src/core/events/event.ts';
import { verdictFrom } from '../../../src/core/verdict/verdict.ts';
import { isRehearsal, requestKinds } from '../../../src/core/wire/device-request.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { type Caller } from '../../api/base/caller.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, epoch, ok, text, verdict } from '../../api/base/shapes.ts';
import { needDevice } from '../../api/base/visible-device.ts';
import { requestLifeS } from '../../commands/device-requests.ts';
import { verdictRecord } from '../../core/commands/verdict-record.ts';
import {
  answersFor,
  deviceRequestLimits,
  findRequest,
  listRequests,
  type RequestRow,
} from '../../store/devices/device-requests.ts';

const members = {
  requestID: text('Names the request'),
  deviceID: text('The device'),
  kind: text('`diagnostic`, `log`, `position`, `interlock` or `interlock_cargo`'),
  requestState: text(
    '`requested` (the unit is not there) -> `sent` -> `answering` (a log comes in parts) -> `answered`; or `refused`, `expired`',
  ),
  hasEnded: Type.Boolean({ description: 'False while it keeps others of its sort from being asked' }),
  detail: text('Why the unit refused it; empty otherwise'),
  issuer: text('User who asked'),
  issued: epoch('When it was asked'),
  expires: epoch('It is not sent, and not answered, after this'),
  answered: epoch('When the newest part of the answer came; 0 before that'),
  parts: Type.Integer({ minimum: 0, description: 'Parts of the answer; 0 while unknown' }),
} as const;
const requestRecord = Type.Object(members);
type RequestView = Static<typeof requestRecord>;

function view(row: RequestRow): RequestView {
  return {
    requestID: row.requestID,
    deviceID: row.deviceID,
    kind: row.kind,
    requestState: row.requestState,
    hasEnded: !row.isOpen,
    detail: row.detail,
    issuer: row.issuer,
    issued: epochSeconds(row.issuedMs),
    expires: epochSeconds(row.expiresMs),
    answered: epochSeconds(row.answeredMs),
    parts: row.parts,
  };
}

const example: RequestView = {
  requestID: '7d1c5e90a2b34f68c0e2f4061a3b5d79',
  deviceID: 'truck-17',
  kind: 'log',
  requestState: 'answered',
  hasEnded: true,
  detail: '',
  issuer: 'dispatch',
  issued: 1763683200,
  expires: 1763769600,
  answered: 1763683204,
  parts: 1,
};

/** @throws AppError `not_found`, also for a request of a device that the caller does not see. */
async function needRequest({ db }: ApiServices, { scope }: Caller, requestID: string): Promise<RequestRow> {
  const row = await findRequest(db, scope, requestID);
  if (row === null) throw new AppError('not_found', `There is no request ${JSON.stringify(requestID)}`);
  return row;
}

const ask = operation({
  id: 'requestDiagnostic',
  method: 'POST',
  path: '/diagnostic/request/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'Ask a unit for its health, its log or its position',
  description: `An addition to the interface. The request is signed and sent at once when the unit is online, else on its next hello,
until \`ttl\` seconds have passed (without it ${requestLifeS.standard.position} for a position, ${requestLifeS.standard.interlock} for a rehearsal and ${requestLifeS.standard.diagnostic} for the rest). Follow it with \`getRequest\`.

- \`diagnostic\`: the unit sends a Diagnostic event (64816) now; \`diagnostic\` and \`diagnosticall\` show it too.
- \`position\`: locate now. The unit answers with an event 61504 (Query): its last plausible fix and how old that is. The same
  as \`commandSend\` with 61504.
- \`log\`: the unit sends the newest lines of its own log, at most 63 KiB, which hold no secrets; read them with \`readLog\`. They
  give way to everything else, so they may take a while, and at a used-up data budget they wait.
- \`interlock\`: rehearsal. Would the unit carry out an engine cut at this moment, and if not, why? The vehicle's interlock judges as for a cut
  that is ordered now and reports its \`verdict\`. No relay moves, and a cut that waits goes on waiting. It says nothing about later.
- \`interlock_cargo\`: the same of an unlock of the cargo (\`cargoaccess\` 1).

A unit has at most one request for its health or log under way, one for its position and one of each rehearsal: asking for the same again gives
that one, asking for another answers 422 \`conflict\`. Units refuse what is asked too often (a log every 15 minutes after the
first two, health every 2 minutes, a position or a rehearsal of each sort every 20 seconds). A unit that does not know a kind answers nothing. The newest ${deviceRequestLimits.kept} requests of a device are kept, for 30 days.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: text('The device'),
      kind: Type.Enum([...requestKinds], { description: 'What the unit is asked to report' }),
      ttl: Type.Optional(
        Type.Integer({
          minimum: requestLifeS.low,
          maximum: requestLifeS.high,
          description: 'Seconds that the request may wait for the unit',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ ...members, ...envelope }),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    body: { deviceID: 'truck-17', kind: 'diagnostic' },
    result: { ...example, kind: 'diagnostic', requestState: 'sent', hasEnded: false, answered: 0, parts: 0 },
  },
  async run({ body, caller, source }, services) {
    const device = await needDevice(services, caller, body.deviceID);
    const row = await services.requests.ask({
      device,
      kind: body.kind,
      issuer: caller.userID,
      ...(body.ttl === undefined ? {} : { ttlS: body.ttl }),
      record: (audited) => auditEntry(services, { caller, source }, audited),
    });
    return { ...view(row), ...ok };
  },
});

const list = operation({
  id: 'listRequests',
  method: 'GET',
  path: '/diagnostic/requests/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'State and answer of a request to a unit',
  description: `The requests of \`requestDiagnostic\` to the device, newest first; the newest ${deviceRequestLimits.kept} are kept.`,
  params: Type.Object({ deviceID: text('The device') }),
  body: null,
  result: Type.Object({
    ...envelope,
    requests: Type.Array(requestRecord, { description: 'Newest first' }),
  }),
  errors: ['not_found'],
  effects: false,
  examples: { result: { requests: [example] } },
  async run({ params, caller }, services) {
    const { deviceNo } = await needDevice(services, caller, params.deviceID);
    return { ...ok, requests: (await listRequests(services.db, deviceNo)).map(view) };
  },
});

function parsed(content: string | undefined): Record<string, AttributeValue> {
  const value: unknown = JSON.parse(content ?? '{}');
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const examplePosition = {
  kind: 'position',
  requestID: example.requestID,
  gps: 'fix',
  fixAgeS: 0,
  latitude: 43.65107,
  longitude: -79.34702,
  speed: 54,
  heading: 181,
  timestamp: 1763683203000,
};

const get = operation({
  id: 'getRequest',
  method: 'GET',
  path: '/diagnostic/request/{requestID}/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'What became of a request to a unit',
  description: `\`answer\` is what the unit sent: for \`diagnostic\` the attributes of its event; for \`position\` these and \`latitude\`,
\`longitude\`, \`speed\`, \`heading\` of a fix that is at most 10 seconds old at \`timestamp\` (epoch milliseconds), or \`lastLatitude\`
and \`lastLongitude\` of an older one, with its age as \`fixAgeS\`; \`gps\` says which (\`fix\`, \`old\`, \`none\`). It is empty until
the unit has answered, and for a log, whose text \`readLog\` gives. \`verdict\` is the answer to \`interlock\` and \`interlock_cargo\`: with \`code\` \`allowed\` the
unit would have cut or unlocked at that moment; otherwise it names the first rule that was not met, and \`rules\` what was seen and needed. An answer that comes after the request has expired is still
taken.`,
  params: Type.Object({ requestID: text('The request') }),
  body: null,
  result: Type.Object({
    ...members,
    answer: Type.Record(Type.String(), Type.Unknown(), { description: 'As the unit sent it' }),
    verdict,
    ...envelope,
  }),
  errors: ['not_found'],
  effects: false,
  examples: {
    params: { requestID: example.requestID },
    result: { ...example, kind: 'position', answer: examplePosition, verdict: null },
  },
  async run({ params, caller }, services) {
    const row = await needRequest(services, caller, params.requestID);
    const [first] = row.kind === 'log' ? [] : await answersFor(services.db, row.requestNo);
    const answer = parsed(first?.content);
    const judged = isRehearsal(row.kind) ? verdictFrom(answer) : null;
    const { timestamp } = answer;
    const atMs = typeof timestamp === 'number' ? timestamp : row.answeredMs;
    return { ...view(row), answer, verdict: verdictRecord(judged, atMs), ...ok };
  },
});

const readLog = operation({
  id: 'readLog',
  method: 'GET',
  path: '/diagnostic/log/{requestID}/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: true },
  tag: 'Diagnostics',
  summary: 'Read the log that a unit sent',
  description: `The lines that the unit sent to a request of kind \`log\`, as they were logged (JSON, one a line, oldest first), as far as
they have come: \`isWhole\` false: parts are missing, and what stands before and after a gap is joined. Every call is recorded
in the audit log. A request of another kind answers 422 \`conflict\`.`,
  params: Type.Object({ requestID: text('The request') }),
  body: null,
  result: Type.Object({
    requestID: text('The request'),
    deviceID: text('The device'),
    isWhole: Type.Boolean({ description: 'Whether all parts have come' }),
    parts: Type.Integer({ minimum: 0, description: 'Parts that the unit sends; 0 while unknown' }),
    received: Type.Integer({ minimum: 0, description: 'Parts that have come' }),
    log: text('The lines'),
    ...envelope,
  }),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    params: { requestID: example.requestID },
    result: {
      requestID: example.requestID,
      deviceID: 'truck-17',
      isWhole: true,
      parts: 1,
      received: 1,
      log: '{"level":30,"time":"2025-11-21T00:00:00.000Z","msg":"connected"}\n',
    },
  },
  async run({ params, caller, source }, services) {
    const row = await needRequest(services, caller, params.requestID);
    const { requestID, deviceID, kind, parts } = row;
    if (kind !== 'log')
      throw new AppError(
        'conflict',
        `Request ${JSON.stringify(requestID)} asked for no log: its kind is ${kind}`,
      );
    const audited = { action: 'device.readlog', object: deviceID, detail: { requestID } };
    await services.db.write([auditEntry(services, { caller, source }, audited)]);
    const answers = await answersFor(services.db, row.requestNo);
    const log = answers.map(({ content }) => parsed(content)['text']).join('');
    const isWhole = parts > 0 && answers.length === parts;
    return { requestID, deviceID, isWhole, parts, received: answers.length, log, ...ok };
  },
});

export const deviceRequestOperations = [ask, list, get, readLog] as const;
