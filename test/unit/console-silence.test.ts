// When the console counts the service as silent, and what it keeps of an order that has no answer.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Approval, ListedCommand } from '../../broker/console/api/operations.ts';
import {
  foundIn,
  isGivenUp,
  isOverdue,
  parseSentOrders,
  type SentOrder,
} from '../../broker/console/state/orders/sent-orders.ts';
import { silenceOf } from '../../src/core/silence.ts';

describe('the silence of a stream', () => {
  it.each([
    ['a moment', 2900, 2900, 'none'],
    ['three seconds', 3000, 3000, 'silent'],
    ['ten seconds', 10_000, 10_000, 'dead'],
    ['a sleep that the clock of the page missed', 200, 3_600_000, 'dead'],
    ['a wall clock that was set back', 4000, -3_600_000, 'silent'],
  ] as const)('of %s is judged by the clock that says more', (_of, monoMs, wallMs, judged) => {
    const since = { monoMs: 5000, wallMs: 1_795_000_000_000 };
    expect(silenceOf(since, { monoMs: since.monoMs + monoMs, wallMs: since.wallMs + wallMs })).toBe(judged);
  });

  describe('is watched', () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    });
    const watch = async () => {
      const { lookAtStreams, watchSilence } = await import('../../broker/client/silence.ts');
      const seen: string[] = [];
      const handlers = { onSilent: () => void seen.push('silent'), onDead: () => void seen.push('dead') };
      const silence = watchSilence(handlers);
      return { seen, silence, lookAtStreams };
    };

    it('says silent once, live again by a sign, and gives up after ten seconds', async () => {
      const { seen, silence } = await watch();
      for (let second = 0; second < 5; second++) {
        expect(silence.renew()).toBe(true);
        vi.advanceTimersByTime(1000);
      }
      expect(seen).toEqual([]);
      vi.advanceTimersByTime(4000);
      expect(seen).toEqual(['silent']);
      expect(silence.renew()).toBe(true);
      vi.advanceTimersByTime(12_000);
      expect(seen).toEqual(['silent', 'silent', 'dead']);
      silence.stop();
    });

    it('gives up a request that no answer begins, and calls it not silent before', async () => {
      const { seen, silence } = await watch();
      vi.advanceTimersByTime(9000);
      expect(seen).toEqual([]);
      vi.advanceTimersByTime(2000);
      expect(seen).toEqual(['dead']);
      silence.stop();
    });

    it('takes nothing for a sign of life that was read after a sleep, and is judged when it is asked', async () => {
      const { seen, silence, lookAtStreams } = await watch();
      silence.renew();
      // The timers stood still.
      vi.setSystemTime(Date.now() + 4000);
      lookAtStreams();
      expect(seen).toEqual(['silent']);
      vi.setSystemTime(Date.now() + 3_600_000);
      expect(silence.renew()).toBe(false);
      expect(seen).toEqual(['silent', 'dead']);
      silence.stop();
    });
  });
});

describe('an order that was sent and has no answer', () => {
  const sent: SentOrder = {
    accountID: 'acme',
    userID: 'olga',
    relay: 'enginecutoff',
    form: 'commandFeature van-01',
    deviceIDs: ['van-01'],
    key: 'k1',
    reason: 'stolen',
    ttl: 1800,
    sentS: 1000,
    takenBack: [],
  };
  const command = (change: object): ListedCommand =>
    ({
      commandID: 'c1',
      approvalID: '',
      feature: 'enginecutoff',
      state: '1',
      issuer: 'olga',
      reason: 'stolen',
      issued: 1030,
      ...change,
    }) as ListedCommand;
  const request = (change: object): Approval =>
    ({
      approvalID: 'a1',
      commandID: '',
      deviceID: 'van-01',
      feature: 'enginecutoff',
      approvalState: 'pending',
      requestedBy: 'olga',
      requested: 1030,
      ...change,
    }) as Approval;

  it('is kept over a reload as it is, and what is not whole is not kept', () => {
    expect(parseSentOrders(JSON.stringify([sent]))).toEqual([sent]);
    for (const text of [
      null,
      '',
      '{',
      '{}',
      '[null]',
      '[1]',
      JSON.stringify([{ ...sent, relay: 'firmware' }]),
      JSON.stringify([{ ...sent, key: 7 }]),
    ])
      expect(parseSentOrders(text)).toEqual([]);
  });

  it.each<[title: string, command: object | null, request: object | null, found: string | null]>([
    ['a command that was carried out 30 s later', {}, null, 'c1'],
    ['one that has ended already', { commandState: 'refused', hasEnded: true }, null, 'c1'],
    ['one within 10 s before, which the service takes for the same', { issued: 990 }, null, 'c1'],
    ['no earlier one', { issued: 900 }, null, null],
    ['none of another user', { issuer: 'otto' }, null, null],
    ['none for another reason', { reason: 'test' }, null, null],
    ['no restore', { state: '0' }, null, null],
    ['none of the cargo', { feature: 'cargoaccess' }, null, null],
    ['its request to a second person', null, {}, 'a1'],
    ['a request that waited already, of any user', null, { requestedBy: 'otto', requested: 200 }, 'a1'],
    [
      'no request of another user that was decided',
      null,
      { requestedBy: 'otto', approvalState: 'refused' },
      null,
    ],
    ['no request of another vehicle', null, { deviceID: 'van-02' }, null],
  ])('is found as %s', (_title, one, other, found) => {
    const lists = {
      commands: one === null ? [] : [command(one)],
      approvals: other === null ? [] : [request(other)],
    };
    const is = foundIn(sent, 'van-01', lists);
    expect(is === null ? null : is.commandID || is.approvalID).toBe(found);
  });

  it('is late after 2 s, and given up only long after', () => {
    expect([isOverdue(sent, 1002), isOverdue(sent, 1003)]).toEqual([false, true]);
    expect([isGivenUp(sent, 1600), isGivenUp(sent, 1601)]).toEqual([false, true]);
  });
});
