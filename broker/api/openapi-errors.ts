// Error answers in the OpenAPI document: the codes of each operation, with an example each. The examples pass through the
// same function as real errors and must never show what a client would not see.
import { AppError, type ErrorCode, type ErrorExtras, errorKinds } from '../../src/core/errors.ts';
import { type Operation, pathVariables } from './base/operation.ts';
import { publicError, viewError } from './base/problem.ts';
import { failureHeaders, isKeyed } from './openapi-headers.ts';

type Json = Readonly<Record<string, unknown>>;

/** Every error code an operation may answer with, its own and those that its shape implies. */
export function errorCodesOf(operation: Operation): readonly ErrorCode[] {
  const { access, body, path } = operation;
  // A request may be broken whatever it asks for (escapes of the path, headers, a query parameter that is not known).
  const implied: ErrorCode[] = [
    'malformed_request',
    'not_acceptable',
    'invalid_content',
    'internal',
    'unavailable',
  ];
  // An API token may lack the scope that the operation needs.
  if (access !== 'public') implied.push('unauthorized', 'throttled', 'forbidden');
  // A part of the path that is longer than any id names nothing.
  if (pathVariables(path).length > 0) implied.push('not_found');
  if (body !== null) implied.push('malformed_json');
  // A key that was used for another request.
  if (isKeyed(operation)) implied.push('conflict');
  return [...new Set([...operation.errors, ...implied])].sort();
}

interface Example extends ErrorExtras {
  readonly detail: string;
  /** Path of the request that failed, when it is not the usual one. */
  readonly path?: string;
}

const usualPath = '/api/v1/device/getdevice/truck-17/authorization';
const bodyPath = '/api/v1/device/createdevice/authorization';
const commandPath = '/api/v1/command/send/truck-17/63680/authorization';

const examples: ReadonlyMap<ErrorCode, Example> = new Map<ErrorCode, Example>([
  ['malformed_json', { detail: 'The body is not JSON: fault at position 17', path: bodyPath }],
  [
    'malformed_request',
    { detail: 'The path is not correctly encoded', path: '/api/v1/device/getdevice/%zz/authorization' },
  ],
  [
    'unauthorized',
    {
      detail: 'The token is wrong, or its session has ended',
      hint: 'Log in at /api/v1/auth/login and send the token in the request header `authorization`.',
    },
  ],
  ['login_failed', { detail: 'Account, user or password is wrong', path: '/api/v1/auth/login' }],
  ['not_found', { detail: 'There is no device "truck-17"' }],
  [
    'not_acceptable',
    {
      detail: 'The Accept header excludes application/json',
      hint: 'Send `Accept: application/json`, or none.',
    },
  ],
  [
    'invalid_content',
    {
      detail: '/uniqueid must be integer',
      details: [{ pointer: '/uniqueid', message: 'must be integer' }],
      hint: 'The operation and its members are described at /docs.',
      path: bodyPath,
    },
  ],
  [
    'conflict',
    {
      detail: 'uniqueid 356938035643809 belongs to another device',
      details: [{ pointer: '/uniqueid', message: 'belongs to another device' }],
      hint: 'Give that device another uniqueid first.',
      path: bodyPath,
    },
  ],
  [
    'forbidden',
    {
      detail: 'commandSend needs the role operator; you are viewer',
      hint: 'Ask an administrator of the account.',
      path: commandPath,
    },
  ],
  [
    'code_needed',
    {
      detail: 'This user logs in with a one-time code; the password alone begins no session',
      hint: 'Use loginByTotp, or loginByPasskey where the user has a passkey. Programs use API tokens.',
      path: '/api/v1/auth/login',
    },
  ],
  [
    'passkey_needed',
    {
      detail: 'This user logs in with a passkey; the password alone begins no session',
      hint: 'Use beginPasskeyLogin and loginByPasskey. Programs use API tokens.',
      path: '/api/v1/auth/login',
    },
  ],
  [
    'password_needed',
    {
      detail: 'The account requires the password again for this; nothing was done',
      details: [{ pointer: '/password', message: 'is missing' }],
      path: '/api/v1/command/feature/authorization',
    },
  ],
  [
    'password_wrong',
    {
      detail: 'The password is wrong; nothing was done',
      details: [{ pointer: '/password', message: 'is not the password of the user' }],
      path: '/api/v1/command/feature/authorization',
    },
  ],
  ['unsupported', { detail: 'The device has no enginecutoff', path: commandPath }],
  [
    'throttled',
    {
      detail: 'Too many failed logins; wait before the next one',
      path: '/api/v1/auth/login',
    },
  ],
  ['unavailable', { detail: 'The service is stopping' }],
  // Its message is replaced by one that hides the cause.
  ['internal', { detail: 'hidden' }],
]);

/** @throws Error for a code without an example: a mistake of ours, which must not start. */
function exampleOf(code: ErrorCode): Json {
  const example = examples.get(code);
  if (example === undefined) throw new Error(`the error code ${code} has no example for the document`);
  const { detail, path = usualPath, ...extras } = example;
  const value = viewError(publicError(new AppError(code, detail, extras)), { path, id: '5b1f0c9a2d7e4836' });
  return { summary: errorKinds[code].title, value };
}

/** `not_found` -> `NotFound`. */
const pascal = (code: string): string =>
  code.replace(/(?:^|_)(\w)/g, (_whole, letter: string) => letter.toUpperCase());

/** One failing answer: a status with the codes that may stand in it, and the name that it has in the document. */
interface Failure {
  readonly name: string;
  readonly status: number;
  readonly codes: readonly ErrorCode[];
}

function failuresOf(operation: Operation): readonly Failure[] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(operation)) {
    const { status } = errorKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus]
    .sort(([left], [right]) => left - right)
    .map(([status, codes]) => ({ name: codes.map(pascal).join('Or'), status, codes }));
}

function describeFailure({ status, codes }: Failure): Json {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorKinds[code].title}`).join('\n\n'),
    headers: failureHeaders(status),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${pascal(code)}` }]),
        ),
      },
    },
  };
}

/** The failing answers of an operation, as references. */
export function errorResponses(operation: Operation): Json {
  return Object.fromEntries(
    failuresOf(operation).map(({ name, status }) => [
      String(status),
      { $ref: `#/components/responses/${name}` },
    ]),
  );
}

/** Every failing answer of these operations once, with its examples, for `components`. */
export function errorComponents(operations: readonly Operation[]): {
  readonly responses: Json;
  readonly examples: Json;
} {
  const failures = new Map(operations.flatMap(failuresOf).map((failure) => [failure.name, failure]));
  const sorted = [...failures.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  const codes = [...new Set(sorted.flatMap((failure) => failure.codes))].sort();
  return {
    responses: Object.fromEntries(sorted.map((failure) => [failure.name, describeFailure(failure)])),
    examples: Object.fromEntries(codes.map((code) => [pascal(code), exampleOf(code)])),
  };
}
