// Key figures of the fleet, for a wall display or a monitoring system: cheap enough to be read every few seconds.

import { Type } from 'typebox';
import { dayMs } from '../../../src/core/durations.ts';
import { valueList } from '../../../src/sql.ts';
import { activationCodes } from '../../core/events/activation.ts';
import { countFleet } from '../../store/devices/diagnostics.ts';
import { operation } from '../base/operation.ts';
import { count, envelope, ok } from '../base/shapes.ts';

const getMonitorMetaData = operation({
  id: 'getMonitorMetaData',
  method: 'GET',
  path: '/metrics/getMonitorMetaData/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Diagnostics',
  summary: 'The fleet in numbers',
  description: `Counts over the devices that the caller may see. The interface does not show the answer; this is it:
\`totalDevices\`, \`onlineDevices\` (connected now, or heard within their usual time) and \`offlineDevices\`; \`alarms\`: records of the alert codes of
getdeviceactivations in the last 24 hours by event time; \`pendingCommands\`: commands that have not come to an end;
\`ingestLagMs\`: how long the oldest write of the service waits for the disk (milliseconds, 0 when none does);
\`timestamp\`: when it was counted.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    totalDevices: count('Devices'),
    onlineDevices: count('Devices that are connected'),
    offlineDevices: count('Devices that are not'),
    alarms: count('Alerts of the last 24 hours'),
    pendingCommands: count('Commands that have not come to an end'),
    ingestLagMs: count('Age of the oldest write that waits for the disk, in milliseconds'),
    timestamp: count('When it was counted (epoch seconds)'),
  }),
  errors: [],
  effects: false,
  examples: {
    result: {
      totalDevices: 120,
      onlineDevices: 113,
      offlineDevices: 7,
      alarms: 4,
      pendingCommands: 1,
      ingestLagMs: 0,
      timestamp: 1763683200,
    },
  },
  async run({ caller }, { db, clock, metrics }) {
    const nowMs = Math.round(clock.utcMs());
    const alarmsOf = { codes: valueList(activationCodes), fromMs: nowMs - dayMs };
    const { devices, online, alarms, pendingCommands } = await countFleet(db, caller.scope, alarmsOf);
    return {
      ...ok,
      totalDevices: devices,
      onlineDevices: online,
      // The two counts are not of one moment: a device may go in between.
      offlineDevices: Math.max(0, devices - online),
      alarms,
      pendingCommands,
      ingestLagMs: Math.round(metrics().lagMs),
      timestamp: Math.floor(nowMs / 1000),
    };
  },
});

export const monitorOperations = [getMonitorMetaData] as const;
