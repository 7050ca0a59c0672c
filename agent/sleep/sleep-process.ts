// Sleep in the process: passes the request on to the machine.
import { messageOf } from '../../src/core/errors.ts';
import type { AgentModule } from '../agent-module.ts';

export const sleepProcess: AgentModule = {
  perform: {
    sleep({ seconds }, { ports }) {
      void ports.requestSleep?.(seconds).catch((thrown: unknown) => {
        ports.log.warn('sleep_not_requested', { reason: messageOf(thrown) });
      });
    },
  },
};
