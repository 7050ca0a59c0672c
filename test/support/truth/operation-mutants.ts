// Faults of single operations of the HTTP service, which their exercise must find. Data.
import { broker, type TruthMutant } from './truth-mutant.ts';

const found = [] as const;
const scenario = 'operations';

export const operationMutants: readonly TruthMutant[] = [
  broker({
    fault: 'a login code works twice',
    file: 'broker/store/accounts/login-codes.js',
    find: 'DELETE FROM login_codes WHERE code_hash = ${codeHash} AND ${isUsable(nowS)}',
    put: 'UPDATE login_codes SET code_hash = code_hash WHERE code_hash = ${codeHash} AND ${isUsable(nowS)}',
    found,
    scenario,
  }),
  broker({
    fault: 'an enrolment code stays open after it was revoked',
    file: 'broker/store/devices/enrolment-codes.js',
    find: 'return sql `UPDATE enrolment_codes SET revoked_ms = ${nowMs}',
    put: 'return sql `UPDATE enrolment_codes SET revoked_ms = NULL',
    found,
    scenario,
  }),
  broker({
    fault: 'the administrator who opened the breaker resets it',
    file: 'broker/store/commands/command-caps.js',
    find: 'sql `<> ${userID}`',
    put: 'sql `<> ${`${userID}-`}`',
    found,
    scenario,
  }),
  broker({
    fault: 'the reason of a refused cut is lost',
    file: 'broker/api/commands/approvals.js',
    find: 'endApproval(decision, as, reason ?? null)',
    put: 'endApproval(decision, as, null)',
    found,
    scenario,
  }),
  broker({
    fault: 'anybody closes and shelves alarms that others have',
    file: 'broker/store/alarms/alarm-changes.js',
    find: "OR (a.state = 'taken' AND ${isOwn(actor)}))`;\n/** Without",
    put: "OR (a.state = 'taken'))`;\n/** Without",
    found,
    scenario,
  }),
  broker({
    fault: 'a dropped payload stays in quarantine',
    file: 'broker/features/quarantine/quarantine.js',
    find: 'dropEntries(selection)',
    put: 'lockAccount(accountID)',
    found,
    scenario,
  }),
  broker({
    fault: 'a notification that was viewed is shown as new',
    file: 'broker/api/notifications/notifications.js',
    find: 'viewOne(viewer, notificationNo)',
    put: 'viewOne(viewer, 0)',
    found,
    scenario,
  }),
  broker({
    fault: 'a revoked share still shows the vehicle',
    file: 'broker/features/shares/share-statements.js',
    find: 'AND s.revoked_s IS NULL AND s.expires_s > ${nowS}',
    put: 'AND s.expires_s > ${nowS}',
    found,
    scenario,
  }),
];
