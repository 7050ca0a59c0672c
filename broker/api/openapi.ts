// The OpenAPI 3.1 document, generated from the list of operations. Pure: TypeBox schemas are JSON schemas and are used as
// they are. Everything about the interface comes from the operations.
import type { TSchema } from 'typebox';
import { user } from './accounts/user-view.ts';
import { alarmRecord } from './alarms/alarm-shapes.ts';
import { alarmDelivery, delivery } from './answers/delivery-view.ts';
import { type Operation, type PathForm, pathVariables, servedPaths, tags } from './base/operation.ts';
import {
  device,
  errorAnswer,
  eventData,
  featureDefinition,
  listedDevice,
  listedEvent,
  listedMetadata,
  ruleFinding,
  sensorMap,
  stateMap,
  vehicleBus,
  verdict,
} from './base/shapes.ts';
import {
  approvalRecord,
  commandAnswer,
  commandRecord,
  signing,
  signOptions,
} from './commands/command-view.ts';
import { eventList } from './events/event-list.ts';
import { geozone } from './geozones/geozone-shapes.ts';
import { rule } from './notifications/rule-shapes.ts';
import { errorComponents, errorResponses } from './openapi-errors.ts';
import { headerComponents, headerParameters, successHeaders } from './openapi-headers.ts';
import { describeStream } from './openapi-media.ts';
import { about, tagTexts } from './openapi-text.ts';

type Json = Readonly<Record<string, unknown>>;

const securityScheme = 'token';

/** Schemas that stand once under `components`, found by identity. */
const named: ReadonlyMap<TSchema, string> = new Map<TSchema, string>([
  [device, 'Device'],
  [listedDevice, 'ListedDevice'],
  [listedEvent, 'ListedEvent'],
  [listedMetadata, 'ListedMetadata'],
  [featureDefinition, 'FeatureDefinition'],
  [sensorMap, 'Sensors'],
  [stateMap, 'FeatureStates'],
  [geozone, 'Geozone'],
  [eventData, 'EventData'],
  [eventList, 'EventList'],
  [alarmRecord, 'Alarm'],
  [alarmDelivery, 'AlarmDelivery'],
  [delivery, 'Delivery'],
  [verdict, 'Verdict'],
  [ruleFinding, 'VerdictRule'],
  [signing, 'Signing'],
  [signOptions, 'SignOptions'],
  [vehicleBus, 'VehicleBus'],
  [commandAnswer, 'Command'],
  [commandRecord, 'CommandRecord'],
  [approvalRecord, 'Approval'],
  [rule, 'Rule'],
  [user, 'User'],
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

const byName: ReadonlyMap<string, TSchema> = new Map([...named].map(([schema, name]) => [name, schema]));

/** The named schemas that a part of the document refers to, directly or through each other. */
function schemasFor(part: unknown): Json {
  const found = new Map<string, unknown>();
  const visit = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const schema = byName.get(name);
      if (schema === undefined || found.has(name)) continue;
      const described = plain(schema);
      found.set(name, described);
      visit(described);
    }
  };
  visit(part);
  return Object.fromEntries([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
}

interface Location {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly example: unknown;
}

function parameterOf({ name, in: place, example }: Location, schemaOf: unknown): Json {
  const { description, ...schema } = plain(schemaOf) as Json;
  return {
    name,
    in: place,
    required: place === 'path',
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example === undefined ? {} : { example }),
  };
}

function parametersOf(operation: Operation): readonly Json[] {
  const examples = operation.examples.params as Json;
  const inPath = pathVariables(operation.path).map((name) =>
    parameterOf({ name, in: 'path', example: examples[name] }, operation.params.properties[name]),
  );
  const inQuery = Object.entries(operation.query?.properties ?? {}).map(([name, schema]) =>
    parameterOf({ name, in: 'query', example: undefined }, schema),
  );
  return [...inPath, ...inQuery, ...headerParameters(operation)];
}

function bodyOf({ body, textBody, examples }: Operation): Json {
  if (body === null) return {};
  const content: Record<string, Json> = { 'application/json': { schema: use(body), example: examples.body } };
  if (textBody !== undefined) {
    const { member, mediaType } = textBody;
    content[mediaType] = {
      schema: use(body.properties[member] ?? body),
      example: (examples.body as Json)[member],
    };
  }
  return { requestBody: { required: true, content } };
}

function successOf(operation: Operation): Json {
  const { result, examples, produces, isConditional = false } = operation;
  const whole = { schema: use(result), example: examples.result };
  const headers = successHeaders(operation);
  return {
    200: {
      description: 'Success',
      headers,
      content:
        produces === undefined
          ? { 'application/json': whole }
          : { [produces]: describeStream(produces, whole) },
    },
    ...(isConditional ? { 304: { description: 'Unchanged since the `ETag` that was sent', headers } } : {}),
  };
}

interface Form {
  readonly form: PathForm;
  /** The form to show first. */
  readonly main: string;
  readonly isMain: boolean;
}

const formNames: Readonly<Record<PathForm, { readonly suffix: string; readonly label: string }>> = {
  versioned: { suffix: 'Versioned', label: 'path with version' },
  plain: { suffix: 'Plain', label: 'path without version' },
  joined: { suffix: 'Joined', label: 'path without a slash after the version' },
};

/** What all forms of a path share, described once. */
const describeShared = (operation: Operation): Json => ({
  parameters: parametersOf(operation),
  ...bodyOf(operation),
  responses: { ...successOf(operation), ...errorResponses(operation) },
});

function describeOperation(operation: Operation, shared: Json, { form, main, isMain }: Form): Json {
  const { id, tag, summary, description, access } = operation;
  const { suffix, label } = formNames[form];
  const role =
    { public: '', share: '\n\nFor the token of a share link.' }[access as string] ?? `\n\nRole: ${access}.`;
  return {
    operationId: isMain ? id : `${id}${suffix}`,
    tags: [tag],
    summary: isMain ? summary : `${summary} (${label})`,
    description: `${isMain ? '' : `The same as \`${main}\`.\n\n`}${description}${role}`,
    security: access === 'public' ? [] : [{ [securityScheme]: [] }],
    ...shared,
  };
}

function describePaths(operations: readonly Operation[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const served = servedPaths(operation);
    const shared = describeShared(operation);
    for (const [index, form] of operation.forms.entries()) {
      const [path = '', main = ''] = [served[index], served[0]];
      const item = (paths[path] ??= {});
      item[operation.method.toLowerCase()] = describeOperation(operation, shared, {
        form,
        main,
        isMain: index === 0,
      });
    }
  }
  return paths;
}

/** @param version of the program. */
export function createOpenapi(
  operations: readonly Operation[],
  version: string,
  introduction: string = about,
): Json {
  const paths = describePaths(operations);
  const failures = errorComponents(operations);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Fleet Asset Protection Service',
      version,
      description: introduction,
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: tags
      .filter((name) => operations.some(({ tag }) => tag === name))
      .map((name) => ({ name, description: tagTexts[name] })),
    paths,
    components: {
      securitySchemes: {
        [securityScheme]: {
          type: 'apiKey',
          in: 'header',
          name: 'authorization',
          description: 'The token, exactly as it was given',
        },
      },
      ...headerComponents(operations),
      ...failures,
      schemas: schemasFor({ paths, failures }),
    },
  };
}
