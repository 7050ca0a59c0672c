// The settings of a map from another host: they become part of a policy header, so what could mean more there than a host is refused.
import { describe, expect, it } from 'vitest';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { mapStyleOf } from '../../broker/config/map-style-config.ts';
import { AppError } from '../../src/core/errors.ts';

const load = (mapStyle: object) => {
  const text = Object.entries(mapStyle)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join('\n');
  return loadBrokerConfig({ file: { path: 'broker.toml', text: `[mapStyle]\n${text}` }, env: {}, flags: {} });
};
const faultOf = (mapStyle: object): AppError => {
  try {
    load(mapStyle);
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
  throw new Error('it was accepted');
};
const url = 'https://tiles.example.com/style.json';

describe('the map of another host', () => {
  it('is none unless it is set', () => {
    expect(mapStyleOf(load({}).value.mapStyle)).toBe(null);
  });

  it.each([
    [url, 'https://tiles.example.com'],
    ['https://tiles.example.com:8443/a/b.json?key=abc', 'https://tiles.example.com:8443'],
    ['http://127.0.0.1:8090/style.json', 'http://127.0.0.1:8090'],
    ['http://localhost:8090/style.json', 'http://localhost:8090'],
    ['http://[::1]:8090/style.json', 'http://[::1]:8090'],
    ['https://xn--bcher-kva.example/style.json', 'https://xn--bcher-kva.example'],
  ])('may be %s', (text, origin) => {
    expect(mapStyleOf(load({ url: text }).value.mapStyle)).toEqual({ url: text, origins: [origin] });
  });

  it('may have its tiles at further hosts, each named once', () => {
    const origins = ['https://a.example.com', 'https://tiles.example.com', 'https://a.example.com'];
    expect(mapStyleOf(load({ url, origins }).value.mapStyle)).toEqual({
      url,
      origins: ['https://tiles.example.com', 'https://a.example.com'],
    });
  });

  it.each([
    'http://tiles.example.com/style.json',
    'http://192.0.2.7/style.json',
    'ftp://tiles.example.com/style.json',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:application/json,{}',
    '//tiles.example.com/style.json',
    '/style.json',
    'tiles.example.com/style.json',
    'https://',
    'https://ann:secret@tiles.example.com/style.json',
    'https://ann@tiles.example.com/style.json',
    'https://tiles.example.com/style.json#key',
    'https://tiles.example.com/style .json',
    'https://tiles.example.com/\r\nset-cookie: a=b',
    'https://tiles.example.com/a\tb',
    ' https://tiles.example.com/style.json',
    "https://tiles.example.com;script-src 'unsafe-inline'/",
    'https://a;script-src/style.json',
    "https://a'b/style.json",
    'https://a,b/style.json',
    'https://*.example.com/style.json',
    'https://*/style.json',
    'HTTPS://TILES.example.com/style.json',
    'https://tiles.example.com\\@evil.example/style.json',
    'https://tiles.example.com:443/style.json',
    'https://127.1/style.json',
    `https://tiles.example.com/${'a'.repeat(2000)}`,
  ])('is not %j', (text) => {
    expect(faultOf({ url: text })).toMatchObject({
      code: 'config',
      message: expect.stringContaining('mapStyle'),
    });
  });

  it.each([
    '*',
    'https:',
    'https://*',
    'https://*.example.com',
    'https://a.example.com/',
    'https://a.example.com/tiles',
    'https://a.example.com?x',
    'https://a.example.com; script-src *',
    'https://a.example.com https://b.example.com',
    'https://a.example.com\r\nx: y',
    'https://a;script-src',
    "'unsafe-eval'",
    'data:',
    'blob:',
    'a.example.com',
    'http://a.example.com',
    'https://user@a.example.com',
    'https://A.example.com',
    'https://a.example.com:443',
    '',
  ])('has no tiles at %j', (origin) => {
    expect(faultOf({ url, origins: [origin] })).toMatchObject({
      code: 'config',
      message: expect.stringContaining('mapStyle.origins'),
    });
  });

  it('has no hosts of its own without a style, and at most 20 with one', () => {
    expect(faultOf({ origins: ['https://a.example.com'] }).message).toContain('mapStyle.url is not');
    const many = Array.from({ length: 21 }, (_unused, at) => `https://a${at}.example.com`);
    expect(faultOf({ url, origins: many })).toMatchObject({ code: 'config' });
  });
});
