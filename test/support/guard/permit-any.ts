// A permit for every frame, for tests of the line itself. The product has no such thing.
import { Permit } from '../../../agent/guard/guard.ts';

export const permitAny = <Request extends Permit['request']>(request: Request): Permit<Request> =>
  new Permit(request);
