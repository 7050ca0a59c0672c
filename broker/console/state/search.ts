// Members of an address. Pure.

/** The same without one member. */
export function without<T extends object, K extends keyof T>(members: T, name: K): Omit<T, K> {
  const rest = { ...members };
  delete rest[name];
  return rest;
}
