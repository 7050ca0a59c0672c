// The one-time code that restores an engine with no network: what a code is, what is accepted, and what guessing costs.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SensorReading } from '../../agent/core/board/inputs.ts';
import type { ServiceRecord } from '../../agent/core/protection/command-record.ts';
import { serviceLimits, serviceRecordFor, tryServiceCode } from '../../agent/core/protection/service-code.ts';
import { createEntry, type EntryResult, stepEntry } from '../../agent/core/protection/service-entry.ts';
import { statusPriority } from '../../src/core/events/status-codes.ts';
import { createServiceCodes, serviceCode, serviceCodesOfSecret } from '../../src/service-codes.ts';

const device = { accountID: 'acme', deviceID: 'truck-17' };
const codes = serviceCodesOfSecret('a-device-secret-of-some-length', device);

function createRig() {
  let record: ServiceRecord = serviceRecordFor(undefined, codes);
  return {
    record: () => record,
    enter(code: string) {
      const tried = tryServiceCode(record, codes, { code, way: 'socket' });
      record = tried.record;
      expect(statusPriority(tried.draft.statusCode)).toBe(0);
      if (code.length > 6) expect(JSON.stringify(tried.draft)).not.toContain(code);
      return tried.isRight;
    },
    unlock() {
      record = { ...record, isLocked: false, wrong: 0 };
    },
  };
}

const wrongCode = (): string => {
  const known = new Set(Array.from({ length: 300 }, (_, at) => codes.codeAt(at)));
  return (
    Array.from({ length: 400 }, (_, at) => String(at).padStart(8, '0')).find((code) => !known.has(code)) ?? ''
  );
};

describe('a code', () => {
  it('is that of RFC 6238, appendix B, for HMAC-SHA-256', () => {
    const key = new TextEncoder().encode('12345678901234567890123456789012');
    const vectors: readonly (readonly [seconds: number, code: string])[] = [
      [59, '46119246'],
      [1_111_111_109, '68084774'],
      [1_111_111_111, '67062674'],
      [1_234_567_890, '91819424'],
      [2_000_000_000, '90698825'],
      [20_000_000_000, '77737706'],
    ];
    for (const [seconds, code] of vectors) expect(serviceCode(key, Math.floor(seconds / 30))).toBe(code);
  });

  it('differs from device to device, from secret to secret, and its key has a name of its own', () => {
    const other = serviceCodesOfSecret('a-device-secret-of-some-length', { ...device, deviceID: 'truck-18' });
    const newer = serviceCodesOfSecret('another-device-secret-of-length', device);
    expect(new Set([codes.codeAt(0), other.codeAt(0), newer.codeAt(0)]).size).toBe(3);
    expect(new Set([codes.keyID, other.keyID, newer.keyID]).size).toBe(3);
  });

  it('is the same for the vehicle, which has the secret, and the broker, which has its hash', () => {
    const hash = createHash('sha256').update('a-device-secret-of-some-length').digest('hex');
    expect(createServiceCodes(hash, device).codeAt(7)).toBe(codes.codeAt(7));
  });

  it('works once, and uses up those before it', () => {
    const rig = createRig();
    expect(rig.enter(codes.codeAt(3))).toBe(true);
    for (const counter of [0, 1, 2, 3]) expect(rig.enter(codes.codeAt(counter))).toBe(false);
    expect(rig.enter(codes.codeAt(4))).toBe(true);
  });

  it('may be written in groups', () => {
    const code = codes.codeAt(0);
    expect(createRig().enter(`${code.slice(0, 4)} ${code.slice(4)}`)).toBe(true);
  });

  it('is found again after many were shown and not entered, but not without end', () => {
    expect(createRig().enter(codes.codeAt(serviceLimits.window - 1))).toBe(true);
    expect(createRig().enter(codes.codeAt(serviceLimits.window))).toBe(false);
  });
});

describe('guessing', () => {
  it('locks after five wrong codes, also for the right one', () => {
    const rig = createRig();
    for (let tries = 0; tries < serviceLimits.wrongMost; tries += 1)
      expect(rig.enter(wrongCode())).toBe(false);
    expect(rig.record().isLocked).toBe(true);
    expect(rig.enter(codes.codeAt(0))).toBe(false);
    rig.unlock();
    expect(rig.enter(codes.codeAt(0))).toBe(true);
  });

  it('is counted over restarts, as the record is kept, and a new secret is no way around the lock', () => {
    const rig = createRig();
    for (let tries = 0; tries < serviceLimits.wrongMost; tries += 1) rig.enter(wrongCode());
    const kept = JSON.parse(JSON.stringify(rig.record())) as ServiceRecord;
    const renewed = serviceRecordFor(kept, { keyID: 'another' });
    expect(renewed).toMatchObject({ keyID: 'another', counter: 0, isLocked: true });
  });

  it('restarts the count after a right code', () => {
    const rig = createRig();
    for (let tries = 0; tries < serviceLimits.wrongMost - 1; tries += 1) rig.enter(wrongCode());
    rig.enter(codes.codeAt(0));
    rig.enter(wrongCode());
    expect(rig.record()).toMatchObject({ isLocked: false, wrong: 1 });
  });

  it('with nothing, or with more than a code, gets nothing', () => {
    const rig = createRig();
    for (const text of ['', codes.codeAt(0).slice(1), `${codes.codeAt(0)}0`, 'ABCDEFGH'])
      expect(rig.enter(text)).toBe(false);
  });
});

describe('the push button', () => {
  /** Plays a person: button down and up, looked at ten times a second. */
  function press(plan: readonly (readonly [reading: SensorReading, ms: number])[]): EntryResult[] {
    let state = createEntry();
    let nowMs = 0;
    const news: EntryResult[] = [];
    for (const [reading, lastsMs] of plan) {
      const sinceMs = nowMs;
      for (const untilMs = nowMs + lastsMs; nowMs < untilMs; nowMs += 100) {
        const step = stepEntry(state, { reading, sinceMs }, nowMs);
        state = step.state;
        if (step.result !== null) news.push(step.result);
      }
    }
    return news;
  }
  const begin = [
    ['off', 1000],
    ['on', 3500],
    ['off', 1000],
  ] as const;
  const digit = (value: number) => {
    const presses = value === 0 ? 10 : value;
    return Array.from({ length: presses }, (_, at) => at).flatMap((at) => [
      ['on', 300] as const,
      ['off', at === presses - 1 ? 2500 : 300] as const,
    ]);
  };

  it('enters a code: hold, then as many presses as each digit says, with pauses', () => {
    const news = press([...begin, ...'90317204'.split('').flatMap((text) => digit(Number(text)))]);
    expect(news.filter(({ kind }) => kind === 'taken')).toHaveLength(8);
    expect(news.at(-1)).toEqual({ kind: 'code', code: '90317204' });
  });

  it('does nothing without the long press, and discards an unfinished entry', () => {
    expect(press([['off', 1000], ...digit(3), ...digit(4)])).toEqual([]);
    expect(press([...begin, ...digit(3), ['off', 31_000]]).at(-1)).toEqual({ kind: 'dropped' });
  });

  it('is forgotten when the board falls silent', () => {
    expect(press([...begin, ...digit(3), ['unknown', 500], ['off', 500], ...digit(4)]).at(-1)).toEqual({
      kind: 'dropped',
    });
  });

  it('starts over with another long press', () => {
    const news = press([
      ...begin,
      ...digit(3),
      ...begin,
      ...'11111111'.split('').flatMap((text) => digit(Number(text))),
    ]);
    expect(news.at(-1)).toEqual({ kind: 'code', code: '11111111' });
  });
});
