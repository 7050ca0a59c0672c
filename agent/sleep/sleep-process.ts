// Sleep in the process: passes the request on to the machine.
import { messageOf } from '../../src/core/errors.ts';
import type { AgentModule } from '../agent-module.ts';

export const sleepProcess: AgentModule = {
  perform: {
    sleep({ seconds }, { requestSleep, log }) {
      void requestSleep?.(seconds).catch((thrown: unknown) => {
        log.warn('sleep_not_requested', { reason: messageOf(thrown) });
      });
    },
  },
};
