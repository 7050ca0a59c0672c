// The HTTP service with a seeded fleet, and calls of its operations as their examples say: what the tests of all operations
// and those of single rules of the interface share.
import { Compile } from 'typebox/compile';
import { expect } from 'vitest';
import { type Operation, servedPaths } from '../../../broker/api/base/operation.ts';
import { errorAnswer } from '../../../broker/api/base/shapes.ts';
import { type HttpService, prepareCall, seedFleet } from './http-fixtures.ts';
import { startHttpService } from './http-service.ts';

/** A path with its variables filled from the operation's example. */
export function fill(
  operation: Operation,
  path: string,
  changed: Readonly<Record<string, string>> = {},
): string {
  const params = { ...(operation.examples.params as Record<string, string>), ...changed };
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
}

export const bodyOf = (operation: Operation) =>
  operation.body === null ? undefined : operation.examples.body;

/** Streams that never end by themselves have tests of their own. */
export const isEndless = ({ produces }: Operation) => produces === 'text/event-stream';

const errorShape = Compile(errorAnswer);

/** An answer must be the error envelope with this status and code. */
export function expectError(answer: Awaited<ReturnType<HttpService['call']>>, status: number, code: string) {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
  expect(errorShape.Errors(answer.json()), answer.text).toEqual([]);
  expect(Object.keys(answer.json())).toEqual(['error']);
  expect(answer.json()['error']).toMatchObject({ status, code, requestId: answer.headers['x-request-id'] });
  return answer.json()['error'] as {
    detail: string;
    hint: string;
    errors: { pointer: string; message: string }[];
  };
}

/**
 * Starts the service with both tenants and, in `acme`, the device `log-1` with two events of just now.
 * `token` is that of an operator.
 */
export async function startSeededService() {
  const service = await startHttpService();
  const nowS = Math.floor(Date.now() / 1000);
  await seedFleet(service);
  await service.device('acme', 'log-1');
  await service.events('acme', 'log-1', {
    boot: 'b1',
    events: [
      {
        seq: 1,
        timestamp: nowS - 60,
        statusCode: 61472,
        latitude: 43.65107,
        longitude: -79.34702,
        speed: 53.6,
        fuelLevel: 0.62,
      },
      { seq: 2, timestamp: nowS - 50, statusCode: 63553, inputs: { panic: true, ignition: true } },
    ],
  });
  const token = await service.login('acme', 'dispatch');
  const viewer = await service.login('acme', 'guest');
  const admin = await service.login('acme', 'admin');
  /** The token of the weakest user who may call. */
  const tokenOf = (operation: Operation) =>
    ({ public: undefined, share: undefined, viewer, operator: token, admin })[operation.access];
  /** Calls an operation as its example says, after what an earlier call used up was put back. */
  const succeed = async (operation: Operation, changed: Partial<Parameters<HttpService['call']>[0]> = {}) => {
    const prepared = await prepareCall(service, operation);
    const used = prepared.token ?? tokenOf(operation);
    return service.call({
      method: operation.method,
      path: fill(operation, servedPaths(operation)[0] ?? '', prepared.params),
      ...(used === undefined ? {} : { token: used }),
      body: prepared.body ?? bodyOf(operation),
      ...changed,
    });
  };
  return { service, nowS, token, viewer, admin, tokenOf, succeed };
}
