// The one list of operations. Routes, documents and tests are made from it; what is not here does not exist.
import { authOperations } from './auth.ts';
import { commandOperations } from './commands.ts';
import { deviceOperations } from './devices.ts';
import { eventOperations } from './events.ts';
import { type Operation, pathVariables, servedPaths } from './operation.ts';

/** A mistake in the list is a mistake of ours: it must not start. */
function checked(list: readonly Operation[]): readonly Operation[] {
  const seen = new Set<string>();
  const once = (key: string): void => {
    if (seen.has(key)) throw new Error(`two operations share ${key}`);
    seen.add(key);
  };
  for (const operation of list) {
    once(`id ${operation.id}`);
    // Two paths that differ only in the names of their variables are one route.
    for (const path of servedPaths(operation)) once(`${operation.method} ${path.replace(/\{\w+\}/g, '{}')}`);
    const declared = Object.keys(operation.params.properties);
    const used = pathVariables(operation.path);
    if (declared.length !== used.length || used.some((name) => !declared.includes(name))) {
      throw new Error(`${operation.id}: params ${declared.join()} do not fit the path ${operation.path}`);
    }
  }
  return list;
}

export const operations: readonly Operation[] = checked([
  ...authOperations,
  ...deviceOperations,
  ...eventOperations,
  ...commandOperations,
]);
