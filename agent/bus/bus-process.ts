// The vehicle bus in the process: its adapter, and its check for the doctor.
import type { AgentModule } from '../agent-module.ts';
import type { BusConfig } from '../core/bus/bus-config.ts';

export const busProcess: AgentModule = {
  table: 'bus',
  portTitle: 'Port of the bus adapter',
  part: 'bus',
  async load(config: BusConfig, ports) {
    const { startVehicleBus } = await import('./vehicle-bus.ts');
    return (dispatch) =>
      startVehicleBus({ ...ports, config, onReading: (reading) => dispatch({ kind: 'bus', reading }) });
  },
  check: async (bus: BusConfig, context) =>
    (await import('./bus-check.ts')).vehicleBusCheck({ bus, ...context }),
  findings: ({ bus }) =>
    bus === null ? null : import('./bus-check.ts').then(({ busFindings }) => busFindings(bus)),
};
