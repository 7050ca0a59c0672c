// The driver in the process: the reader of keys, and its check for the doctor.
import type { AgentModule } from '../agent-module.ts';
import type { DriverReaderConfig } from '../core/driver/driver-config.ts';

export const driverProcess: AgentModule = {
  table: 'driverReader',
  portTitle: "Port of the reader of drivers' keys",
  async load(config: DriverReaderConfig, ports) {
    const { startKeyReader } = await import('./key-reader.ts');
    return (dispatch) =>
      startKeyReader({
        ...ports,
        config,
        onKey: (id) => dispatch({ kind: 'driverReader', input: { kind: 'key', id } }),
        onReading: (reading) => dispatch({ kind: 'driverReader', input: { kind: 'reader', reading } }),
      });
  },
  check: async (config: DriverReaderConfig, context) =>
    (await import('./driver-check.ts')).driverReaderCheck({
      config,
      ...context,
      settings: context.settings.driver,
    }),
};
