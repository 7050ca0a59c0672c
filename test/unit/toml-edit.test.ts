// Changing single settings in a file that a person wrote: every other character stays, or nothing is changed.
import * as fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { editToml } from '../../agent/core/toml-edit.ts';
import { changeConfig, enrolledSettings, readKnown } from '../../agent/enrolment/enrolment-config.ts';
import { AppError } from '../../src/core/errors.ts';

const grant = {
  accountID: 'acme',
  deviceID: 'truck-17',
  publicKey: 'aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGU=',
};
const files = { secretFile: '/etc/f/secret', caFile: null, certFile: null, keyFile: null };
const settings = enrolledSettings(grant, 'mqtts://new:8883', files, null);
const change = (text: string | null) => changeConfig('agent.toml', text, settings);

const installers = `# Truck 17, wired by Ann on a rainy day
[device]   # as on the door
account = 'acme'
id = "truck-1"            # was van-1

[broker]
  # the old one
  url = "mqtt://old.example.com:1883" # behind the VPN
  keepaliveS = 120

[board]
profile = "waveshare-relay-d"
port = "/dev/fleet-board"
[board.overrides.inputs]
ignition = { address = 3 }
cabinDoor = false

[gnss]
port = "/dev/fleet-gnss"
`;

describe('agent.toml of an installer', () => {
  it('keeps every line that is not about the enrolment', () => {
    const { text, changes } = change(installers);
    expect(text).toBe(
      installers
        .replace('id = "truck-1"  ', 'id = "truck-17"  ')
        .replace('"mqtt://old.example.com:1883"', '"mqtts://new:8883"')
        .replace(
          '  keepaliveS = 120\n',
          `  keepaliveS = 120\n  publicKey = "${grant.publicKey}"\n  secretFile = "/etc/f/secret"\n`,
        ),
    );
    expect(changes).toEqual([
      { before: 'id = "truck-1"            # was van-1', after: 'id = "truck-17"            # was van-1' },
      {
        before: '  url = "mqtt://old.example.com:1883" # behind the VPN',
        after: '  url = "mqtts://new:8883" # behind the VPN',
      },
      { before: null, after: `  publicKey = "${grant.publicKey}"` },
      { before: null, after: '  secretFile = "/etc/f/secret"' },
    ]);
  });

  it('is not changed a second time', () => {
    const { text } = change(installers);
    expect(change(text)).toEqual({ text, changes: [] });
  });

  it('keeps the line ends of another system', () => {
    const { text } = change(installers.replaceAll('\n', '\r\n'));
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text.replaceAll('\r\n', '\n')).toBe(change(installers).text);
  });

  it('gets the tables that it lacks at its end, with and without a line feed there', () => {
    for (const end of ['', '\n']) {
      const { text } = change(`[gnss]\nport = "x"${end}`);
      expect(text.startsWith('[gnss]\nport = "x"\n\n[device]\naccount = "acme"\n')).toBe(true);
      expect(parse(text)).toMatchObject({ gnss: { port: 'x' }, broker: { url: 'mqtts://new:8883' } });
    }
  });

  it('is made with what it needs, and names what is missing', () => {
    const { text } = change(null);
    expect(parse(text)).toEqual({
      device: { account: 'acme', id: 'truck-17' },
      broker: { url: 'mqtts://new:8883', publicKey: grant.publicKey, secretFile: '/etc/f/secret' },
    });
    expect(text).toContain('# [board]');
    expect(readKnown('agent.toml', text)).toMatchObject({ accountID: 'acme', deviceID: 'truck-17' });
  });

  it.each([
    ['a table in one line', 'broker = { url = "mqtt://a" }'],
    ['dotted keys', 'broker.url = "mqtt://a"'],
    ['a number in the place of a text', '[device]\nid = 5\n'],
    ['a text of several lines', '[device]\nid = """\ntruck"""\n'],
    ['a header in a list', '[device]\nx = [\n  [1],\n[2]]\n[broker]\nurl=[\n"a"]\n'],
    ['a quoted table', '["broker"]\nurl = "mqtt://a"\n'],
  ])('with %s is left alone, and the message says what to write', (_what, text) => {
    try {
      change(text);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(AppError);
      expect(thrown).toMatchObject({
        code: 'config',
        message: expect.stringContaining('was left as it is'),
        hint: expect.stringContaining('[broker]\nurl = "mqtts://new:8883"'),
      });
      return;
    }
    throw new Error('it was changed');
  });

  it('that is no TOML is left alone', () => {
    expect(() => change('[device\n')).toThrow(/cannot be read as TOML/);
  });

  it('means afterwards what it meant before, with the settings, whatever it looks like', () => {
    const value = fc.oneof(
      fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text).replaceAll('\u007f', '')),
      fc.constantFrom(
        "'a # b'",
        '5',
        'true',
        '[1, 2]',
        '{ a = 1 }',
        '"x" # "y"',
        '1979-05-27',
        '[\n"a",\n]',
        '"""\na"""',
      ),
    );
    const key = fc.constantFrom(
      'account',
      'id',
      '"id"',
      'url',
      'publicKey',
      'secretFile',
      'other',
      '"#"',
      'a.b',
    );
    const line = fc.oneof(
      fc
        .tuple(fc.constantFrom('', ' ', '\t'), key, fc.constantFrom('=', ' = '), value)
        .map((parts) => parts.join('')),
      fc.constantFrom('# [broker]', '# url = "x"', '', '   ', '#'),
    );
    const header = fc.constantFrom(
      '[device]',
      '[broker]',
      ' [ broker ] # x',
      '[board.x]',
      '[[list]]',
      '["device"]',
      '[other]',
    );
    const file = fc
      .array(fc.oneof({ weight: 4, arbitrary: line }, { weight: 1, arbitrary: header }), { maxLength: 12 })
      .map((lines) => lines.join('\n'));
    let changed = 0;
    fc.assert(
      fc.property(file, (text) => {
        let before: Record<string, Record<string, unknown>>;
        try {
          before = structuredClone({ ...parse(text) }) as typeof before;
        } catch {
          return;
        }
        const expected = { ...before };
        for (const { table, key: name, value: wanted } of settings) {
          expected[table] = { ...expected[table], [name]: wanted };
        }
        try {
          const { text: after, changes } = change(text);
          expect(structuredClone({ ...parse(after) })).toEqual(expected);
          changed += 1;
          // Every line that was there is there, but for those that are named as changed.
          const left = after.split('\n');
          for (const old of text.split('\n')) {
            if (old.trim() !== '' && !changes.some(({ before: was }) => was === old))
              expect(left).toContain(old);
          }
        } catch (thrown) {
          if (!(thrown instanceof AppError)) throw thrown;
          expect(thrown.hint).toContain('mqtts://new:8883');
        }
      }),
      { numRuns: 1000 },
    );
    expect(changed).toBeGreaterThan(100);
  });

  it('is never edited by a text that ends its string', () => {
    const character = fc
      .oneof(fc.nat({ max: 0x2fff }), fc.constantFrom(0x22, 0x27, 0x5c, 0x0a, 0x0d, 0x7f, 0x1f600))
      .map((code) => String.fromCodePoint(code));
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 20 }), (value) => {
        const edited = editToml('[a]\nb = "c"\n', [{ table: 'a', key: 'b', value }]);
        expect(edited.ok && parse(edited.text)).toEqual({ a: { b: value } });
      }),
    );
  });
});
