// Content negotiation (RFC 9110 section 12.5.1) and allowed methods of a path. Pure; independent of the framework, so that
// 404, 405 and 406 are the same for every path.
import { type Operation, servedPaths } from './operation.ts';

/** Closeness of a media range to a type: 3 exact, 2 its kind, 1 anything, 0 something else. */
function closeness(range: string, type: string): 0 | 1 | 2 | 3 {
  if (range === type) return 3;
  if (range === `${type.split('/', 1)[0]}/*`) return 2;
  return range === '*/*' ? 1 : 0;
}

/** True when an `Accept` header admits a media type; a missing or empty one admits everything. */
export function acceptsType(header: string | undefined, type: string): boolean {
  if (header === undefined || header.trim() === '') return true;
  let best = { closeness: 0, weight: 0 };
  for (const part of header.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const weightText = parameters.find((piece) => piece.startsWith('q='))?.slice('q='.length);
    const weight = weightText === undefined ? 1 : Number(weightText);
    const here = closeness(range, type);
    // The closest range decides, whatever its weight: `application/json;q=0, */*` excludes JSON.
    if (here > best.closeness) best = { closeness: here, weight };
  }
  return best.closeness > 0 && best.weight > 0;
}

export interface PathTable {
  /** Verbs of the path of a request (no query, fixed segments in any letter case), for `Allow`; empty for an unknown path. */
  allowed(path: string): readonly string[];
}

/** @param fixed further GET paths without variables (probes, documents). */
export function createPathTable(operations: readonly Operation[], fixed: readonly string[]): PathTable {
  const patterns = operations.flatMap((operation) => {
    // A GET with effects must not be run for a HEAD.
    const verbs = operation.method === 'GET' && !operation.effects ? ['GET', 'HEAD'] : [operation.method];
    return servedPaths(operation).map((path) => ({
      matcher: new RegExp(`^${matcherSource(path)}$`, 'i'),
      verbs,
    }));
  });
  return {
    allowed(path) {
      if (fixed.includes(path.toLowerCase())) return ['GET', 'HEAD'];
      return [...new Set(patterns.flatMap(({ matcher, verbs }) => (matcher.test(path) ? verbs : [])))];
    },
  };
}

/** A path variable is any one segment. */
function matcherSource(path: string): string {
  return path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
}
