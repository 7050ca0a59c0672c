// The beat of the agent costs no more than it must: a timer that comes a little early, as those of a real system do, makes no step of
// its own, and what is due is done when it is due.
import { describe, expect, it } from 'vitest';
import { createLoop } from '../../agent/agent-loop.ts';
import { readBoardProfile } from '../../agent/boards.ts';
import { type VehicleConfig } from '../../agent/core/kernel/vehicle-types.ts';
import { createCommandRecord } from '../../agent/core/protection/command-record.ts';
import { standardProtection } from '../../agent/core/protection/protection.ts';
import { createVehicle } from '../../agent/core/vehicle/vehicle-start.ts';
import { emptyMemory } from '../../agent/vehicle-record.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';
import type { Clock } from '../../src/ports.ts';

async function startedConfig(): Promise<VehicleConfig> {
  return {
    accountID: 'acme',
    deviceID: 'truck-1',
    hardwareID: '',
    agentVersion: '1.0.0',
    earliestUtcMs: Date.UTC(2026, 0, 1),
    boot: 'boot-1',
    verifier: null,
    profile: await readBoardProfile('waveshare-relay-d'),
    broker: { keepaliveS: 60 },
    gnssSilenceMs: 5000,
    settings: standardSettings,
    protection: standardProtection,
    windowMs: 10_000,
  };
}

/** Lives for a minute without ports and network; gives how often it was stepped. */
async function stepsIn(earlyMs: number): Promise<number> {
  const config = await startedConfig();
  const virtual = createVirtualClock(Date.UTC(2027, 0, 1));
  // Somewhere between two whole milliseconds, as a real one is.
  virtual.advance(0.4);
  const clock: Clock = {
    ...virtual,
    after: (delayMs, run) => virtual.after(Math.max(0, Math.trunc(delayMs) - earlyMs), run),
  };
  let steps = 0;
  const loop = createLoop({
    vehicle: config,
    clock,
    entropy: {
      bytes: (count) => new Uint8Array(count),
      fraction() {
        steps += 1;
        return 0.5;
      },
    },
    state: createVehicle(config, {
      now: { monoMs: clock.monoMs(), utcMs: clock.utcMs(), fraction: 0.5 },
      bootMonoMs: 0,
      poweredMs: 0,
      connectDelayMs: 0,
      record: createCommandRecord(),
      memory: emptyMemory,
    }),
    perform: () => undefined,
  });
  loop.dispatch({ kind: 'start' });
  virtual.advance(60_000);
  loop.stopTime();
  return steps;
}

describe('the beat of the agent', () => {
  it('is not quicker where timers come up to a millisecond early', async () => {
    const punctual = await stepsIn(0);
    // Twice a second, and when a port is tried.
    expect(punctual).toBeGreaterThan(110);
    expect(punctual).toBeLessThan(200);
    for (const earlyMs of [0.1, 0.6, 0.9])
      expect(Math.abs((await stepsIn(earlyMs)) - punctual)).toBeLessThan(5);
  });
});
