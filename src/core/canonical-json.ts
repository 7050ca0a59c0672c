// JSON with one spelling for one value: members in the order of their names, no spaces. Two configurations are the same
// exactly when these texts are, so that nothing is ever rebuilt because a text merely looks different.

/** The canonical text of a JSON value; members that are undefined are left out. Throws on what JSON cannot say (cycles, BigInt). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
