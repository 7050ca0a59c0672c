// What of the service an operator should look at, and what needs an act now. Pure: facts in, codes with their numbers out; the words
// are made by the page. Limits are those of the alert rules in systemd/prometheus where both judge the same thing.
import type { QueueName, ServiceFacts } from './service-facts.ts';

export const findingCodes = [
  'not_ready',
  'commits_late',
  'backup_missing',
  'backup_late',
  'backup_failed',
  'archive_failing',
  'disk_low',
  'wal_large',
  'certificate_ends',
  'advisory',
  'advisories_unread',
  'support_ends',
  'quarantine_grows',
  'account_near_limit',
  'account_ends',
  'devices_refused',
  'wrong_secrets',
  'takeovers',
  'device_over_limit',
  'queue_old',
  'notifier_behind',
  'lease_silent',
  'figures_old',
  'errors_logged',
] as const;
export type FindingCode = (typeof findingCodes)[number];

export const findingUnits = ['none', 's', 'd', 'B', '%', 'count'] as const;

export interface Finding {
  readonly code: FindingCode;
  /** `act`: something fails or is about to; `look`: by day. */
  readonly level: 'look' | 'act';
  /** What it is about: a name, an id; '' when the code says it. */
  readonly subject: string;
  readonly value: number;
  /** The limit that was passed. */
  readonly limit: number;
  readonly unit: (typeof findingUnits)[number];
}

interface Grades {
  readonly look: number;
  /** Absent: it never needs an act by night. */
  readonly act?: number;
}

/** All limits. A value at a limit has not passed it. */
export const findingLimits = {
  /** At 10 s the broker takes no further connections. */
  commitS: { look: 1, act: 5 },
  /** Multiples of the age at which a backup is late. */
  backup: { look: 1, act: 3 },
  /** Below. */
  freeBytes: { look: 5e9, act: 1e9 },
  walBytes: { look: 2e9 },
  /** Below. */
  certificateDays: { look: 30, act: 7 },
  /** Below. */
  supportDays: { look: 180, act: 0 },
  accountDays: { look: 14 },
  accountPercent: { look: 90 },
  quarantinedAnHour: { look: 10 },
  refusedAnHour: { look: 0, act: 100 },
  /** Refusals need an act only while they go on: the last one is younger. */
  refusedNowS: 300,
  wrongSecretsAnHour: { look: 100 },
  takeoversAnHour: { look: 100 },
  overLimitAnHour: { look: 0 },
  notifierEvents: { look: 10_000, act: 100_000 },
  leaseS: { look: 15, act: 60 },
  figuresS: { look: 120, act: 600 },
  errorsAnHour: { look: 0 },
} as const;

/** Ages of the oldest that waits. What waits for a vehicle or a user of an account has none: it is the account's own matter. */
const queueGrades: Partial<Record<QueueName, Grades>> = {
  deliveries: { look: 900, act: 7200 },
  occurrences: { look: 900, act: 7200 },
  audit: { look: 900, act: 86_400 },
  purges: { look: 86_400 },
  feeds: { look: 900, act: 43_200 },
};

/** Refusals of vehicles that are no fault of the vehicle. */
const turnedAway: readonly string[] = [
  'refused_full',
  'refused_unavailable',
  'refused_rate',
  'refused_crowd',
];

/** Devices that are named; the log names all. */
const overLimitMost = 5;

const daysTill = (untilS: number, nowS: number): number => Math.floor((untilS - nowS) / 86_400);

type Judged = Omit<Finding, 'level' | 'limit'>;

function above(judged: Judged, { look, act }: Grades): readonly Finding[] {
  if (act !== undefined && judged.value > act) return [{ ...judged, level: 'act', limit: act }];
  return judged.value > look ? [{ ...judged, level: 'look', limit: look }] : [];
}

function below(judged: Judged, { look, act }: Grades): readonly Finding[] {
  if (act !== undefined && judged.value < act) return [{ ...judged, level: 'act', limit: act }];
  return judged.value < look ? [{ ...judged, level: 'look', limit: look }] : [];
}

const times = ({ look, act }: Required<Grades>, by: number): Grades => ({ look: look * by, act: act * by });

function ofService({ service, queues, errors }: ServiceFacts): readonly Finding[] {
  const worst = errors.listed
    .filter(({ level }) => level === 'error')
    .toSorted((one, other) => other.lastHour - one.lastHour);
  const failures = worst.reduce((sum, { lastHour }) => sum + lastHour, 0);
  return [
    ...service.checks
      .filter(({ fault }) => fault !== '')
      .map(
        ({ name }): Finding => ({
          code: 'not_ready',
          level: 'act',
          subject: name,
          value: 0,
          limit: 0,
          unit: 'none',
        }),
      ),
    ...(queues?.listed ?? []).flatMap(({ name, oldestS }) =>
      name === 'commits'
        ? above({ code: 'commits_late', subject: '', value: oldestS, unit: 's' }, findingLimits.commitS)
        : above(
            { code: 'queue_old', subject: name, value: oldestS, unit: 's' },
            queueGrades[name] ?? { look: Number.POSITIVE_INFINITY },
          ),
    ),
    ...above(
      { code: 'errors_logged', subject: worst[0]?.name ?? '', value: failures, unit: 'count' },
      findingLimits.errorsAnHour,
    ),
  ];
}

function ofBackup({ timestamp, backup, accounts, service }: ServiceFacts): readonly Finding[] {
  if (backup === null) return [];
  const { good, failed, archive, lateAfterS } = backup;
  const limits = times(findingLimits.backup, lateAfterS);
  const found: Finding[] = [];
  if (archive !== null && archive.failedAtS > archive.archivedAtS) {
    const value = timestamp - archive.failedAtS;
    found.push({ code: 'archive_failing', level: 'look', subject: '', value, limit: 0, unit: 's' });
  }
  // A server is backed up by its own tools, of which the broker sees nothing.
  if (service.database === 'postgres') return found;
  if (failed?.isLast === true) {
    const value = timestamp - failed.atS;
    found.push({ code: 'backup_failed', level: 'look', subject: failed.reason, value, limit: 0, unit: 's' });
  }
  if (good !== null) {
    const value = timestamp - good.atS;
    return [...found, ...above({ code: 'backup_late', subject: '', value, unit: 's' }, limits)];
  }
  // A service without an account has nothing to lose; a new one has a day.
  const oldestAtS = accounts?.oldestAtS ?? 0;
  const value = oldestAtS === 0 ? 0 : timestamp - oldestAtS;
  return [
    ...found,
    ...above({ code: 'backup_missing', subject: '', value, unit: 's' }, { look: 0, act: lateAfterS }),
  ];
}

function ofStorage({ timestamp, storage, certificates }: ServiceFacts): readonly Finding[] {
  const { freeBytes, walBytes } = { freeBytes: null, walBytes: null, ...storage };
  const behind = storage === null ? 0 : storage.lastEventNo - storage.notifiedEventNo;
  return [
    ...(freeBytes === null
      ? []
      : below({ code: 'disk_low', subject: '', value: freeBytes, unit: 'B' }, findingLimits.freeBytes)),
    ...above({ code: 'wal_large', subject: '', value: walBytes ?? 0, unit: 'B' }, findingLimits.walBytes),
    ...above(
      { code: 'notifier_behind', subject: '', value: behind, unit: 'count' },
      findingLimits.notifierEvents,
    ),
    ...certificates.flatMap(({ setting, untilAtS }) =>
      below(
        { code: 'certificate_ends', subject: setting, value: daysTill(untilAtS, timestamp), unit: 'd' },
        findingLimits.certificateDays,
      ),
    ),
  ];
}

function ofAdvisories({ timestamp, advisories }: ServiceFacts): readonly Finding[] {
  if (advisories === null) return [];
  const { fault, serviceUntilAtS, unitsUntilAtS, listed } = advisories;
  const ends = [
    { subject: 'fleetward-broker', untilAtS: serviceUntilAtS },
    { subject: 'fleetward-agent', untilAtS: unitsUntilAtS },
  ].filter(({ untilAtS }) => untilAtS > 0);
  return [
    ...(fault === ''
      ? []
      : [
          {
            code: 'advisories_unread',
            level: 'look',
            subject: fault,
            value: 0,
            limit: 0,
            unit: 'none',
          } satisfies Finding,
        ]),
    ...listed.map(
      ({ id, severity, summary, url, isOfService, units }): Finding => ({
        code: 'advisory',
        level: severity === 'critical' || severity === 'high' ? 'act' : 'look',
        subject: `${isOfService ? 'fleetward-broker, ' : ''}${id}, ${summary}, ${url}`,
        value: units,
        limit: 0,
        unit: 'count',
      }),
    ),
    ...ends.flatMap(({ subject, untilAtS }) =>
      below(
        { code: 'support_ends', subject, value: daysTill(untilAtS, timestamp), unit: 'd' },
        findingLimits.supportDays,
      ),
    ),
  ];
}

function ofAccounts({ timestamp, accounts, quarantine }: ServiceFacts): readonly Finding[] {
  const listed = (accounts?.listed ?? []).filter(({ state }) => state === 'active');
  return [
    ...listed.flatMap(({ accountID, devices, maximumDevices, expiresAtS }) => [
      ...above(
        {
          code: 'account_near_limit',
          subject: accountID,
          value: maximumDevices === 0 ? 0 : Math.floor((100 * devices) / maximumDevices),
          unit: '%',
        },
        findingLimits.accountPercent,
      ),
      ...(expiresAtS === 0
        ? []
        : below(
            { code: 'account_ends', subject: accountID, value: daysTill(expiresAtS, timestamp), unit: 'd' },
            findingLimits.accountDays,
          )),
    ]),
    ...above(
      { code: 'quarantine_grows', subject: '', value: quarantine?.lastHour ?? 0, unit: 'count' },
      findingLimits.quarantinedAnHour,
    ),
  ];
}

function ofConnections({ timestamp, connections, leases }: ServiceFacts): readonly Finding[] {
  const { look, act } = findingLimits.refusedAnHour;
  return [
    ...connections.refused.flatMap(({ name, lastHour, lastAtS }) => {
      const judged = { subject: name, value: lastHour, unit: 'count' } as const;
      if (turnedAway.includes(name)) {
        const goesOn = timestamp - lastAtS < findingLimits.refusedNowS;
        return above({ code: 'devices_refused', ...judged }, goesOn ? { look, act } : { look });
      }
      if (name === 'refused_credentials')
        return above({ code: 'wrong_secrets', ...judged }, findingLimits.wrongSecretsAnHour);
      return name === 'takeover'
        ? above({ code: 'takeovers', ...judged }, findingLimits.takeoversAnHour)
        : [];
    }),
    ...connections.overLimit
      .slice(0, overLimitMost)
      .flatMap(({ name, lastHour }) =>
        above(
          { code: 'device_over_limit', subject: name, value: lastHour, unit: 'count' },
          findingLimits.overLimitAnHour,
        ),
      ),
    ...leases.flatMap(({ name, silentS }) =>
      above({ code: 'lease_silent', subject: name, value: silentS, unit: 's' }, findingLimits.leaseS),
    ),
  ];
}

/** Figures that the database has not given anew. */
function ofFigures(facts: ServiceFacts): readonly Finding[] {
  const groups = ['accounts', 'quarantine', 'backup', 'queues', 'storage', 'bridges'] as const;
  return groups.flatMap((subject) => {
    const atS = facts[subject]?.atS ?? facts.timestamp;
    return above(
      { code: 'figures_old', subject, value: facts.timestamp - atS, unit: 's' },
      findingLimits.figuresS,
    );
  });
}

/** Everything that has passed a limit; what needs an act first. */
export function findingsOf(facts: ServiceFacts): readonly Finding[] {
  const found = [ofService, ofBackup, ofStorage, ofAdvisories, ofConnections, ofAccounts, ofFigures].flatMap(
    (judge) => judge(facts),
  );
  return [...found.filter(({ level }) => level === 'act'), ...found.filter(({ level }) => level === 'look')];
}

/** The worst of them. */
export function levelOf(findings: readonly Finding[]): 'good' | 'look' | 'act' {
  return findings[0]?.level ?? 'good';
}
