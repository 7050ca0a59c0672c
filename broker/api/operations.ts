// The one list of operations. Routes, documents and tests are made from it; what is not here does not exist.
import { accountOperations } from './accounts.ts';
import { addressOperations } from './addresses.ts';
import { approvalOperations } from './approvals.ts';
import { auditOperations } from './audit.ts';
import { authOperations } from './auth.ts';
import { commandBreakerOperations } from './command-breaker.ts';
import { commandRecordOperations } from './command-records.ts';
import { commandOperations } from './commands.ts';
import { deliveryOperations } from './deliveries.ts';
import { deviceImportOperations } from './device-import.ts';
import { deviceListOperations } from './device-list.ts';
import { deviceSettingOperations } from './device-settings.ts';
import { deviceOperations } from './devices.ts';
import { diagnosticOperations } from './diagnostics.ts';
import { eventOperations } from './events.ts';
import { exportOperations } from './exports.ts';
import { firmwareOperations } from './firmware.ts';
import { geozoneQueryOperations } from './geozone-queries.ts';
import { geozoneOperations } from './geozones.ts';
import { groupOperations } from './groups.ts';
import { liveOperations } from './live.ts';
import { messageOperations } from './messages.ts';
import { monitorOperations } from './monitor.ts';
import { notificationOperations } from './notifications.ts';
import { type Operation, pathVariables, servedPaths } from './operation.ts';
import { passengerOperations } from './passengers.ts';
import { pushOperations } from './push.ts';
import { reportOperations } from './reports.ts';
import { routeOperations } from './routes.ts';
import { ruleOperations } from './rules.ts';
import { tokenOperations } from './tokens.ts';
import { userOperations } from './users.ts';

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
  ...deviceImportOperations,
  ...addressOperations,
  ...passengerOperations,
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
  ...monitorOperations,
  ...auditOperations,
]);
