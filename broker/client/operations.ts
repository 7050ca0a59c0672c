// Types of all operations, taken from the operations' own literals: nothing of the broker is loaded. A wrong id or a misread member does not
// compile. The published package has the same types written out (`systemd/package-client.ts`).
import type { Static, TObject } from 'typebox';
import type { ServedOperation as Served } from '../operations.ts';

/** One id that is no literal would let every call pass: then none does. */
export type OperationID = string extends Served['id'] ? never : Served['id'];
/** Operations that are made together share one type, whose id is a union. */
type Of<I extends OperationID, S extends Served = Served> = S extends Served
  ? I extends S['id']
    ? S
    : never
  : never;

type InputOf<S> = S extends TObject ? Static<S> : undefined;
/** An operation without a query has the widest one as its type. */
type QueryOf<O> = O extends { readonly query?: infer Q extends TObject }
  ? TObject extends Q
    ? undefined
    : Partial<Static<Q>>
  : undefined;

/** Method and path of an operation. */
export type RouteText<I extends OperationID> = `${Of<I>['method']} ${Of<I>['path']}`;
export type Params<I extends OperationID> = Static<Of<I>['params']>;
export type Body<I extends OperationID> = InputOf<Of<I>['body']>;
export type Query<I extends OperationID> = QueryOf<Of<I>>;
export type Result<I extends OperationID> = Static<Of<I>['result']>;
