// How the console finds the end of a cut or an unlock of its user: by messages of the stream, or by the list of devices where they were missed.
import { describe, expect, it } from 'vitest';
import {
  commandEnd,
  isUnderWay,
  type OpenOrder,
  orderOf,
  pendingOrders,
  requestEnd,
} from '../../broker/console/state/orders/order-ends.ts';
import type { FleetPending } from '../../src/core/events/fleet-row.ts';
import { fleetRow, pendingChange } from '../support/http/fleet-row.ts';

const unlock: OpenOrder = { kind: 'command', id: 'c1', deviceID: 'van-01', relay: 'cargoaccess' };
const record = (change: object) =>
  ({ commandState: 'armed', hasEnded: false, issuer: 'olga', approver: '', ...change }) as never;
const request = (change: object) => ({ approvalState: 'pending', requestedBy: 'olga', ...change }) as never;

describe('an order of the stream', () => {
  it('is a cut or an unlock; no order back, and nothing else that is commanded', () => {
    const message = { deviceID: 'van-01', commandID: 'c1', feature: 'cargoaccess', state: '1' };
    expect(orderOf('command', message)).toEqual(unlock);
    expect(orderOf('command', { ...message, state: '0' })).toBe(null);
    expect(orderOf('command', { ...message, feature: 'firmware' })).toBe(null);
    expect(orderOf('command', { ...message, commandID: null })).toBe(null);
    expect(
      orderOf('approval', { deviceID: 'van-01', approvalID: 'a1', feature: 'enginecutoff', state: '1' }),
    ).toEqual({ kind: 'request', id: 'a1', deviceID: 'van-01', relay: 'enginecutoff' });
  });

  it('is under way until it has ended, and a state that this console does not know is looked up', () => {
    const under = (commandState: string) => isUnderWay('command', { commandState });
    expect(['requested', 'sent', 'received', 'armed', 'executing'].every(under)).toBe(true);
    expect(['confirmed', 'refused', 'expired', 'unknown', 'superseded', 'invented'].some(under)).toBe(false);
    expect(isUnderWay('approval', { approvalState: 'pending' })).toBe(true);
    expect(isUnderWay('approval', { approvalState: 'approved' })).toBe(false);
  });
});

describe('the end of an order', () => {
  it.each(['confirmed', 'refused', 'expired', 'unknown'] as const)(
    '%s is said to the user who asked and to the one who approved, and to no other',
    (commandState) => {
      const ended = record({ commandState, hasEnded: true, approver: 'otto' });
      const end = { ...unlock, ending: commandState };
      expect(commandEnd(unlock, ended, 'olga')).toEqual(end);
      expect(commandEnd(unlock, ended, 'otto')).toEqual(end);
      expect(commandEnd(unlock, ended, 'ann')).toBe(null);
    },
  );

  it('by a person is not said, and an order that goes on has none', () => {
    for (const commandState of ['cancelled', 'superseded'])
      expect(commandEnd(unlock, record({ commandState, hasEnded: true }), 'olga')).toBe(null);
    expect(commandEnd(unlock, record({}), 'olga')).toBe('open');
  });

  it('of a request is its refusal or its expiry; what was approved goes on as a command', () => {
    const asked: OpenOrder = { ...unlock, kind: 'request', id: 'a1' };
    const endOf = (approvalState: string) => requestEnd(asked, request({ approvalState }), 'olga');
    expect(endOf('refused')).toEqual({ ...asked, ending: 'refused' });
    expect(endOf('expired')).toEqual({ ...asked, ending: 'expired' });
    expect(endOf('withdrawn')).toBe(null);
    expect(endOf('approved')).toBe(null);
    expect(endOf('pending')).toBe('open');
    expect(requestEnd(asked, request({ approvalState: 'refused' }), 'otto')).toBe(null);
  });
});

describe('the rows of the fleet', () => {
  it('say for each relay which order waits', () => {
    const of = (...pending: readonly FleetPending[]) => pendingOrders(fleetRow({ pending }));
    expect(of(pendingChange({ feature: 'cargoaccess', commandID: 'c1' }))).toEqual({
      cargoaccess: unlock,
      enginecutoff: null,
    });
    expect(of(pendingChange({ feature: 'cargoaccess', state: '0', commandID: 'c2' })).cargoaccess).toBe(null);
    expect(of(pendingChange({ approvalID: 'a1' })).enginecutoff).toEqual({
      kind: 'request',
      id: 'a1',
      deviceID: 'van-01',
      relay: 'enginecutoff',
    });
    const none = { cargoaccess: null, enginecutoff: null };
    // The vehicle does it on its own.
    expect(of(pendingChange({}))).toEqual(none);
    expect(pendingOrders(fleetRow({}))).toEqual(none);
  });
});
