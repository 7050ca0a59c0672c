// All areas of the exercise, in the order in which they are carried out.
import { account } from './account.ts';
import { alarms } from './alarms.ts';
import type { Area } from './bench.ts';
import { approvals, commands } from './commands.ts';
import { deletion, devices } from './devices.ts';
import { enrolment } from './enrolment.ts';
import { notifications, push } from './notifications.ts';
import { owners } from './owner.ts';
import { positions } from './positions.ts';
import { reports } from './reports.ts';
import { sessions } from './sessions.ts';
import { unavailable } from './unavailable.ts';
import { users } from './users.ts';
import { zones } from './zones.ts';

export const areas: readonly Area[] = [
  users,
  sessions,
  unavailable,
  account,
  devices,
  enrolment,
  zones,
  alarms,
  notifications,
  push,
  reports,
  positions,
  commands,
  owners,
  approvals,
  // Last: it deletes the devices of the others.
  deletion,
];
