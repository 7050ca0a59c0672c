// What listens where: safe unless a setting allows more, and no half of a setting is ignored.
import { describe, expect, it } from 'vitest';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { plainListeners } from '../../broker/config/listener-config.ts';
import { defaultEventLimits } from '../../broker/core/scheduling/event-budget.ts';
import { AppError } from '../../src/core/errors.ts';

const load = (flags: Record<string, string | boolean>) =>
  loadBrokerConfig({ file: null, env: {}, flags }).value;

function refusalOf(flags: Record<string, string | boolean>): string {
  try {
    load(flags);
  } catch (thrown) {
    if (thrown instanceof AppError) return `${thrown.message} ${thrown.hint ?? ''}`;
    throw thrown;
  }
  return 'it was accepted';
}

const listeners = ['http', 'mqtt', 'ws', 'admin'] as const;

describe.each(listeners)('the listener %s', (name) => {
  const open = { [`${name}-host`]: '0.0.0.0' };
  const pair = { [`${name}-tls-cert-file`]: 'c.pem', [`${name}-tls-key-file`]: 'k.pem' };

  it('listens beyond this machine only with TLS, or when its configuration permits plain text', () => {
    expect(refusalOf(open)).toMatch(/without TLS/);
    expect(refusalOf(open)).toContain(`--${name}-allow-plain`);
    expect(plainListeners(load({ ...open, ...pair }))).toEqual([]);
    for (const setting of [`${name}-allow-plain`, 'insecure-listen']) {
      expect(plainListeners(load({ ...open, [setting]: true }))).toMatchObject([{ name, host: '0.0.0.0' }]);
    }
  });

  it('is not opened by what was said for another one', () => {
    const others = listeners.filter((other) => other !== name);
    for (const other of others)
      expect(refusalOf({ ...open, [`${other}-allow-plain`]: true })).toMatch(/without TLS/);
  });

  it('wants a certificate and its key together', () => {
    for (const half of Object.keys(pair)) expect(refusalOf({ [half]: 'x.pem' })).toMatch(/belong together/);
  });
});

describe.each(['mqtt', 'ws'])('certificates of clients at %s', (name) => {
  const pair = { [`${name}-tls-cert-file`]: 'c.pem', [`${name}-tls-key-file`]: 'k.pem' };
  const ca = { [`${name}-tls-client-ca-file`]: 'ca.pem' };
  const policy = (value: string) => ({ [`${name}-tls-client-cert`]: value });

  it('need TLS, an authority and a policy', () => {
    expect(() => load({ ...pair, ...ca, ...policy('required') })).not.toThrow();
    expect(refusalOf({ ...ca, ...policy('required') })).toMatch(/certFile/);
    expect(refusalOf({ ...pair, ...policy('optional') })).toMatch(/clientCaFile/);
    expect(refusalOf({ ...pair, ...ca })).toMatch(/clientCert is none/);
  });

  it('stand for the secret only where there are some', () => {
    const optional = { [`${name}-tls-client-secret`]: 'optional' };
    expect(refusalOf({ ...pair, ...optional })).toMatch(/clientSecret is optional/);
    expect(() => load({ ...pair, ...ca, ...policy('optional'), ...optional })).not.toThrow();
  });
});

it('only origins of web pages are taken as such', () => {
  for (const origin of ['*', 'null', 'https://a.example/', 'fleet.example.com']) {
    expect(refusalOf({ 'ws-origins': origin })).toMatch(/ws-origins/);
  }
  expect(load({ 'ws-origins': 'https://a.example, http://localhost:3000' }).ws.origins).toHaveLength(2);
});

describe('how much vehicles may send', () => {
  it('has limits unless they are switched off, and none below what an agent needs', () => {
    expect(load({}).ingest).toEqual(defaultEventLimits);
    expect(load({ 'ingest-device-events-per-s': '0' }).ingest.deviceEventsPerS).toBe(0);
    expect(load({ 'ingest-device-events-per-s': '2' }).ingest.deviceEventsPerS).toBe(2);
    for (const few of ['1', '-1', '2.5'])
      expect(refusalOf({ 'ingest-device-events-per-s': few })).toMatch(/ingest/);
    expect(refusalOf({ 'ingest-device-burst': '500' })).toMatch(/ingest/);
  });
});
