// The OpenAPI 3.1 document, made from the list of operations. Pure: the schemas go in as they are, because TypeBox
// schemas are JSON schemas. Nothing about the interface may be written here that an operation does not say.
import type { TSchema } from 'typebox';
import { type ErrorCode, errorKinds } from '../../src/core/errors.ts';
import { type Operation, pathVariables, servedPaths, tags } from './operation.ts';
import { device, errorAnswer, eventData, metadataEntry } from './shapes.ts';

type Json = Readonly<Record<string, unknown>>;

const securityScheme = 'token';

/** Schemas that stand once under `components`, found by identity. */
const named: ReadonlyMap<TSchema, string> = new Map<TSchema, string>([
  [device, 'Device'],
  [eventData, 'EventData'],
  [metadataEntry, 'MetadataEntry'],
  [errorAnswer, 'Error'],
]);

/** Plain JSON of a schema, with named schemas inside it as references. `root` itself is written out. */
function plain(root: unknown): unknown {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const name = value === root ? undefined : named.get(value);
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member)]));
  };
  return walk(root);
}

/** A schema where it is used: a reference when it has a name. */
function use(schema: TSchema): unknown {
  const name = named.get(schema);
  return name === undefined ? plain(schema) : { $ref: `#/components/schemas/${name}` };
}

/** Every error code an operation may answer with, its own and those that its shape implies. */
export function errorCodesOf(operation: Operation): readonly ErrorCode[] {
  const implied: ErrorCode[] = ['not_acceptable', 'internal', 'unavailable'];
  if (operation.access !== 'public') implied.push('unauthorized');
  if (operation.access !== 'public' && operation.access !== 'viewer') implied.push('forbidden');
  if (operation.body !== null) implied.push('malformed_json', 'malformed_request', 'invalid_content');
  return [...new Set([...operation.errors, ...implied])].sort();
}

function errorResponses(operation: Operation): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(operation)) {
    const { status } = errorKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const entries = [...byStatus].sort(([left], [right]) => left - right);
  return Object.fromEntries(
    entries.map(([status, codes]) => {
      const lines = codes.map((code) => `\`${code}\`: ${errorKinds[code].title}`);
      const response = {
        description: lines.join('\n\n'),
        ...(status === 503 ? { headers: retryAfter } : {}),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      };
      return [String(status), response];
    }),
  );
}

const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before trying again',
    schema: { type: 'integer', minimum: 1 },
  },
};

function parametersOf(operation: Operation): readonly Json[] {
  const examples = operation.examples.params as Json;
  return pathVariables(operation.path).map((name) => {
    const { description, ...schema } = plain(operation.params.properties[name]) as Json;
    const words = description === undefined ? {} : { description };
    return { name, in: 'path', required: true, ...words, schema, example: examples[name] };
  });
}

interface Form {
  readonly path: string;
  readonly isPlain: boolean;
}

function describeOperation(operation: Operation, form: Form): Json {
  const { id, tag, summary, description, body, result, access, examples } = operation;
  const role = access === 'public' ? '' : `\n\nRole: ${access}.`;
  const also = form.isPlain ? `The same as \`/api/v1${operation.path}\`.\n\n` : '';
  return {
    operationId: form.isPlain ? `${id}Plain` : id,
    tags: [tag],
    summary: form.isPlain ? `${summary} (path without version)` : summary,
    description: `${also}${description}${role}`,
    security: access === 'public' ? [] : [{ [securityScheme]: [] }],
    parameters: parametersOf(operation),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: use(body), example: examples.body } },
          },
        }),
    responses: {
      200: {
        description: 'Success',
        ...(operation.effects || operation.access !== 'public' ? { headers: noStore } : {}),
        content: { 'application/json': { schema: use(result), example: examples.result } },
      },
      ...errorResponses(operation),
    },
  };
}

const noStore = { 'Cache-Control': { description: '`no-store`', schema: { type: 'string' } } };

const about = `Tracks vehicles and assets, and protects them: positions, alarms, and commands to the engine cutoff and the
cargo access.

**Start here.** \`POST /api/v1/auth/login\` with account, user and password gives a token. Send it in the request header
\`authorization\` with every other call, exactly as it was returned.

**Answers** are flat JSON objects with \`status_code\` and \`success\` (text). A failure has the one member \`error\`: branch
on its \`code\`, show its \`detail\`, quote its \`requestId\`; \`errors\` points into what you sent (JSON pointers).

**Bodies** are JSON (\`Content-Type: application/json\`, at most 1 MiB), flat or under a root member \`data\`. Unknown
members and wrong types are refused with 422; nothing is converted.

**Order of checks:** path (404), verb (405 with \`Allow\`), token (401), \`Accept\` and \`Content-Type\` (406), size and
syntax (400), role and content (422), then the operation. An object of another account answers 404, like one that does
not exist. 503 carries \`Retry-After\`.

**Times** are epoch seconds, speeds km/h, coordinates decimal degrees (WGS 84). A GET that changes something has no HEAD
and is never to be cached; repeating it changes nothing further.`;

/** @param version of the program. */
export function createOpenapi(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    for (const [index, path] of servedPaths(operation).entries()) {
      const item = (paths[path] ??= {});
      item[operation.method.toLowerCase()] = describeOperation(operation, { path, isPlain: index > 0 });
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Fleet Asset Protection Service',
      version,
      description: about,
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        [securityScheme]: {
          type: 'apiKey',
          in: 'header',
          name: 'authorization',
          description: 'The token exactly as login returned it',
        },
      },
      schemas: Object.fromEntries([...named].map(([schema, name]) => [name, plain(schema)])),
    },
  };
}
