// Types of the published client, written from the OpenAPI document: the same as the operations' own, without the schemas behind them. Pure.
// `test/system/client.test.ts` compares the two.

type Json = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Json;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Json } } };
  readonly responses: {
    readonly 200: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  };
}

const indented = (text: string): string => text.replaceAll(/\n/g, '\n  ');
const comment = (text: unknown): string =>
  typeof text === 'string' && text !== '' ? `/** ${text.replaceAll('*/', '* /').trim()} */\n` : '';
const keyOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
const unionOf = (texts: readonly string[]): string => [...new Set(texts)].join(' | ');

function objectOf({ properties = {}, required = [], additionalProperties, patternProperties }: Json): string {
  const [any] = Object.values((patternProperties ?? {}) as Json);
  const rest = any ?? additionalProperties;
  const named = Object.entries(properties as Record<string, Json>);
  if (named.length === 0 && typeof rest === 'object') return `{ [name: string]: ${typeOf(rest as Json)} }`;
  if (named.length === 0) return rest === false ? 'Record<never, never>' : '{ [name: string]: unknown }';
  const lines = named.map(([name, schema]) => {
    const mark = (required as readonly string[]).includes(name) ? '' : '?';
    return `${comment(schema['description'])}${keyOf(name)}${mark}: ${typeOf(schema)};`;
  });
  return `{\n  ${indented(lines.join('\n'))}\n}`;
}

/** The type of a schema. @throws Error for a keyword that no operation had when this was written. */
export function typeOf(schema: Json): string {
  const { $ref, const: only, enum: values, anyOf, type, items } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? '';
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return unionOf(values.map((value) => JSON.stringify(value)));
  if (Array.isArray(anyOf)) return unionOf((anyOf as readonly Json[]).map(typeOf));
  if (Array.isArray(type)) {
    // `alerts`, `alarms` or a list: the only texts are those of the pattern.
    const [, words] = /^\^\(([\w|]+)\)\$$/.exec(String(schema['pattern'])) ?? [];
    const text =
      words === undefined ? 'string' : unionOf(words.split('|').map((word) => JSON.stringify(word)));
    return unionOf(type.map((one) => (one === 'string' ? text : typeOf({ ...schema, type: one as string }))));
  }
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `(${items === undefined ? 'unknown' : typeOf(items as Json)})[]`;
    case 'object':
      return objectOf(schema);
    case undefined:
      return 'unknown';
    default:
      throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
  }
}

function inputOf(parameters: readonly Parameter[], place: 'path' | 'query'): string {
  const own = parameters.filter((one) => one.in === place);
  if (own.length === 0) return place === 'path' ? 'Record<never, never>' : 'undefined';
  const mark = place === 'path' ? '' : '?';
  const lines = own.map(
    ({ name, description, schema }) => `${comment(description)}${keyOf(name)}${mark}: ${typeOf(schema)};`,
  );
  return `{\n  ${indented(lines.join('\n'))}\n}`;
}

function operationOf({ operationId, summary, parameters, requestBody, responses }: Described): string {
  const { content } = responses[200];
  const result = content['application/json']?.schema ?? { type: 'string' };
  const members = [
    `params: ${inputOf(parameters, 'path')};`,
    `query: ${inputOf(parameters, 'query')};`,
    `body: ${requestBody === undefined ? 'undefined' : typeOf(requestBody.content['application/json'].schema)};`,
    `result: ${typeOf(result)};`,
  ];
  return `${comment(summary)}${operationId}: {\n  ${indented(members.join('\n'))}\n};`;
}

/** @param document OpenAPI of the service. @returns a module that exports the names of `broker/client/operations.ts`, and the named schemas. */
export function formatOperationTypes(document: Json): string {
  const { paths, components } = document as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Json>> };
  };
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${comment(schema['description'])}export type ${name} = ${typeOf(schema)};\n`,
  );
  // An operation that is served at several paths stands once, under its own id.
  const described = Object.values(paths).flatMap((path) => Object.values(path));
  const own = described.filter(({ operationId }) => !/(Versioned|Plain|Joined)$/.test(operationId));
  return `// Made by systemd/package-client.ts from the operations of the service.
${schemas.join('')}export interface Operations {
  ${indented(own.map(operationOf).join('\n'))}
}
export type OperationID = keyof Operations;
export type Params<I extends OperationID> = Operations[I]['params'];
export type Body<I extends OperationID> = Operations[I]['body'];
export type Query<I extends OperationID> = Operations[I]['query'];
export type Result<I extends OperationID> = Operations[I]['result'];
`;
}
