// An event that is known only once it has lasted, such as the end of a drive, bears the time at which it happened: what it says of the inputs
// is of that time too.
import { describe, expect, it } from 'vitest';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { createVehicleRig } from '../support/vehicle/vehicle-rig.ts';

describe('an event that is dated back', () => {
  it.each([
    { title: 'says the key that it had then', keyAfterS: null, ignition: true },
    { title: 'says nothing of a key that was turned since', keyAfterS: 8, ignition: undefined },
  ])('$title', async ({ keyAfterS, ignition }) => {
    const rig = await createVehicleRig();
    rig.board.setSignal('ignition', true);
    rig.drive(40);
    rig.run(30);
    rig.drive(0);
    rig.run(keyAfterS ?? 0);
    if (keyAfterS !== null) rig.board.setSignal('ignition', false);
    rig.run(150);
    const stop = rig.told.find(({ statusCode }) => statusCode === statusCodes.MOTION_STOP.code);
    expect(stop?.inputs?.['ignition']).toBe(ignition);
    const off = rig.told.find(({ statusCode }) => statusCode === statusCodes.IGNITION_OFF.code);
    expect(off?.inputs?.['ignition']).toBe(keyAfterS === null ? undefined : false);
  });
});
