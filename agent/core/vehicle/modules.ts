// The modules of the vehicle, in the order in which they are asked at each moment. The kernel (`../kernel/`) is what every vehicle needs: time,
// ports, board and inputs, GNSS, evidence, protection and commands, configuration, outbox and delivery. To delete a module, delete its
// folder and its line here, and its line in `agent/modules.ts` where it has one.
import { busModule } from '../bus/bus-module.ts';
import { diagnosticModule } from '../diagnostic/diagnostic-module.ts';
import { driverModule } from '../driver/driver-module.ts';
import { fuelModule } from '../fuel/fuel-module.ts';
import type { VehicleModule } from '../kernel/module.ts';
import { messagesModule } from '../messages/messages-module.ts';
import { modemModule } from '../modem/modem-module.ts';
import { ownerModule } from '../owner/owner-module.ts';
import { sleepModule } from '../sleep/sleep-module.ts';
import { updateModule } from '../update/update-module.ts';
import { zonesModule } from '../zones/zones-module.ts';

/** In this order stand the effects of one moment, tables of agent.toml and lines of the status. Sleep is last: it asks what this tick left to do. */
export const modules: readonly VehicleModule[] = [
  diagnosticModule,
  updateModule,
  messagesModule,
  zonesModule,
  busModule,
  driverModule,
  fuelModule,
  modemModule,
  ownerModule,
  sleepModule,
];
