// The words of the OpenAPI document that belong to no single operation: its introduction and its chapters. Text only;
// what an operation does must be said at the operation.
import type { Operation } from './operation.ts';

/** The introduction, Markdown. */
export const about = `Tracks vehicles and assets, and protects them: positions, alarms, and commands to the engine cutoff and the
cargo access.

**Start here.** \`POST /api/v1/auth/login\` with account, user and password gives a token. Send it in the request header
\`authorization\` with every other call, exactly as it was returned.

**Answers** are flat JSON objects with \`status_code\` and \`success\` (text). A failure has the one member \`error\`: branch
on its \`code\`, show its \`detail\`, quote its \`requestId\`; \`errors\` points into what you sent (JSON pointers).

**Bodies** are JSON (\`Content-Type: application/json\`, at most 1 MiB), flat or under a root member \`data\`. Unknown
members and wrong types are refused with 422; nothing is converted.

**Order of checks:** path (404), verb (405 with \`Allow\`), token (401), \`Accept\` and \`Content-Type\` (406), size and
syntax (400), role and content (422), then the operation. An object of another account answers 404, like one that does
not exist. 503 carries \`Retry-After\`.

**Times** are epoch seconds, speeds km/h, coordinates decimal degrees (WGS 84). A GET that changes something has no HEAD
and is never to be cached; repeating it changes nothing further.

**Sending again.** A POST that carries an \`Idempotency-Key\` is carried out once, however often it is sent. Answers say in
\`RateLimit\` how many requests are left; who asks more often gets 503.

**Second paths.** Some operations are served at two paths that do the same; the second is described apart, its
\`operationId\` ending in \`Plain\`, \`Versioned\` or \`Joined\`.`;

/** What each chapter is about. */
export const tagWords: Readonly<Record<Operation['tag'], string>> = {
  Authentication: 'Sessions: a token for an account, a user and a password, and its end.',
  Accounts: 'The account of the caller.',
  Users: 'People of the account, their roles and which devices they see.',
  Groups: 'Named sets of devices.',
  Devices: 'Tracking units and what they are fitted to: position, sensors, features, pending commands.',
  Geozones: 'Areas, what happens on arrival and departure, and the alerts of both.',
  Routes: 'Planned routes of vehicles.',
  Events: 'Position and status records as the vehicles reported them.',
  Reports: 'Figures and files made from the records: trips, stops, exports.',
  Live: 'News as it arrives, over one open connection.',
  Commands: 'Requests to a vehicle. When it is safe to follow them is decided on the vehicle, never here.',
  Messages: 'Messages between the fleet and its vehicles.',
  Notifications: 'Alerts that reach people and programs by themselves, and where they are sent.',
  Diagnostics: 'How the units and the service are doing.',
  Audit: 'Who did what, and when.',
};
