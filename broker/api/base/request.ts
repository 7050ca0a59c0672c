// Validates a request: the optional root `data`, member names in any letter case, then the schema. Pure. It changes only letters
// to their composed form (NFC), and never drops a member: faults are rejected with a JSON pointer into the document as sent.
import { type TObject, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError, type ErrorDetail } from '../../../src/core/errors.ts';
import { nearestName } from './suggestion.ts';

/** Faults listed in one answer. */
const detailsMost = 50;

type JsonObject = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Unwrapped {
  readonly value: unknown;
  /** Where the fields stand in the document. */
  readonly pointer: '' | '/data' | '/data/0';
}

/** The fields of a body, flat or under `data` (an object, or an array of one). */
function unwrap(body: unknown): Unwrapped {
  if (!isObject(body) || !('data' in body) || Object.keys(body).length !== 1)
    return { value: body, pointer: '' };
  const { data } = body;
  if (Array.isArray(data) && data.length === 1) return { value: data[0], pointer: '/data/0' };
  return { value: data, pointer: '/data' };
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

function invalid(details: readonly ErrorDetail[]): AppError {
  const [first] = details;
  const what =
    first === undefined ? 'The request does not fit' : `${first.pointer || 'The body'} ${first.message}`;
  return new AppError('invalid_content', what, {
    details: details.slice(0, detailsMost),
    hint: 'The operation and its members are described at /docs.',
  });
}

interface Spelled {
  readonly value: JsonObject;
  /** Name in the schema -> name in the document. */
  readonly written: ReadonlyMap<string, string>;
}

/** The members of a schema by their names in small letters; of two that differ in letter case only, the first. */
function membersBySmallName({ properties }: TObject): ReadonlyMap<string, string> {
  return new Map(
    Object.keys(properties)
      .toReversed()
      .map((name) => [name.toLowerCase(), name]),
  );
}

interface Spelling {
  readonly schema: TObject;
  readonly members: ReadonlyMap<string, string>;
  readonly pointer: string;
}

/** Renames members to the schema's spelling; a member given in two spellings is refused. */
function respell(value: JsonObject, { schema, members, pointer }: Spelling): Spelled {
  // No prototype: a member named `__proto__` is a member like any other, and is refused as unknown.
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const written = new Map<string, string>();
  for (const [name, field] of Object.entries(value)) {
    const isExact = Object.hasOwn(schema.properties, name);
    const canonical = isExact ? name : (members.get(name.toLowerCase()) ?? name);
    const other = written.get(canonical);
    if (other !== undefined) {
      const message = `is the same member as ${other}; send one of them`;
      throw invalid([{ pointer: `${pointer}/${escapePointer(name)}`, message }]);
    }
    written.set(canonical, name);
    fields[canonical] = field;
  }
  return { value: fields, written };
}

/** Members whose characters are kept as they were typed. */
const isSecret = (name: string): boolean => /password|secret/i.test(name);

/**
 * The same with composed letters (Unicode NFC): an `é` of one keyboard is the `é` of another, so that one name is one zone. Deep values
 * have been limited before.
 */
export function composed(value: unknown): unknown {
  if (typeof value === 'string') return value.normalize('NFC');
  if (Array.isArray(value)) return value.map(composed);
  if (!isObject(value)) return value;
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value))
    fields[name] = isSecret(name) ? member : composed(member);
  return fields;
}

/** Checks values against one schema; compiled once. */
export interface Checker {
  /** Throws AppError `invalid_content` listing every fault. Path variables are checked as they are. */
  checkParams(params: unknown): void;
  /** The same for the query; a parameter that the operation does not know is refused. */
  checkQuery(query: unknown): void;
  /** The body in the schema's spelling. */
  readBody(body: unknown): unknown;
}

type Faults = ReturnType<ReturnType<typeof Compile>['Errors']>;

/** Description of a member of the schema's root, for people; null for anything deeper. */
function descriptionOf({ properties }: TObject, instancePath: string): string | null {
  const member: unknown = properties[instancePath.slice(1)];
  const description =
    typeof member === 'object' && member !== null && 'description' in member ? member.description : null;
  return typeof description === 'string' ? description : null;
}

interface Location {
  readonly schema: TObject;
  /** Maps the place of a fault in the checked value to that in the client's document. */
  readonly place: (instancePath: string) => string;
}

/** One detail for each member that a fault is about; typebox lists missing and unknown members at their parent. */
function detailsOf(faults: Faults, { schema, place }: Location): readonly ErrorDetail[] {
  return faults.flatMap((fault) => {
    const at = (name: string) => place(`${fault.instancePath}/${escapePointer(name)}`);
    switch (fault.keyword) {
      case 'required':
        return fault.params.requiredProperties.map((name) => ({ pointer: at(name), message: 'is missing' }));
      case 'additionalProperties':
        return fault.params.additionalProperties.slice(0, detailsMost).map((name) => {
          const near = fault.instancePath === '' ? nearestName(name, Object.keys(schema.properties)) : null;
          const meant = near === null ? '' : `; did you mean ${near}?`;
          return { pointer: at(name), message: `is not known here${meant}` };
        });
      // Says the same once more for each unknown member.
      case 'boolean':
        return [];
      case 'enum':
        return [
          {
            pointer: place(fault.instancePath),
            message: `must be one of ${fault.params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`,
          },
        ];
      case 'pattern': {
        const description = descriptionOf(schema, fault.instancePath);
        const message = description === null ? fault.message : `does not fit: ${description}`;
        return [{ pointer: place(fault.instancePath), message }];
      }
      default:
        return [{ pointer: place(fault.instancePath), message: fault.message }];
    }
  });
}

/** Members of one object; a route with all of its points has fewer. */
const membersMost = 2000;

/**
 * The first object or list with more members than any may have. It is checked first: naming each fault of a quarter of a million
 * members takes minutes.
 */
function tooMany(schema: unknown, value: unknown, pointer: string): ErrorDetail | null {
  const { maxItems, properties } = isObject(schema) ? schema : {};
  if (Array.isArray(value)) {
    const most = typeof maxItems === 'number' ? maxItems : membersMost;
    return value.length > most ? { pointer, message: `must not have more than ${most} items` } : null;
  }
  if (!isObject(value)) return null;
  if (Object.keys(value).length > membersMost) {
    return { pointer, message: `must not have more than ${membersMost} members` };
  }
  for (const [name, member] of Object.entries(isObject(properties) ? properties : {})) {
    const inner = Object.hasOwn(value, name) ? value[name] : undefined;
    const found = tooMany(member, inner, `${pointer}/${escapePointer(name)}`);
    if (found !== null) return found;
  }
  return null;
}

const nulMessage = 'must not contain the character U+0000';
const surrogateMessage = 'must be well-formed: half of a surrogate pair is no character';

/** What stands against a text; null when nothing does. */
function faultOfText(text: string): string | null {
  if (text.includes('\0')) return nulMessage;
  return text.isWellFormed() ? null : surrogateMessage;
}

/** The first text, or name of a member, that no database holds as it is; null when there is none. */
function unstorable(root: unknown, at: string): ErrorDetail | null {
  const open: (readonly [pointer: string, value: object])[] = [];
  if (typeof root === 'object' && root !== null) open.push([at, root]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [pointer, value] = next;
    for (const [name, inner] of Object.entries(value) as (readonly [string, unknown])[]) {
      const ofName = faultOfText(name);
      // The name itself cannot be shown.
      if (ofName !== null) return { pointer, message: `has a member whose name ${ofName}` };
      const message = typeof inner === 'string' ? faultOfText(inner) : null;
      if (message !== null) return { pointer: `${pointer}/${escapePointer(name)}`, message };
      if (typeof inner === 'object' && inner !== null)
        open.push([`${pointer}/${escapePointer(name)}`, inner]);
    }
  }
  return null;
}

function refuseUnstorable(value: unknown, at: string): void {
  const fault = unstorable(value, at);
  if (fault !== null) throw invalid([fault]);
}

const same = (path: string): string => path;

interface Schemas {
  readonly params: TObject;
  readonly query?: TObject;
  /** Null for an operation without a body. */
  readonly body: TObject | null;
}

/** @param schemas of one operation. */
export function createChecker(schemas: Schemas): Checker {
  const params = Compile(schemas.params);
  // One rule for all that answer: a parameter that is misspelt must not give another answer than was asked for.
  const { query: open = {} } = schemas;
  const additionalProperties = 'additionalProperties' in open && open.additionalProperties === true;
  const known = Type.Object(schemas.query?.properties ?? {}, { additionalProperties });
  const query = { schema: known, validator: Compile(known) };
  const body =
    schemas.body === null
      ? null
      : {
          schema: schemas.body,
          members: membersBySmallName(schemas.body),
          validator: Compile(schemas.body),
        };
  return {
    checkParams(values) {
      // Nothing has such a name.
      if (unstorable(values, '') !== null) throw new AppError('not_found', 'There is no such object');
      if (!params.Check(values))
        throw invalid(detailsOf(params.Errors(values), { schema: schemas.params, place: same }));
    },
    checkQuery(values) {
      // The framework's own object has no prototype, which a schema does not mind.
      refuseUnstorable(values, '');
      if (query.validator.Check(values)) return;
      throw invalid(detailsOf(query.validator.Errors(values), { schema: query.schema, place: same }));
    },
    readBody(document) {
      if (body === null) return null;
      const { value, pointer } = unwrap(document);
      if (!isObject(value)) throw invalid([{ pointer, message: 'must be an object' }]);
      const excess = tooMany(body.schema, value, pointer);
      if (excess !== null) throw invalid([excess]);
      refuseUnstorable(value, pointer);
      const spelled = respell(composed(value) as JsonObject, { ...body, pointer });
      if (body.validator.Check(spelled.value)) return spelled.value;
      const place = (path: string): string => {
        const [name = '', ...rest] = path.split('/').slice(1);
        if (path === '') return pointer;
        const plain = name.replaceAll('~1', '/').replaceAll('~0', '~');
        const asWritten = escapePointer(spelled.written.get(plain) ?? plain);
        return [pointer, asWritten, ...rest].join('/');
      };
      throw invalid(detailsOf(body.validator.Errors(spelled.value), { schema: body.schema, place }));
    },
  };
}
