// The shape of the state of the service, as its operator reads it. Schemas only; the facts are gathered by `ServiceStatus`.
import { Type } from 'typebox';
import { severities } from '../../../src/core/releases/advisories.ts';
import { findingCodes, findingUnits } from '../../core/operating/findings.ts';
import { accountStates, queueNames } from '../../core/operating/service-facts.ts';
import { count, envelope, epoch, text } from '../base/shapes.ts';

const seconds = (description: string) =>
  Type.Number({ minimum: 0, description: `${description}, in seconds` });
const bytesOrNull = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${description}, in bytes; null: unknown`,
  });
const atS = epoch('When the database was asked');
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(
  schema: Schema,
  description: string,
) => Type.Union([schema, Type.Null()], { description: `${description}; null: not known yet` });
const recent = {
  name: text('What happened'),
  lastHour: count('How often within the last hour'),
  lastAtS: epoch('The last time'),
} as const;

const finding = Type.Object(
  {
    code: Type.Enum([...findingCodes], { description: 'Which limit was passed' }),
    level: Type.Enum(['look', 'act'], {
      description: '`act`: something fails or is about to; `look`: by day',
    }),
    subject: text('What it is about; empty when the code says it'),
    value: Type.Number({ description: 'What was found' }),
    limit: Type.Number({ description: 'The limit that it passed' }),
    unit: Type.Enum([...findingUnits], { description: 'Unit of both' }),
  },
  { description: 'Something that has passed a limit' },
);

const service = Type.Object({
  version: text('Version of the broker'),
  nodeVersion: text('Version of Node'),
  startedAtS: epoch('When it was started'),
  database: Type.Enum(['sqlite', 'postgres'], { description: 'What the database is' }),
  ingress: Type.Enum(['own', 'cluster'], {
    description: '`own`: it has the connections of vehicles; `cluster`: a cluster in front has them',
  }),
  checks: Type.Array(
    Type.Object({ name: text('What must work'), fault: text('What is wrong with it; empty: nothing') }),
    { description: 'As at `/readyz`' },
  ),
});

const accounts = Type.Object({
  atS,
  total: count('Accounts'),
  devices: count('Devices of the first 5,000 accounts'),
  devicesOnline: count('Those of them that are connected'),
  oldestAtS: epoch('When the oldest account was made; 0: there is none'),
  listed: Type.Array(
    Type.Object({
      accountID: text('The account'),
      accountDisplayName: text('Its name for people'),
      state: Type.Enum([...accountStates], { description: 'Whether it can be used' }),
      devices: count('Devices'),
      devicesOnline: count('Those that are connected'),
      maximumDevices: count('Most devices; 0 = no limit'),
      users: count('Users'),
      createdAtS: epoch('When it was made'),
      expiresAtS: epoch('When it ends; 0 = never'),
      retainedDays: count('Days that events are kept; 0 = for ever'),
    }),
    { description: 'At most 100: the nearest to their limit first, then those that end first' },
  ),
});

const quarantine = Type.Object({
  atS,
  payloads: count('Unreadable payloads that are kept'),
  bytes: count('Their bytes'),
  examined: count('How many of the newest the members below are about, 2,000 at most'),
  lastHour: count('Those that came within the last hour'),
  reasons: Type.Array(
    Type.Object({
      reason: text('Why the newest could not be read'),
      payloads: count('Payloads'),
      devices: count('Devices that sent them'),
      oldestAtS: epoch('When the oldest came'),
      newestAtS: epoch('When the newest came'),
      accountID: text('Account of the newest'),
      deviceID: text('Device of the newest'),
    }),
    { description: 'The most frequent first; reasons that differ in numbers only are one' },
  ),
});

const backup = Type.Object({
  atS,
  lateAfterS: seconds('Age at which the last good backup is late (`admin.backupHours`)'),
  good: Type.Union(
    [
      Type.Object({
        atS: epoch('When it was made'),
        file: text('Name of its file'),
        bytes: count('Its bytes'),
        durationS: seconds('How long it took'),
        hasSigningKey: Type.Boolean({ description: 'Whether the signing key is in it' }),
      }),
      Type.Null(),
    ],
    { description: 'The last good one of `fleetward-broker backup`; null: there is none' },
  ),
  failed: Type.Union(
    [
      Type.Object({
        atS: epoch('When it failed'),
        reason: text('Why'),
        isLast: Type.Boolean({ description: 'No good one came after it' }),
      }),
      Type.Null(),
    ],
    { description: 'The last one that failed; null: there is none' },
  ),
  archive: Type.Union(
    [
      Type.Object({
        archivedAtS: epoch('When the server last archived a part of its log; 0 = never'),
        failedAtS: epoch('When that last failed; 0 = never'),
      }),
      Type.Null(),
    ],
    { description: 'Archiving of a PostgreSQL server; null: it archives nothing, or the database is a file' },
  ),
});

const queues = Type.Object({
  atS,
  listed: Type.Array(
    Type.Object({
      name: Type.Enum([...queueNames], { description: 'What waits' }),
      waiting: count('How many'),
      oldestS: seconds('Age of the oldest; 0 when nothing waits'),
    }),
  ),
});

const connections = Type.Object({
  devices: count('Vehicles that are connected'),
  devicesWaiting: count('Connections of vehicles that wait for their turn'),
  apps: count('Connections of apps'),
  streams: count('Live streams'),
  refused: Type.Array(Type.Object(recent), {
    description: 'Refused connections of vehicles by reason, as in the metrics, and `takeover`',
  }),
  overLimit: Type.Array(Type.Object(recent), {
    description: 'Vehicles over a limit of events, as account/device, and how many payloads passed it',
  }),
});

const storage = Type.Object({
  atS,
  databaseBytes: bytesOrNull('The database'),
  walBytes: bytesOrNull('What was committed and is not in the file yet'),
  freeBytes: bytesOrNull('Space that is left beside the file'),
  slices: Type.Object(
    {
      open: count('Open'),
      closed: count('Closed'),
      retired: count('Past every limit'),
      dropping: count('Being emptied'),
    },
    { description: 'Slices of the events by state' },
  ),
  oldestSliceAtS: epoch('When the oldest slice was opened; 0: the first one'),
  lastEventNo: count('Number of the last stored event'),
  notifiedEventNo: count('Up to which the notifier has decided'),
});

const advisories = Type.Object({
  atS,
  fault: text('Why the list is not used; empty: it is'),
  serviceUntilAtS: epoch('End of the security updates of this broker; 0: the list does not say'),
  unitsUntilAtS: epoch(
    'The earliest end among the releases that units run; 0: the list does not say it of all',
  ),
  listed: Type.Array(
    Type.Object({
      id: text('Its name'),
      severity: Type.Enum([...severities], { description: 'As the supplier judged it' }),
      summary: text('What it is'),
      action: text('What to do'),
      url: text('Where to read it'),
      isOfService: Type.Boolean({ description: 'It concerns this broker' }),
      units: count('Units whose release it concerns'),
    }),
    { description: 'Known vulnerabilities of this broker and of the units' },
  ),
});

/** Of one answer; `findings` and `level` are judged from the rest. */
export const statusAnswer = Type.Object({
  ...envelope,
  timestamp: epoch('When this was answered'),
  level: Type.Enum(['good', 'look', 'act'], { description: 'The worst of the findings' }),
  findings: Type.Array(finding, { description: 'What passed a limit; what needs an act first' }),
  service,
  accounts: orNull(accounts, 'Accounts and their limits'),
  quarantine: orNull(quarantine, 'Unreadable payloads'),
  backup: orNull(backup, 'Backups'),
  queues: orNull(queues, 'What waits'),
  connections,
  storage: orNull(storage, 'Database and disk'),
  bridges: Type.Union(
    [
      Type.Object({
        atS,
        listed: Type.Array(
          Type.Object({
            address: text('Address from which it uses the database; empty: the machine of the database'),
            sinceAtS: epoch('Since when'),
          }),
        ),
      }),
      Type.Null(),
    ],
    { description: 'Bridges on the database; null: not known yet, or this broker works alone' },
  ),
  leases: Type.Array(
    Type.Object({
      name: text('The work'),
      holder: text('Begin of the id of the bridge that does it; empty: none does'),
      isOwn: Type.Boolean({ description: 'It is this bridge' }),
      silentS: seconds('Since its last sign of life'),
    }),
    { description: 'Work that one bridge does for all; empty where a broker works alone' },
  ),
  advisories: Type.Union([advisories, Type.Null()], {
    description: 'Known vulnerabilities and support; null: not known yet, or `advisories.file` is not set',
  }),
  certificates: Type.Array(
    Type.Object({ setting: text('Setting that names it'), untilAtS: epoch('When it ends') }),
  ),
  errors: Type.Object({
    sinceAtS: epoch('Begin of what is counted: an hour ago, or the start'),
    listed: Type.Array(
      Type.Object({
        ...recent,
        level: Type.Enum(['warn', 'error'], { description: 'Severity in the log' }),
      }),
      { description: 'Errors and warnings of the log by their names; errors first' },
    ),
  }),
});
