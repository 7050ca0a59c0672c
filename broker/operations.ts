// The list of all operations: those of the kernel in groups, those of each feature behind the group that it follows. Routes, documents and tests are generated from it.
import { accountOperations } from './api/accounts/accounts.ts';
import { authOperations } from './api/accounts/auth.ts';
import { confirmationOperations } from './api/accounts/confirmation.ts';
import { groupDeviceOperations } from './api/accounts/group-devices.ts';
import { groupOperations } from './api/accounts/groups.ts';
import { loginAgainOperations } from './api/accounts/login-again.ts';
import { preferenceOperations } from './api/accounts/preferences.ts';
import { loginWaysOperations, providerLoginOperations } from './api/accounts/provider-login.ts';
import { tokenOperations } from './api/accounts/tokens.ts';
import { userOperations } from './api/accounts/users.ts';
import { alarmChangeOperations } from './api/alarms/alarm-changes.ts';
import { alarmOperations } from './api/alarms/alarms.ts';
import { manyAlarmsOperations } from './api/alarms/many-alarms.ts';
import { type Operation, pathVariables, servedPaths } from './api/base/operation.ts';
import { approvalOperations } from './api/commands/approvals.ts';
import { bulkCommandOperations } from './api/commands/bulk-commands.ts';
import { commandBreakerOperations } from './api/commands/command-breaker.ts';
import { commandRecordOperations } from './api/commands/command-records.ts';
import { commandOperations } from './api/commands/commands.ts';
import { firmwareOperations } from './api/commands/firmware.ts';
import { addressOperations } from './api/devices/addresses.ts';
import { deviceDeletionOperations } from './api/devices/device-deletion.ts';
import { deviceImportOperations } from './api/devices/device-import.ts';
import { deviceListOperations } from './api/devices/device-list.ts';
import { deviceSettingOperations } from './api/devices/device-settings.ts';
import { deviceOperations } from './api/devices/devices.ts';
import { diagnosticOperations } from './api/devices/diagnostics.ts';
import { importSecretOperations } from './api/devices/import-secrets.ts';
import { serviceCodeOperations } from './api/devices/service-code.ts';
import { vehicleSettingOperations } from './api/devices/vehicle-settings.ts';
import { eventOperations } from './api/events/events.ts';
import { liveOperations } from './api/events/live.ts';
import { reportOperations } from './api/events/reports.ts';
import { geozoneQueryOperations } from './api/geozones/geozone-queries.ts';
import { geozoneOperations } from './api/geozones/geozones.ts';
import { deliveryOperations } from './api/notifications/deliveries.ts';
import { notificationOperations } from './api/notifications/notifications.ts';
import { pushOperations } from './api/notifications/push.ts';
import { ruleTestOperations } from './api/notifications/rule-test.ts';
import { ruleTrialOperations } from './api/notifications/rule-trial.ts';
import { ruleOperations } from './api/notifications/rules.ts';
import { auditOperations } from './api/service/audit.ts';
import { mapOperations } from './api/service/maps.ts';
import { monitorOperations } from './api/service/monitor.ts';
import { statusCodeOperations } from './api/service/status-codes.ts';
import { allFeatures, type FeatureOperation } from './features.ts';

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

const kernel = [
  authOperations,
  providerLoginOperations,
  loginAgainOperations,
  loginWaysOperations,
  tokenOperations,
  accountOperations,
  userOperations,
  preferenceOperations,
  confirmationOperations,
  groupOperations,
  groupDeviceOperations,
  deviceListOperations,
  deviceOperations,
  deviceSettingOperations,
  deviceDeletionOperations,
  serviceCodeOperations,
  deviceImportOperations,
  importSecretOperations,
  addressOperations,
  vehicleSettingOperations,
  geozoneOperations,
  geozoneQueryOperations,
  eventOperations,
  reportOperations,
  commandOperations,
  bulkCommandOperations,
  commandRecordOperations,
  approvalOperations,
  commandBreakerOperations,
  firmwareOperations,
  liveOperations,
  alarmOperations,
  alarmChangeOperations,
  manyAlarmsOperations,
  notificationOperations,
  pushOperations,
  ruleOperations,
  ruleTestOperations,
  ruleTrialOperations,
  deliveryOperations,
  diagnosticOperations,
  mapOperations,
  monitorOperations,
  auditOperations,
  statusCodeOperations,
] as const;

/** Each operation with its own types, for a client that is compiled beside it. */
export type ServedOperation = (typeof kernel)[number][number] | FeatureOperation;

const served = (isPractice: boolean): readonly Operation[] =>
  checked(
    kernel.flatMap((group: readonly Operation[]) => [
      ...group,
      ...allFeatures
        .filter((one) => one.follows === group && (isPractice || one.isPractice !== true))
        .flatMap((one) => one.operations),
    ]),
  );

export const operations = served(false);

/** Those of the broker of a demonstration. */
export const demoOperations = served(true);
