// Configuration from flags, environment, a TOML file and defaults, in this order, into one checked and frozen value
// that holds the origin of each part. The only reader of `process.env`. An unknown key is an error, never ignored: a
// misspelt setting must not leave a vehicle with an unintended default. So is an unknown variable with our prefix.
import { parse, TomlError } from 'smol-toml';
import { IsArray, IsObject, IsOptional, type Static, type TObject, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { AppError, type ErrorDetail, messageOf } from './core/errors.ts';
import { nearestWord } from './core/nearest-word.ts';

const environmentPrefix = 'FLEETWARD_';
/** Of the variables of tests, which programs that they start inherit. */
const testPrefix = 'FLEETWARD_TEST_';

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

export interface ConfigSources<Schema extends TObject> {
  /** Nested objects are TOML tables; `default` on a member makes it optional. */
  readonly schema: Schema;
  readonly file: ConfigFile | null;
  /** The variables of the process; see `readEnvironment`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * By flag name without dashes in front (`http-port`); undefined means not given. Unknown flags are ignored. Null
   * for a program whose settings are no flags: its messages name none.
   */
  readonly flags: Readonly<Record<string, unknown>> | null;
}

interface Origin {
  readonly kind: 'flag' | 'env' | 'file' | 'default';
  /** `--http-port`, `FLEETWARD_HTTP_PORT`, `broker.toml`, or `default`. */
  readonly name: string;
}

export interface Config<Value> {
  readonly value: Value;
  /** By dotted key (`http.port`), every setting that has a value. */
  readonly origins: Readonly<Record<string, Origin>>;
}

interface Leaf {
  readonly key: string;
  readonly schema: TSchema;
  readonly isOptional: boolean;
}

interface Found {
  readonly value: unknown;
  readonly origin: Origin;
}

interface Fault extends ErrorDetail {
  readonly kind: Origin['kind'];
}

/** The process's environment, read here and nowhere else. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return { ...process.env };
}

const words = (key: string): readonly string[] =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1.$2')
    .toLowerCase()
    .split('.');

/** Flag of a dotted key: `http.port` is `http-port`, `signingKeyFile` is `signing-key-file`. */
export function flagOf(key: string): string {
  return words(key).join('-');
}

/** Environment variable of a dotted key: `http.port` is `FLEETWARD_HTTP_PORT`. */
export function variableOf(key: string): string {
  return `${environmentPrefix}${words(key).join('_').toUpperCase()}`;
}

function leavesOf(schema: TObject, prefix = ''): readonly Leaf[] {
  return Object.entries(schema.properties).flatMap(([name, member]) => {
    const key = `${prefix}${name}`;
    return IsObject(member)
      ? leavesOf(member, `${key}.`)
      : [{ key, schema: member, isOptional: IsOptional(member) }];
  });
}

type Table = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function parseFile(file: ConfigFile): Table {
  try {
    return parse(file.text);
  } catch (thrown) {
    const place = thrown instanceof TomlError ? `:${thrown.line}:${thrown.column}` : '';
    const [reason = ''] = messageOf(thrown).split('\n');
    throw new AppError('config', `${file.path}${place}: ${reason}`, {
      cause: thrown,
      hint: 'Write valid TOML 1.0.',
    });
  }
}

interface FileSearch {
  readonly schema: TObject;
  readonly file: ConfigFile;
  readonly found: Map<string, Found>;
  readonly faults: Fault[];
}

/** Walks the file by the schema: values of known keys, a fault for each other one. */
function walkFile(search: FileSearch, table: Table, prefix = ''): void {
  const { schema, file, found, faults } = search;
  const known = Object.keys(schema.properties);
  for (const [name, value] of Object.entries(table)) {
    const key = `${prefix}${name}`;
    const member = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (member === undefined) {
      const near = nearestWord(name, known);
      const suggestion =
        near === null ? '' : `; the nearest one allowed is ${JSON.stringify(`${prefix}${near}`)}`;
      faults.push({
        pointer: key,
        kind: 'file',
        message: `${file.path}: ${key}: there is no such key${suggestion}`,
      });
    } else if (!IsObject(member)) {
      found.set(key, { value, origin: { kind: 'file', name: file.path } });
    } else if (isTable(value)) {
      walkFile({ ...search, schema: member }, value, `${key}.`);
    } else {
      faults.push({
        pointer: key,
        kind: 'file',
        message: `${file.path}: ${key}: must be a table ([${key}])`,
      });
    }
  }
}

const typeOf = (schema: TSchema): unknown => ('type' in schema ? schema.type : undefined);

/**
 * The text of a variable or flag as the schema's type; a value that does not match stays text and is refused as
 * given.
 */
function parseText(text: string, schema: TSchema): unknown {
  const type = typeOf(schema);
  if ((type === 'integer' || type === 'number') && /^[+-]?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (IsArray(schema))
    return text === '' ? [] : text.split(',').map((item) => parseText(item.trim(), schema.items));
  return text;
}

/** One of several shapes: a constant as it is written, a table by its keys. */
function alternative(schema: Table): string {
  if ('const' in schema) return JSON.stringify(schema['const']);
  const members = schema['properties'];
  return typeof members === 'object' && members !== null
    ? `a table of ${Object.keys(members).join(', ')}`
    : allowedBy(schema);
}

/** Description of the values that a schema allows; of an array also its items, where they have a description. */
function allowedBy(schema: TSchema): string {
  const rules = schema as Readonly<Record<string, unknown>>;
  const choices = rules['enum'];
  if (Array.isArray(choices)) return `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  const shapes = rules['anyOf'];
  if (Array.isArray(shapes)) {
    const isList = shapes.every((shape: Table) => 'const' in shape);
    return isList ? `one of ${shapes.map(alternative).join(', ')}` : shapes.map(alternative).join(' or ');
  }
  if (typeof rules['properties'] === 'object') return alternative(rules);
  if (IsArray(schema)) {
    const { description } = schema.items as Table;
    return typeof description === 'string' ? `array of ${description}` : 'array';
  }
  const from = rules['minimum'] === undefined ? '' : ` from ${JSON.stringify(rules['minimum'])}`;
  const to = rules['maximum'] === undefined ? '' : ` to ${JSON.stringify(rules['maximum'])}`;
  const least = rules['minLength'] === undefined ? '' : ' that is not empty';
  const form = rules['pattern'] === undefined ? '' : ` of the form ${JSON.stringify(rules['pattern'])}`;
  const type = typeOf(schema);
  return `${typeof type === 'string' ? type : 'value'}${from}${to}${least}${form}`;
}

function checkLeaf(leaf: Leaf, found: Found | undefined, hasFlags: boolean): Fault | null {
  if (found === undefined) {
    if (leaf.isOptional) return null;
    const flag = hasFlags ? ` or --${flagOf(leaf.key)}` : '';
    const ways = `${leaf.key} in the file${hasFlags ? ',' : ' or'} ${variableOf(leaf.key)}${flag}`;
    return {
      pointer: leaf.key,
      kind: 'file',
      message: `${leaf.key} is not set; allowed: ${allowedBy(leaf.schema)}; set ${ways}`,
    };
  }
  if (Value.Check(leaf.schema, found.value)) return null;
  const { kind, name } = found.origin;
  const where = kind === 'file' ? `${name}: ${leaf.key}` : name;
  // Personal data stay out of logs, wrong ones too.
  const isPersonal = (leaf.schema as Table)['x-personal'] === true;
  const text = JSON.stringify(found.value) ?? String(found.value);
  const shown = isPersonal ? `${text.length} characters` : text.slice(0, 100);
  // A pattern says little to people.
  const { pattern, description } = leaf.schema as Table;
  const meaning = pattern === undefined || typeof description !== 'string' ? '' : `: ${description}`;
  const message = `${where}: found ${shown}; allowed: ${allowedBy(leaf.schema)}${meaning}`;
  return { pointer: leaf.key, kind, message };
}

function findLeaf(leaf: Leaf, sources: Pick<ConfigSources<TObject>, 'env' | 'flags'>): Found | undefined {
  const flag = flagOf(leaf.key);
  const given = sources.flags?.[flag];
  if (given !== undefined) {
    const value = typeof given === 'string' ? parseText(given, leaf.schema) : given;
    return { value, origin: { kind: 'flag', name: `--${flag}` } };
  }
  const variable = variableOf(leaf.key);
  const text = sources.env[variable];
  // An empty variable is an unset one, as in a systemd unit that blanks it.
  if (text !== undefined && text !== '') {
    return { value: parseText(text, leaf.schema), origin: { kind: 'env', name: variable } };
  }
  return undefined;
}

/** Of variables that name no setting: misspelt ones, and those of another program. An empty one is an unset one. */
function unknownVariables(leaves: readonly Leaf[], env: ConfigSources<TObject>['env']): readonly Fault[] {
  const known = leaves.map(({ key }) => variableOf(key));
  return Object.entries(env)
    .filter(([, text]) => text !== undefined && text !== '')
    .map(([name]) => name)
    .filter((name) => name.startsWith(environmentPrefix) && !name.startsWith(testPrefix))
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearestWord(name, known);
      const advice = near === null ? 'remove it' : `remove it, or write ${near}`;
      return { pointer: name, kind: 'env', message: `${name}: there is no such variable; ${advice}` };
    });
}

function assemble(values: ReadonlyMap<string, Found>, leaves: readonly Leaf[]): Table {
  const root: Record<string, unknown> = {};
  for (const { key } of leaves) {
    const path = key.split('.');
    const last = path.pop() ?? '';
    let table = root;
    for (const name of path) table = (table[name] ??= {}) as Record<string, unknown>;
    const found = values.get(key);
    if (found !== undefined) table[last] = found.value;
  }
  return freeze(root);
}

function freeze<T extends object>(value: T): T {
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) freeze(member);
  return Object.freeze(value);
}

/**
 * Reads, checks and freezes a configuration.
 * @throws AppError `usage` when only flags are wrong, else `config`; every fault is listed, with file, key, found
 * value and allowed values.
 */
export function loadConfig<Schema extends TObject>(sources: ConfigSources<Schema>): Config<Static<Schema>> {
  const leaves = leavesOf(sources.schema);
  const values = new Map<string, Found>();
  const faults: Fault[] = [...unknownVariables(leaves, sources.env)];
  if (sources.file !== null) {
    const search = { schema: sources.schema, file: sources.file, found: values, faults };
    walkFile(search, parseFile(sources.file));
  }
  for (const leaf of leaves) {
    const nearer = findLeaf(leaf, sources);
    if (nearer !== undefined) values.set(leaf.key, nearer);
    const fallback = (leaf.schema as Table)['default'];
    if (!values.has(leaf.key) && fallback !== undefined) {
      values.set(leaf.key, {
        value: structuredClone(fallback),
        origin: { kind: 'default', name: 'default' },
      });
    }
    const fault = checkLeaf(leaf, values.get(leaf.key), sources.flags !== null);
    if (fault !== null) faults.push(fault);
  }
  if (faults.length > 0) {
    const code = faults.every((fault) => fault.kind === 'flag') ? 'usage' : 'config';
    throw new AppError(code, faults.map((fault) => fault.message).join('\n'), {
      details: faults.map(({ pointer, message }) => ({ pointer, message })),
      hint: '`start --help` lists every setting with what it allows.',
    });
  }
  const origins = Object.fromEntries([...values].map(([key, { origin }]) => [key, origin]));
  // Every leaf was checked against its schema just now.
  return { value: assemble(values, leaves) as Static<Schema>, origins };
}

/** The value of a dotted key (`http.port`) in a configuration; undefined when it is not set. */
export function settingAt(value: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((table, name) => (isTable(table) ? table[name] : undefined), value);
}

export interface Setting {
  readonly key: string;
  /** Name of its flag, without dashes in front. */
  readonly flag: string;
  readonly isSwitch: boolean;
  /** Purpose, allowed values, default and environment variable. */
  readonly words: string;
}

/** Every setting of a schema, for `--help`. */
export function settingsOf(schema: TObject): readonly Setting[] {
  return leavesOf(schema).map(({ key, schema: member }) => {
    const { description, default: fallback } = member as Table;
    const standard = fallback === undefined ? '' : `, default ${JSON.stringify(fallback)}`;
    return {
      key,
      flag: flagOf(key),
      isSwitch: typeOf(member) === 'boolean',
      words: `${typeof description === 'string' ? description : key} (${allowedBy(member)}${standard}; ${variableOf(key)})`,
    };
  });
}
