// The modules of the vehicle that need something of the process; beside `core/vehicle/modules.ts`, in the same order.
import type { AgentModule } from './agent-module.ts';
import { busProcess } from './bus/bus-process.ts';
import { diagnosticProcess } from './diagnostic/diagnostic-process.ts';
import { driverProcess } from './driver/driver-process.ts';
import { fuelProcess } from './fuel/fuel-process.ts';
import { messagesProcess } from './messages/messages-process.ts';
import { ownerProcess } from './owner/owner-process.ts';
import { sleepProcess } from './sleep/sleep-process.ts';
import { updateProcess } from './update/update-process.ts';

export const agentModules: readonly AgentModule[] = [
  diagnosticProcess,
  updateProcess,
  messagesProcess,
  busProcess,
  driverProcess,
  fuelProcess,
  ownerProcess,
  sleepProcess,
];
