// Texts of the OpenAPI document outside of single operations: introduction and chapters. Each operation describes itself.
import type { Operation } from './base/operation.ts';

/**
 * The guide at the head of the document, Markdown. `test/contract/http-docs.test.ts` sends each block of kind `http` to a service,
 * in order.
 */
export const about = `Tracks vehicles and assets, and protects them: positions, alarms, and commands to the engine cutoff and the
cargo access.

# Log in

\`\`\`http
POST /api/v1/auth/login
content-type: application/json

{"accountID":"acme","userID":"dispatch","password":"correct horse battery staple"}
\`\`\`

gives \`token\`. Send it in the header \`authorization\` with every other call, exactly as it was returned (without \`Bearer\` or another scheme before it):

\`\`\`http
GET /api/v1/device/getdevice/truck-17/authorization
authorization: {token}
\`\`\`

A session ends 12 hours after its last use, 30 days after login, and at \`logout\`; then every call answers 401. Programs use a token of their own
(\`token\`). What a token may do is the role of its user: a *viewer* reads, an *operator* also changes devices and geozones and sends
commands, an *admin* also manages users, groups, rules and the account.

# Answers and errors

Answers are flat JSON objects with \`status_code\` and \`success\` (text). A failure has the one member \`error\`: branch
on its \`code\`, show its \`detail\` and \`hint\`, quote its \`requestId\`; \`errors\` points into what you sent (JSON pointers).

| Status | Meaning | What to do |
| --- | --- | --- |
| 400 | The request is no HTTP or JSON | correct it |
| 401 | No token, or its session has ended | log in |
| 404 | No such path or object; also objects of other accounts and groups | see \`hint\` |
| 405, 406 | Verb or media type | see \`Allow\` and \`hint\` |
| 422 | The content, the role (\`forbidden\`), or the present state (\`conflict\`) forbids it | show \`detail\` |
| 500 | A fault of the service | send again with the same \`Idempotency-Key\` |
| 503 | Too much at once (\`throttled\`) or not available | wait for \`Retry-After\` seconds, then the same |

Checks are made in this order: path, verb, token, \`Accept\` and \`Content-Type\`, size and syntax, role and content, then the operation.

# Requests

Bodies are JSON (\`Content-Type: application/json\`, at most 1 MiB), flat or under a root member \`data\`. Unknown
members, unknown query parameters and wrong types are refused with 422; nothing is converted. A \`Content-Encoding\` answers 406.
The fixed segments of a path and the names of members in a body are matched in any letter case; ids and names that people
gave are not. Ids are taken back in the form in which they were returned.

A GET that changes something has no HEAD and is never to be cached; repeating it changes nothing further. A POST that carries an
\`Idempotency-Key\` is carried out once, however often it is sent within 24 hours. Some operations are served at two paths that do the same;
the second is described apart, its \`operationId\` ending in \`Plain\`, \`Versioned\` or \`Joined\`.

# Times and units

Times are epoch seconds (UTC), 0 in a path is a wildcard; members that end in \`Ms\` are milliseconds. \`timestamp\` is the clock of the vehicle,
\`creationTime\` when the record arrived. Speeds are km/h, distances km, lengths m, fuel levels a fraction of the tank, headings degrees from
north, coordinates decimal degrees (WGS 84). Status codes and their names:

\`\`\`http
GET /api/v1/statuscodes
\`\`\`

# Lists and pages

Lists page in one way. \`limit\` asks for so many, the answer then has \`more\` and \`next\`; while \`more\` is true send \`next\` back as
\`cursor\`, with the same path and the same other parameters. \`next\` is null at the end. Each operation says what its greatest \`limit\` is, and what it
answers without one: everything, sent while it is read, or a first page.

\`\`\`http
GET /api/v1/eventdata/fleetdata/*/0/0/authorization?limit=100&fields=deviceID,timestamp,statusCode
authorization: {token}
\`\`\`

An answer that ended properly is complete: a fault on the way breaks the connection. Answers with an \`ETag\` answer 304 to the same
\`If-None-Match\`. Send \`Accept-Encoding: br\` or \`gzip\`.

# Live

\`GET /api/v1/events/stream/authorization\` is a stream of server-sent events. Open it again with \`Last-Event-ID\` and it goes on where it ended,
for up to 24 hours and 10,000 events; it says when something is missing. Do not poll lists for what the stream sends.

# Limits

\`RateLimit\` says how many requests are left (usually 60 at once and 30 a second for a token; commands are counted apart).
At once: 16 long answers of an account, 4 reports and exports, 5 streams of a user. Commands: 10 a minute for a user, 60 for an
account, and a number of engine cuts an hour; to restore an engine has no limit.`;

/** What each chapter is about. */
export const tagTexts: Readonly<Record<Operation['tag'], string>> = {
  Authentication: 'Sessions: a token for an account, a user and a password, and its end.',
  Accounts: 'The account of the caller.',
  Users: 'People of the account, their roles and which devices they see.',
  Groups: 'Named sets of devices.',
  Devices: 'Tracking units and what they are fitted to: position, sensors, features, pending commands.',
  Geozones: 'Areas, what happens on arrival and departure, and the alerts of both.',
  Drivers: 'People who drive, and which keys were theirs when.',
  Routes: 'Planned routes of vehicles.',
  Events: 'Position and status records as the vehicles reported them.',
  Reports: 'Figures and files made from the records: trips, stops, exports.',
  Live: 'Events and changes as they arrive, over one open connection.',
  Shares: 'Links for people without a login: one vehicle or one trip, for some days at most.',
  Commands: 'Requests to a vehicle. When it is safe to follow them is decided on the vehicle, never here.',
  Releases: 'New programs of the units, rolled out group by group, with a stop.',
  Messages: 'Messages between the fleet and its vehicles.',
  Alarms: 'What waits for a person: one queue for all users of the account, with owners, notes and a shelf.',
  Notifications: 'Alerts that reach people and programs by themselves, and where they are sent.',
  Diagnostics: 'How the units and the service are doing.',
  Audit: 'Who did what, and when.',
};
