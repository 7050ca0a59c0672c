// Versions of releases and their order, by Semantic Versioning 2.0.0 (clauses 2, 9 and 11). A version is also the
// name of a folder, so it must never hold a slash or begin with a dot.

const pattern =
  /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([0-9A-Za-z-]{1,20}(?:\.[0-9A-Za-z-]{1,20}){0,5}))?$/;

/** Most characters of a version; the limit of the broker's firmware job too. */
const versionMost = 64;

/** `1.4.0` or `1.4.0-rc.1`; no build metadata, which has no order. */
export function isVersion(text: string): boolean {
  return text.length <= versionMost && pattern.test(text);
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Clause 11.4: numbers by value and before texts, texts by ASCII. */
function compareIdentifier(left: string, right: string): number {
  const isNumber = [left, right].map((text) => /^\d+$/.test(text));
  if (isNumber[0] === true && isNumber[1] === true) return Math.sign(Number(left) - Number(right));
  if (isNumber[0] !== isNumber[1]) return isNumber[0] === true ? -1 : 1;
  return compareText(left, right);
}

/** Clause 11.3: with a pre-release it is lower than without. */
function comparePreRelease(left: string, right: string): number {
  if (left === '' || right === '') return Math.sign(Number(left === '') - Number(right === ''));
  const lefts = left.split('.');
  const rights = right.split('.');
  for (const [index, identifier] of lefts.entries()) {
    const other = rights[index];
    if (other === undefined) return 1;
    const order = compareIdentifier(identifier, other);
    if (order !== 0) return order;
  }
  return lefts.length < rights.length ? -1 : 0;
}

/**
 * -1, 0 or 1 as `left` is lower than, equal to or higher than `right`. An invalid version is lower than every
 * version.
 */
export function compareVersions(left: string, right: string): number {
  const [lefts, rights] = [pattern.exec(left), pattern.exec(right)];
  if (lefts === null || rights === null) return Math.sign(Number(lefts !== null) - Number(rights !== null));
  for (const index of [1, 2, 3]) {
    const order = Math.sign(Number(lefts[index]) - Number(rights[index]));
    if (order !== 0) return order;
  }
  return comparePreRelease(lefts[4] ?? '', rights[4] ?? '');
}

/** The higher of two versions. */
export function higherVersion(left: string, right: string): string {
  return compareVersions(left, right) >= 0 ? left : right;
}
