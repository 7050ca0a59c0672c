// Settings: where they come from, which one wins, and what is said about a wrong one.
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { notesOf } from '../../broker/config/listener-config.ts';
import { flagOf, loadConfig, variableOf } from '../../src/config.ts';
import { AppError } from '../../src/core/errors.ts';

const schema = Type.Object({
  http: Type.Object({
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
    hosts: Type.Array(Type.String(), { default: [] }),
  }),
  signingKeyFile: Type.Optional(Type.String({ minLength: 1 })),
  isVerbose: Type.Boolean({ default: false }),
  level: Type.Enum(['info', 'warn'], { default: 'info' }),
  url: Type.Optional(Type.String({ pattern: '^https?://.+$', description: 'Address, https:// or http://' })),
});
const nothing = { schema, file: null, env: {}, flags: {} };
const file = (text: string) => ({ path: 'broker.toml', text });

function failure(work: () => unknown): AppError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
  throw new Error('it was accepted');
}

describe('a setting', () => {
  it('is taken from flag, environment, file and default, in this order', () => {
    const sources = {
      schema,
      file: file('[http]\nport = 1'),
      env: { FLEETWARD_HTTP_PORT: '2' },
      flags: { 'http-port': '3' },
    };
    const portOf = (changed: object) => {
      const { value, origins } = loadConfig({ ...sources, ...changed });
      return [value.http.port, origins['http.port']?.kind, origins['http.port']?.name];
    };
    expect(portOf({})).toEqual([3, 'flag', '--http-port']);
    expect(portOf({ flags: {} })).toEqual([2, 'env', 'FLEETWARD_HTTP_PORT']);
    expect(portOf({ flags: {}, env: {} })).toEqual([1, 'file', 'broker.toml']);
    expect(portOf({ flags: {}, env: {}, file: null })).toEqual([8080, 'default', 'default']);
  });

  it('has one name in each place', () => {
    expect([flagOf('http.port'), variableOf('http.port')]).toEqual(['http-port', 'FLEETWARD_HTTP_PORT']);
    expect([flagOf('signingKeyFile'), variableOf('signingKeyFile')]).toEqual([
      'signing-key-file',
      'FLEETWARD_SIGNING_KEY_FILE',
    ]);
  });

  it('in the environment is read by its type; an empty one is not set', () => {
    const env = { FLEETWARD_IS_VERBOSE: 'true', FLEETWARD_HTTP_HOSTS: 'a, b', FLEETWARD_HTTP_PORT: '' };
    expect(loadConfig({ ...nothing, env }).value).toEqual({
      http: { port: 8080, hosts: ['a', 'b'] },
      isVerbose: true,
      level: 'info',
    });
  });

  it.each([
    ['FLEETWARD_HTTP_PROT', 'remove it, or write FLEETWARD_HTTP_PORT'],
    ['FLEETWARD_LEVLE', 'FLEETWARD_LEVEL'],
    ['FLEETWARD_HTTP_HOST', 'FLEETWARD_HTTP_HOSTS'],
    ['FLEETWARD_', 'there is no such variable'],
    ['FLEETWARD_DEVICE_ID', 'there is no such variable'],
  ])('in the environment that is unknown is refused: %s', (name, advice) => {
    const error = failure(() => loadConfig({ ...nothing, env: { [name]: 'x' } }));
    expect(error.code).toBe('config');
    expect(error.message).toContain(name);
    expect(error.message).toContain(advice);
    // A unit that blanks a variable, what tests set for themselves, and other programs' own.
    const env = { [name]: '', FLEETWARD_TEST_SEED: '7', FLEET_HTTP_PROT: 'x' };
    expect(loadConfig({ ...nothing, env }).value.level).toBe('info');
  });

  it('cannot be changed afterwards', () => {
    const { value } = loadConfig(nothing);
    expect(Object.isFrozen(value) && Object.isFrozen(value.http) && Object.isFrozen(value.http.hosts)).toBe(
      true,
    );
  });
});

describe('a wrong setting', () => {
  it('in the file names file, key, what was found and what is allowed', () => {
    const text = 'level = "loud"\nurl = "example.com"\n[http]\nport = "x"';
    const error = failure(() => loadConfig({ ...nothing, file: file(text) }));
    expect(error.code).toBe('config');
    expect(error.message).toContain('broker.toml: http.port: found "x"; allowed: integer from 0 to 65535');
    expect(error.message).toContain('broker.toml: level: found "loud"; allowed: one of "info", "warn"');
    // A pattern says little to people: what the setting means stands behind it.
    expect(error.message).toContain(
      'allowed: string of the form "^https?://.+$": Address, https:// or http://',
    );
    expect(error.details.map(({ pointer }) => pointer).sort()).toEqual(['http.port', 'level', 'url']);
  });

  it('with an unknown key names the nearest one', () => {
    const error = failure(() => loadConfig({ ...nothing, file: file('[http]\nprot = 1') }));
    expect(error.message).toBe(
      'broker.toml: http.prot: there is no such key; the nearest one allowed is "http.port"',
    );
  });

  it.each(['constructor = 1', '__proto__ = 1', 'toString = "x"'])('%s is unknown like any other', (text) => {
    expect(failure(() => loadConfig({ ...nothing, file: file(text) })).message).toContain(
      'there is no such key',
    );
  });

  it('in place of a table says so', () => {
    expect(failure(() => loadConfig({ ...nothing, file: file('http = 1') })).message).toContain('[http]');
  });

  it('in a file that is no TOML names line and column', () => {
    expect(failure(() => loadConfig({ ...nothing, file: file('ok = 1\na = = 1') })).message).toMatch(
      /^broker\.toml:2:\d+: /,
    );
  });

  it('in the environment names the variable', () => {
    const error = failure(() => loadConfig({ ...nothing, env: { FLEETWARD_HTTP_PORT: '70000' } }));
    expect([error.code, error.message]).toEqual([
      'config',
      'FLEETWARD_HTTP_PORT: found 70000; allowed: integer from 0 to 65535',
    ]);
  });

  it('on the command line is a fault of usage', () => {
    const error = failure(() => loadConfig({ ...nothing, flags: { 'http-port': '1.5' } }));
    expect([error.code, error.message]).toEqual([
      'usage',
      '--http-port: found 1.5; allowed: integer from 0 to 65535',
    ]);
  });

  it('that is missing says how to set it', () => {
    const needed = Type.Object({ brokerUrl: Type.String() });
    const error = failure(() => loadConfig({ ...nothing, schema: needed }));
    expect(error.message).toContain('FLEETWARD_BROKER_URL or --broker-url');
  });
});

describe('the broker', () => {
  const sources = { file: null, env: {}, flags: {} };

  it('listens on this machine only and keeps its key beside the database', () => {
    const { value } = loadBrokerConfig({ ...sources, flags: { database: 'x.db' } });
    expect([value.http.host, value.mqtt.host, value.signingKeyFile]).toEqual([
      '127.0.0.1',
      '127.0.0.1',
      'x.db.signing-key.pem',
    ]);
  });

  it.each(['http-host', 'mqtt-host'])('does not open --%s to the network without permission', (flag) => {
    const flags = { [flag]: '0.0.0.0' };
    const error = failure(() => loadBrokerConfig({ ...sources, flags }));
    expect(`${error.message} ${error.hint}`).toMatch(/without TLS.*--insecure-listen/s);
    expect(() =>
      loadBrokerConfig({ ...sources, flags: { ...flags, 'insecure-listen': true } }),
    ).not.toThrow();
  });

  it.each(['::1', 'localhost', '127.0.0.2'])('counts %s as this machine', (address) => {
    expect(() => loadBrokerConfig({ ...sources, flags: { 'http-host': address } })).not.toThrow();
  });

  it.each(['127.0.0.1.example.org', '127.example.org', ''])(
    'does not count %j as this machine',
    (address) => {
      expect(() => loadBrokerConfig({ ...sources, flags: { 'http-host': address } })).toThrow(AppError);
    },
  );

  it.each([
    ['*', /every page of the web is never allowed/, 'List each origin in full'],
    ['https://*.example.com', /is never allowed/, 'List each origin in full'],
    ['null', /is no origin/, 'List each origin in full'],
    ['console.example.com', /is no origin/, 'List each origin in full'],
    ['file:///srv/console', /is no origin/, 'List each origin in full'],
    ['https://', /is no origin/, 'List each origin in full'],
    ['https://console.example.com/', /is no origin/, 'Write https://console.example.com,'],
    ['https://Console.example.com', /is no origin/, 'Write https://console.example.com,'],
    ['https://console.example.com:443', /is no origin/, 'Write https://console.example.com,'],
    ['https://ann:secret@console.example.com', /is no origin/, 'Write https://console.example.com,'],
  ])('does not let web pages of the origin %j read answers', (origin, message, hint) => {
    const error = failure(() => loadBrokerConfig({ ...sources, flags: { 'http-origins': origin } }));
    expect([error.code, error.message, error.hint]).toEqual([
      'config',
      expect.stringMatching(message),
      expect.stringContaining(hint),
    ]);
  });

  it('lets web pages of exact origins read answers, none unless listed', () => {
    const origins = (flags: Readonly<Record<string, unknown>>) =>
      loadBrokerConfig({ ...sources, flags }).value.http.origins;
    expect(origins({})).toEqual([]);
    expect(origins({ 'http-origins': 'https://console.example.com,http://localhost:5173' })).toEqual([
      'https://console.example.com',
      'http://localhost:5173',
    ]);
  });

  it('mails only with an address of its own, a login that is whole, and no password in the clear', () => {
    const mail = (flags: object) => () =>
      loadBrokerConfig({ ...sources, flags: { 'notify-smtp-host': 'mail.example.com', ...flags } });
    const from = { 'notify-smtp-from': 'fleet@example.com' };
    const login = { 'notify-smtp-user': 'fleet', 'notify-smtp-password-file': '/run/password' };
    expect(mail({})).toThrow('notify.smtp.from');
    expect(mail({ 'notify-smtp-from': 'no address' })).toThrow('--notify-smtp-from');
    expect(mail({ ...from, 'notify-smtp-user': 'fleet' })).toThrow('need each other');
    expect(mail({ ...from, ...login, 'notify-smtp-security': 'none' })).toThrow('without TLS');
    expect(mail({ ...from, ...login })().value.notify).toMatchObject({
      allowPrivateTargets: false,
      smtp: { port: 587, security: 'starttls', user: 'fleet' },
    });
  });

  it('keeps the key of Web Push beside the database', () => {
    const { value } = loadBrokerConfig({ ...sources, flags: { database: 'x.db' } });
    expect(value.vapidKeyFile).toBe('x.db.vapid-key.pem');
  });
});

describe('the check of the settings', () => {
  it('notes that no proxy is trusted, unless there is one or the service speaks TLS itself', () => {
    const notes = (flags: Readonly<Record<string, unknown>>) =>
      notesOf(loadBrokerConfig({ file: null, env: {}, flags }).value);
    expect(notes({})).toEqual([expect.stringContaining('http.trustedProxies')]);
    expect(notes({ 'http-trusted-proxies': '127.0.0.1' })).toEqual([]);
    expect(notes({ 'http-tls-cert-file': 'a.pem', 'http-tls-key-file': 'b.pem' })).toEqual([]);
  });
});
