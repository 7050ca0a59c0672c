// The command `alarms`: prints which alarms the vehicle raises by itself, when, and what each needs. Read-only.

import { statusCodes } from '../../src/core/events/status-codes.ts';
import { alarmTable, describeAlarms } from '../core/alarms/table.ts';

export interface AlarmsOutput {
  readonly json: unknown;
  readonly text: string;
}

/** What `fleetward-agent alarms [--json]` prints. */
export function listAlarms(): AlarmsOutput {
  const lines = alarmTable.flatMap(({ name, when, ends, needs, settings }) => {
    const end = ends === 'by itself' ? '' : `  ends with ${ends} (${statusCodes[ends].code})`;
    return [
      `${name} (${statusCodes[name].code})${end}`,
      `    ${when}`,
      `    needs ${needs}`,
      ...(settings.length === 0
        ? []
        : [`    settings: ${settings.map((key) => `alarms.${key}`).join(', ')}`]),
    ];
  });
  return { json: describeAlarms(), text: lines.join('\n') };
}
