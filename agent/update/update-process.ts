// The update in the process: the updater, and the signed jobs that it is given.
import { decodeFirmware, signedTypes } from '../../src/core/wire/wire.ts';
import type { AgentModule } from '../agent-module.ts';

export const updateProcess: AgentModule = {
  setup: ({ updater }) => (updater === undefined ? {} : { updateSetup: updater.setup }),
  downlinks: [{ kind: 'firmware', type: signedTypes.firmware, decode: decodeFirmware }],
  perform: {
    update({ task }, { ports, dispatch }) {
      ports.updater?.perform(task, (result) => dispatch({ kind: 'update', result }));
    },
  },
};
