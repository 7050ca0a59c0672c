// Fuel in the process: the reader of the digital sender, and its check for the doctor.
import type { AgentModule } from '../agent-module.ts';
import type { LlsConfig } from '../core/fuel/lls-config.ts';

export const fuelProcess: AgentModule = {
  table: 'fuelSender',
  portTitle: 'Port of the fuel sender',
  async load(config: LlsConfig, ports) {
    const { startLlsReader } = await import('./lls-reader.ts');
    return (dispatch) =>
      startLlsReader({ ...ports, config, onReading: (reading) => dispatch({ kind: 'fuelSender', reading }) });
  },
  check: async (config: LlsConfig, context) =>
    (await import('./fuel-check.ts')).fuelSenderCheck({ config, ...context }),
};
