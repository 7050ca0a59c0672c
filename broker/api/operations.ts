// The one list of operations. Routes, documents and tests are made from it; what is not here does not exist.
import { accountOperations } from './accounts/accounts.ts';
import { authOperations } from './accounts/auth.ts';
import { groupOperations } from './accounts/groups.ts';
import { tokenOperations } from './accounts/tokens.ts';
import { userOperations } from './accounts/users.ts';
import { approvalOperations } from './commands/approvals.ts';
import { commandBreakerOperations } from './commands/command-breaker.ts';
import { commandRecordOperations } from './commands/command-records.ts';
import { commandOperations } from './commands/commands.ts';
import { firmwareOperations } from './commands/firmware.ts';
import { messageOperations } from './commands/messages.ts';
import { addressOperations } from './devices/addresses.ts';
import { deviceImportOperations } from './devices/device-import.ts';
import { deviceListOperations } from './devices/device-list.ts';
import { deviceRequestOperations } from './devices/device-requests.ts';
import { deviceSettingOperations } from './devices/device-settings.ts';
import { deviceOperations } from './devices/devices.ts';
import { diagnosticOperations } from './devices/diagnostics.ts';
import { enrolmentOperations } from './devices/enrolment.ts';
import { enrolmentCodeOperations } from './devices/enrolment-codes.ts';
import { passengerOperations } from './devices/passengers.ts';
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
import { ruleOperations } from './notifications/rules.ts';
import { type Operation, pathVariables, servedPaths } from './operation.ts';
import { auditOperations } from './service/audit.ts';
import { monitorOperations } from './service/monitor.ts';

/** A mistake in the list is a mistake of ours: it must not start. */
function checked(list: readonly Operation[]): readonly Operation[] {
  const seen = new Set<string>();
  const once = (key: string): void => {
    if (seen.has(key)) throw new Error(`two operations share ${key}`);
    seen.add(key);
  };
  for (const operation of list) {
    once(`id ${operation.id}`);
    // Two paths that differ only in the names of their variables are one route.
    for (const path of servedPaths(operation)) once(`${operation.method} ${path.replace(/\{\w+\}/g, '{}')}`);
    const declared = Object.keys(operation.params.properties);
    const used = pathVariables(operation.path);
    if (declared.length !== used.length || used.some((name) => !declared.includes(name))) {
      throw new Error(`${operation.id}: params ${declared.join()} do not fit the path ${operation.path}`);
    }
  }
  return list;
}

export const operations: readonly Operation[] = checked([
  ...authOperations,
  ...tokenOperations,
  ...accountOperations,
  ...userOperations,
  ...groupOperations,
  ...deviceListOperations,
  ...deviceOperations,
  ...deviceSettingOperations,
  ...serviceCodeOperations,
  ...deviceImportOperations,
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
  ...exportOperations,
  ...commandOperations,
  ...commandRecordOperations,
  ...approvalOperations,
  ...commandBreakerOperations,
  ...firmwareOperations,
  ...messageOperations,
  ...liveOperations,
  ...notificationOperations,
  ...pushOperations,
  ...ruleOperations,
  ...deliveryOperations,
  ...diagnosticOperations,
  ...deviceRequestOperations,
  ...monitorOperations,
  ...auditOperations,
]);
