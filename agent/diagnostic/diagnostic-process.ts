// Diagnostics in the process: readings of machine, disk and log, and the signed requests for them.
import { decodeRequest } from '../../src/core/wire/device-request.ts';
import { signedTypes } from '../../src/core/wire/wire.ts';
import type { AgentModule } from '../agent-module.ts';
import { readUnit } from './unit-reading.ts';

export const diagnosticProcess: AgentModule = {
  downlinks: [{ kind: 'request', type: signedTypes.request, decode: decodeRequest }],
  perform: {
    readUnit({ requestID }, { dispatch, ...sources }) {
      void readUnit(sources).then((reading) => dispatch({ kind: 'unit', requestID, reading }));
    },
    readLog: ({ requestID }, { ports, dispatch }) =>
      dispatch({ kind: 'excerpt', requestID, text: ports.recentLog?.() ?? null }),
  },
};
