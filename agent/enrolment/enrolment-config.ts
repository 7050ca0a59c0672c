// The settings that enrolment writes into agent.toml, a new file or an existing one. An existing file is changed only
// when its meaning afterwards is exactly the old one with these settings; otherwise it is unchanged and the message
// lists the lines to write. A setting or a comment of an installer must never be lost.
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { EnrolmentGrant } from '../../src/core/wire/enrolment.ts';
import { type ChangedLine, editToml, formatTomlString, type Setting } from '../core/toml-edit.ts';

/** Files that an enrolment makes, by their setting in the table `broker`. */
export interface EnrolledFiles {
  readonly secretFile: string;
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

/** The settings, in the order in which a new file has them. */
export function enrolledSettings(
  grant: Pick<EnrolmentGrant, 'accountID' | 'deviceID' | 'publicKey'>,
  url: string,
  files: EnrolledFiles,
  ownerKey: string | null,
): readonly Setting[] {
  const broker = { url, publicKey: grant.publicKey, ...files };
  return [
    { table: 'device', key: 'account', value: grant.accountID },
    { table: 'device', key: 'id', value: grant.deviceID },
    ...Object.entries(broker).flatMap(([key, value]) =>
      value === null ? [] : [{ table: 'broker', key, value }],
    ),
    ...(ownerKey === null ? [] : [{ table: 'owner', key: 'key', value: ownerKey }]),
  ];
}

const tail = `
# What only the installer knows; see \`fleetward-agent boards\` and \`fleetward-agent start --help\`.
# [board]
# profile = "waveshare-relay-d"
# port = "/dev/fleet-board"

# [gnss]
# port = "/dev/fleet-gnss"
`;

type Table = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** @throws AppError `config` when it is no TOML. */
function parseToml(path: string, text: string): Table {
  try {
    return parse(text);
  } catch (thrown) {
    const [reason = ''] = messageOf(thrown).split('\n');
    throw new AppError('config', `${path} cannot be read as TOML: ${reason}`, {
      hint: 'Correct it, or move it away, and run the same command again.',
    });
  }
}

function valueAt(root: Table, table: string, key: string): unknown {
  const section = root[table];
  return isTable(section) ? section[key] : undefined;
}

/** The meaning that the file must have afterwards. */
function withSettings(before: Table, settings: readonly Setting[]): Table {
  return settings.reduce<Table>((so, { table, key, value }) => {
    const section = so[table];
    return { ...so, [table]: { ...(isTable(section) ? section : {}), [key]: value } };
  }, before);
}

const plain = (value: unknown): unknown => structuredClone(value);

function means(text: string, expected: Table): boolean {
  try {
    return isDeepStrictEqual(plain({ ...parse(text) }), plain({ ...expected }));
  } catch {
    return false;
  }
}

/** What a person has to write when the file cannot be changed safely. */
function asToml(settings: readonly Setting[]): string {
  const tables = [...new Set(settings.map(({ table }) => table))];
  return tables
    .map((table) => {
      const lines = settings
        .filter((setting) => setting.table === table)
        .map(({ key, value }) => `${key} = ${formatTomlString(value)}`);
      return [`[${table}]`, ...lines].join('\n');
    })
    .join('\n\n');
}

export interface ConfigChange {
  readonly text: string;
  readonly changes: readonly ChangedLine[];
}

/**
 * The file with these settings.
 * @param before its text; null for a new file.
 * @throws AppError `config` with the lines to write by hand when it cannot be changed safely.
 */
export function changeConfig(
  path: string,
  before: string | null,
  settings: readonly Setting[],
): ConfigChange {
  if (before === null) {
    const text = `${asToml(settings)}\n${tail}`;
    return {
      text,
      changes: asToml(settings)
        .split('\n')
        .map((after) => ({ before: null, after })),
    };
  }
  const known = parseToml(path, before);
  const expected = withSettings(known, settings);
  if (means(before, expected)) return { text: before, changes: [] };
  // A setting with the right value keeps its spelling.
  const missing = settings.filter(({ table, key, value }) => valueAt(known, table, key) !== value);
  const edited = editToml(before, missing);
  if (edited.ok && means(edited.text, expected)) return edited;
  const reason = edited.ok ? 'its tables are not written as `[table]` and `key = "text"`' : edited.reason;
  throw new AppError('config', `${path} was left as it is, because ${reason}`, {
    hint: `Write these settings into it yourself, then run the same command again:\n\n${asToml(settings)}\n`,
  });
}

/** The settings of an existing file that enrolment uses. */
export interface KnownConfig {
  readonly accountID: string | null;
  readonly deviceID: string | null;
  readonly url: string | null;
  readonly secretFile: string | null;
  readonly ownerKey: string | null;
}

/** @throws AppError `config` when it is no TOML. */
export function readKnown(path: string, text: string | null): KnownConfig {
  const root = text === null ? {} : parseToml(path, text);
  const textAt = (table: string, key: string): string | null => {
    const value = valueAt(root, table, key);
    return typeof value === 'string' ? value : null;
  };
  return {
    accountID: textAt('device', 'account'),
    deviceID: textAt('device', 'id'),
    url: textAt('broker', 'url'),
    secretFile: textAt('broker', 'secretFile'),
    ownerKey: textAt('owner', 'key'),
  };
}
