// Messages in the process: the signed ones of operators.
import { decodeMessage, signedTypes } from '../../src/core/wire/wire.ts';
import type { AgentModule } from '../agent-module.ts';

export const messagesProcess: AgentModule = {
  downlinks: [{ kind: 'message', type: signedTypes.message, decode: decodeMessage }],
};
