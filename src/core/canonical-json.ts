// JSON with one spelling for one value: members sorted by name, no spaces. Two configurations are equal exactly when
// these texts are, so that nothing is rebuilt because of formatting.

/** The canonical text of a JSON value; members that are undefined are left out. Throws on cycles and BigInt. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
