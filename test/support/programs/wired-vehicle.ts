// The hardware of a vehicle on pseudo-terminals, for tests with real processes: pymodbus as its board, a receiver that the
// test plays, and the agent's settings for both.

import { openGnssSource } from '../serial/gnss-source.ts';
import { ptyPair, startSlave } from '../serial/pty-bus.ts';
import { type AgentSetup, writeAgentConfig } from './fleet-processes.ts';

/** @param python an interpreter that has pymodbus. `close` leaves the slave, which a test may start anew on `boardFar`. */
export async function wireVehicle(setup: Omit<AgentSetup, 'boardPort' | 'gnssPort'>, python: string) {
  const boardBus = await ptyPair(setup.folder, 'board');
  const gnssBus = await ptyPair(setup.folder, 'gnss');
  const slave = await startSlave(python, boardBus.far);
  const gnss = await openGnssSource(gnssBus.far);
  const config = writeAgentConfig({ ...setup, boardPort: boardBus.near, gnssPort: gnssBus.near });
  return {
    config,
    slave,
    gnss,
    boardFar: boardBus.far,
    async close(): Promise<void> {
      await gnss.close();
      await boardBus.close();
      await gnssBus.close();
    },
  };
}
