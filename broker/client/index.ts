// What the published package gives, besides its `createClient` and its types of the operations (`systemd/package-client.ts`).
export type { Client, ClientOptions, FollowInput, Given, Input, LiveMessage, PagedID } from './client.ts';
export { clientOf } from './client.ts';
export { randomKey } from './idempotency-key.ts';
export type { Body, OperationID, Params, Query, Result } from './operations.ts';
export type { Route } from './request.ts';
export { type Outcome, outcomeOf, ServiceError } from './service-error.ts';
