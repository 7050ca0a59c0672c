// The list of all operations. Routes, documents and tests are generated from it.
import { accountOperations } from './accounts/accounts.ts';
import { authOperations } from './accounts/auth.ts';
import { confirmationOperations } from './accounts/confirmation.ts';
import { groupDeviceOperations } from './accounts/group-devices.ts';
import { groupOperations } from './accounts/groups.ts';
import { loginAgainOperations } from './accounts/login-again.ts';
import { loginCodeOperations } from './accounts/login-code.ts';
import { preferenceOperations } from './accounts/preferences.ts';
import { providerLoginOperations } from './accounts/provider-login.ts';
import { tokenOperations } from './accounts/tokens.ts';
import { userOperations } from './accounts/users.ts';
import { alarmChangeOperations } from './alarms/alarm-changes.ts';
import { alarmOperations } from './alarms/alarms.ts';
import { manyAlarmsOperations } from './alarms/many-alarms.ts';
import { type Operation, pathVariables, servedPaths } from './base/operation.ts';
import { approvalOperations } from './commands/approvals.ts';
import { bulkCommandOperations } from './commands/bulk-commands.ts';
import { commandBreakerOperations } from './commands/command-breaker.ts';
import { commandRecordOperations } from './commands/command-records.ts';
import { commandOperations } from './commands/commands.ts';
import { firmwareOperations } from './commands/firmware.ts';
import { messageOperations } from './commands/messages.ts';
import { addressOperations } from './devices/addresses.ts';
import { deviceDeletionOperations } from './devices/device-deletion.ts';
import { deviceImportOperations } from './devices/device-import.ts';
import { deviceListOperations } from './devices/device-list.ts';
import { deviceRequestOperations } from './devices/device-requests.ts';
import { deviceSettingOperations } from './devices/device-settings.ts';
import { deviceOperations } from './devices/devices.ts';
import { diagnosticOperations } from './devices/diagnostics.ts';
import { enrolmentOperations } from './devices/enrolment.ts';
import { enrolmentCodeOperations } from './devices/enrolment-codes.ts';
import { importSecretOperations } from './devices/import-secrets.ts';
import { passengerOperations } from './devices/passengers.ts';
import { quarantineOperations } from './devices/quarantine.ts';
import { serviceCodeOperations } from './devices/service-code.ts';
import { vehicleSettingOperations } from './devices/vehicle-settings.ts';
import { eventOperations } from './events/events.ts';
import { exportOperations } from './events/exports.ts';
import { liveOperations } from './events/live.ts';
import { reportOperations } from './events/reports.ts';
import { geozoneQueryOperations } from './geozones/geozone-queries.ts';
import { geozoneOperations } from './geozones/geozones.ts';
import { routeOperations } from './geozones/routes.ts';
import { deliveryOperations } from './notifications/deliveries.ts';
import { notificationOperations } from './notifications/notifications.ts';
import { pushOperations } from './notifications/push.ts';
import { ruleTestOperations } from './notifications/rule-test.ts';
import { ruleTrialOperations } from './notifications/rule-trial.ts';
import { ruleOperations } from './notifications/rules.ts';
import { releaseStageOperations } from './releases/release-stages.ts';
import { releaseOperations } from './releases/releases.ts';
import { reportScheduleOperations } from './reports/schedules.ts';
import { auditOperations } from './service/audit.ts';
import { mapOperations } from './service/maps.ts';
import { monitorOperations } from './service/monitor.ts';
import { statusCodeOperations } from './service/status-codes.ts';
import { sharedViewOperations } from './shares/shared-views.ts';
import { shareOperations } from './shares/shares.ts';

/** A mistake in the list is a mistake of ours: it must not start. */
function checked(list: readonly Operation[]): readonly Operation[] {
  const seen = new Set<string>();
  const once = (key: string): void => {
    if (seen.has(key)) throw new Error(`two operations share ${key}`);
    seen.add(key);
  };
  for (const operation of list) {
    once(`id ${operation.id}`);
    // Two paths that differ only in the names of their variables, or in letter case, are one route.
    for (const path of servedPaths(operation))
      once(`${operation.method} ${path.replace(/\{\w+\}/g, '{}').toLowerCase()}`);
    const declared = Object.keys(operation.params.properties);
    const used = pathVariables(operation.path);
    if (declared.length !== used.length || used.some((name) => !declared.includes(name))) {
      throw new Error(`${operation.id}: params ${declared.join()} do not fit the path ${operation.path}`);
    }
  }
  return list;
}

const served = [
  ...authOperations,
  ...providerLoginOperations,
  ...loginAgainOperations,
  ...loginCodeOperations,
  ...tokenOperations,
  ...accountOperations,
  ...userOperations,
  ...preferenceOperations,
  ...confirmationOperations,
  ...groupOperations,
  ...groupDeviceOperations,
  ...deviceListOperations,
  ...deviceOperations,
  ...deviceSettingOperations,
  ...deviceDeletionOperations,
  ...serviceCodeOperations,
  ...deviceImportOperations,
  ...importSecretOperations,
  ...addressOperations,
  ...enrolmentCodeOperations,
  ...enrolmentOperations,
  ...passengerOperations,
  ...vehicleSettingOperations,
  ...geozoneOperations,
  ...geozoneQueryOperations,
  ...routeOperations,
  ...eventOperations,
  ...reportOperations,
  ...reportScheduleOperations,
  ...exportOperations,
  ...commandOperations,
  ...bulkCommandOperations,
  ...commandRecordOperations,
  ...approvalOperations,
  ...commandBreakerOperations,
  ...firmwareOperations,
  ...releaseOperations,
  ...releaseStageOperations,
  ...messageOperations,
  ...liveOperations,
  ...alarmOperations,
  ...alarmChangeOperations,
  ...manyAlarmsOperations,
  ...shareOperations,
  ...sharedViewOperations,
  ...notificationOperations,
  ...pushOperations,
  ...ruleOperations,
  ...ruleTestOperations,
  ...ruleTrialOperations,
  ...deliveryOperations,
  ...diagnosticOperations,
  ...quarantineOperations,
  ...deviceRequestOperations,
  ...mapOperations,
  ...monitorOperations,
  ...auditOperations,
  ...statusCodeOperations,
] as const;

/** Each operation with its own types, for a client that is compiled beside it. */
export type ServedOperation = (typeof served)[number];

export const operations: readonly Operation[] = checked(served);
