// The host facts of a simulated vehicle: a small computer that warms up while it runs and whose disk fills slowly. Only the clock
// determines them, so a run can be repeated.

import type { AgentPorts } from '../agent/agent.ts';
import { dayS } from '../src/core/durations.ts';
import type { Clock } from '../src/ports.ts';

const ambientC = 31;
const warmC = 14;
const warmingS = 1800;
const diskFreeMb = 5120;
const diskMbPerDay = 12;
/** A vehicle begins in the middle of its day. */
const usualUpMs = 3_600_000;

/**
 * Facts of a simulated machine.
 * @param upBeforeMs how long ago it was switched on, by `clock`.
 */
export function createSimulatedHost(clock: Clock, upBeforeMs = usualUpMs): NonNullable<AgentPorts['host']> {
  const startedMs = clock.monoMs() - upBeforeMs;
  const upMs = (): number => clock.monoMs() - startedMs;
  return {
    async read() {
      const upS = upMs() / 1000;
      return {
        rssMb: 84,
        loopLagMs: 0,
        diskFreeMb: Math.max(0, diskFreeMb - (upS / dayS) * diskMbPerDay),
        cpuC: ambientC + warmC * (1 - Math.exp(-upS / warmingS)),
        load: 0.1,
        hostUpS: upS,
      };
    },
    upMs,
  };
}
