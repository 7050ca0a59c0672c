// The owner in the process: the cryptography, the document on this machine, and those that the service carries.
import { decodeOwnerMessage, signedTypes } from '../../src/core/wire/wire.ts';
import type { AgentModule } from '../agent-module.ts';

export const ownerProcess: AgentModule = {
  setup: ({ owner }) => (owner === undefined ? {} : { ownerSource: owner }),
  downlinks: [{ kind: 'owner', type: signedTypes.owner, decode: decodeOwnerMessage }],
  refusesRelayTest: ({ owner }) =>
    owner === undefined
      ? null
      : 'this unit has an owner: cut and unlock need the persons of the owner, at the vehicle too',
};
