// What may be asked of a running simulation: words become requests or are refused in words, and whatever comes over the socket makes a
// whole request or an error of usage, never anything else.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ControlContext,
  parseDevices,
  parseFactor,
  parseFaultKind,
  parseRequest,
  parseSeconds,
} from '../../simulator/core/live/control-requests.ts';
import { checkScenario } from '../../simulator/core/scenario/scenario.ts';
import { AppError } from '../../src/core/errors.ts';

const verdict = checkScenario({ title: 'x', durationS: 100, fleet: { devices: 10 } });
if (verdict.kind !== 'ok') throw new Error('the scenario of this test is wrong');
const context: ControlContext = {
  scenario: verdict.scenario,
  atS: 50,
  ownsBroker: false,
  linkShares: [0.5, 1],
};
const ask = (request: unknown, change: Partial<ControlContext> = {}) =>
  parseRequest(JSON.stringify(request), { ...context, ...change });

describe('the arguments of ctl', () => {
  it('are parsed as rates, devices, durations and faults', () => {
    expect([parseFactor('x2'), parseFactor('0.5'), parseFactor('x0')]).toEqual([2, 0.5, 0]);
    expect([parseDevices('1-100'), parseDevices('7')]).toEqual([
      { from: 1, to: 100 },
      { from: 7, to: 7 },
    ]);
    expect(['10s', '500ms', '2m', '90', '1h'].map(parseSeconds)).toEqual([10, 0.5, 120, 90, 3600]);
    expect([parseFaultKind('outage'), parseFaultKind('agent-kill')]).toEqual(['link-outage', 'agent-kill']);
  });

  it.each([
    () => parseFactor('x101'),
    () => parseFactor('-1'),
    () => parseDevices('0-5'),
    () => parseDevices('5-1'),
    () => parseSeconds('soon'),
    () => parseFaultKind('flood'),
  ])('are refused where they are not: %s', (parse) => {
    expect(parse).toThrow(AppError);
  });
});

describe('a request', () => {
  it('is accepted when it is complete', () => {
    expect(ask({ kind: 'status' })).toEqual({ kind: 'status' });
    expect(ask({ kind: 'rate', factor: 2, from: 1, to: 10 })).toEqual({
      kind: 'rate',
      factor: 2,
      from: 1,
      to: 10,
    });
    expect(ask({ kind: 'fault', fault: { kind: 'gnss-jam', forS: 5 } })).toMatchObject({
      kind: 'fault',
      fault: { kind: 'gnss-jam', forS: 5, share: 1 },
    });
  });

  it.each([
    [{ kind: 'rate', factor: 2, from: 1, to: 11 }, {}, 'The fleet has 10 vehicles'],
    [{ kind: 'rate', factor: 2, from: 1.5, to: 2 }, {}, 'A rate needs'],
    [{ kind: 'fault', fault: { kind: 'gnss-jam', forS: 51 } }, {}, 'the run ends at'],
    [{ kind: 'fault', fault: { kind: 'gnss-jam', forS: 5, strength: 9 } }, {}, 'there is no such key'],
    [{ kind: 'fault', fault: { kind: 'broker-kill', forS: 5 } }, {}, 'never killed'],
    [{ kind: 'fault', fault: { kind: 'link-outage', forS: 5, share: 0.2 } }, {}, 'in shares of 0.5, 1'],
    [{ kind: 'fault', fault: { kind: 'link-outage', forS: 5 } }, { linkShares: [] }, 'encrypted'],
    [{ kind: 'rate', factor: 2, from: 1, to: 2 }, { atS: 100 }, 'it cannot be changed now'],
    [{ kind: 'stop' }, {}, 'of the kind status, rate or fault'],
    [[], {}, 'not an object'],
  ])('%j is refused in words', (request, change, words) => {
    expect(() => ask(request, change)).toThrow(words);
  });

  it('is either complete or refused', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          expect(['status', 'rate', 'fault']).toContain(parseRequest(text, context).kind);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'usage' });
        }
      }),
    );
  });
});
