// Until when each kind of event may wait on the vehicle for others that can share its packet.
import { expect, it } from 'vitest';
import { commitNow, record, type StepContext, stamp } from '../../agent/core/kernel/vehicle-state.ts';
import { statusCodes, statusPriority } from '../../src/core/events/status-codes.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

/** How long what a step commits may wait to be sent, ms, in a vehicle with this window; null: it commits nothing. */
function waitMs(rig: VehicleRig, windowMs: number, step: (work: StepContext) => void): number | null {
  let waits: number | null = null;
  rig.within((work) => {
    const own = { ...work, config: { ...work.config, windowMs }, effects: [], receipts: [] } as StepContext;
    step(own);
    const commit = own.effects.find((effect) => effect.kind === 'commit');
    if (commit !== undefined) waits = commit.sendByMs - work.now.monoMs;
  });
  return waits;
}

const at = (work: StepContext, statusCode: number) => commitNow(work, [stamp(work, { statusCode })]);

it('alarms, panics, reports on commands and of the guard leave at once, whatever the window', async () => {
  const rig = await createVehicleRig({});
  const urgent = Object.values(statusCodes).filter(({ priority }) => priority < 2);
  expect(urgent).toContain(statusCodes.PANIC_ON);
  expect(urgent).toContain(statusCodes.COMMAND_ACK);
  expect(urgent).toContain(statusCodes.GUARD_REFUSED);
  for (const { code, text } of urgent)
    for (const windowMs of [0, 60_000])
      expect(
        waitMs(rig, windowMs, (work) => at(work, code)),
        text,
      ).toBe(0);
});

it('answers to people, and the end of the process, leave at once', async () => {
  const rig = await createVehicleRig({});
  const { QUERY, DIAGNOSTIC, MESSAGE_RECEIVED, CONFIG_COMPLETE, CONFIG_FAILED, SHUTDOWN } = statusCodes;
  for (const { code, text } of [
    QUERY,
    DIAGNOSTIC,
    MESSAGE_RECEIVED,
    CONFIG_COMPLETE,
    CONFIG_FAILED,
    SHUTDOWN,
  ])
    expect(
      waitMs(rig, 60_000, (work) => at(work, code)),
      text,
    ).toBe(0);
});

it('a change of state waits two seconds at most, and never longer than positions may', async () => {
  const rig = await createVehicleRig({});
  const ignition = (work: StepContext) => at(work, statusCodes.IGNITION_ON.code);
  expect(waitMs(rig, 60_000, ignition)).toBe(2000);
  expect(waitMs(rig, 1000, ignition)).toBe(1000);
  expect(waitMs(rig, 0, ignition)).toBe(0);
});

it('a commit is sent when the first of its events is due: an alarm takes all others along', async () => {
  const rig = await createVehicleRig({});
  const both = (work: StepContext, codes: readonly number[]) =>
    commitNow(
      work,
      codes.map((statusCode) => stamp(work, { statusCode })),
    );
  const { IGNITION_OFF, BREACH_ON } = statusCodes;
  expect(waitMs(rig, 60_000, (work) => both(work, [IGNITION_OFF.code, BREACH_ON.code]))).toBe(0);
});

it('positions that were written early wait for the rest of their window', async () => {
  const rig = await createVehicleRig({});
  const waits = waitMs(rig, 60_000, (work) => {
    record(work, { statusCode: statusCodes.LOCATION.code });
    // Something else has to be on disk now.
    commitNow({ ...work, now: { ...work.now, monoMs: work.now.monoMs + 20_000 } }, []);
  });
  expect(waits).toBe(60_000);
  expect(statusPriority(statusCodes.LOCATION.code)).toBe(3);
});
