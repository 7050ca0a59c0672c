// The manifest of a release: version, platform, and every file with its hash. Parsing refuses anything but the exact
// format; a manifest counts only after its signature was checked (`../../adapters/update/release.ts`).
import { isVersion } from '../../../src/core/releases/version.ts';
import { isObject, parseObject } from '../../../src/core/wire/wire-checks.ts';

/** Public key that manifests are verified with, on a vehicle. */
export const standardReleaseKey = '/etc/fleetward-agent/release.pub';

export type Arch = 'amd64' | 'arm64';

export interface ReleaseFile {
  /** Relative, with slashes, without dot segments. */
  readonly path: string;
  /** SHA-256, 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly mode: 0o644 | 0o755;
}

export interface Manifest {
  readonly name: 'fleetward-agent';
  readonly version: string;
  readonly arch: Arch;
  /** `process.versions.modules` of the Node that its native parts were built for. */
  readonly nodeAbi: string;
  /** Once this release was confirmed, no staged release below this version may run any more. */
  readonly floor: string;
  readonly createdMs: number;
  /** Ascending by path, each path once. */
  readonly files: readonly ReleaseFile[];
}

export type ManifestVerdict =
  | { readonly kind: 'good'; readonly manifest: Manifest }
  | { readonly kind: 'bad'; readonly reason: string };

/** Limits of a manifest: a vehicle's disk and memory are small, and real manifests are far below. */
export const manifestLimits = {
  bytes: 1024 * 1024,
  files: 4000,
  pathCharacters: 240,
  fileBytes: 32 * 1024 * 1024,
  totalBytes: 64 * 1024 * 1024,
} as const;

/** Without these it is no agent. */
const neededFiles = ['dist/agent/main.js', 'package.json'] as const;

const isCount = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most;

/** Letters, digits and `@ . _ + -`; no segment is empty or begins with a dot, so no path escapes or is hidden. */
export function isReleasePath(path: string): boolean {
  return (
    path.length <= manifestLimits.pathCharacters &&
    path.split('/').every((segment) => /^[A-Za-z0-9@_+-][A-Za-z0-9@._+-]*$/.test(segment))
  );
}

function parseEntry(value: unknown): ReleaseFile | null {
  if (!isObject(value)) return null;
  const { path, sha256, size, mode } = value;
  if (typeof path !== 'string' || !isReleasePath(path)) return null;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return null;
  if (!isCount(size, manifestLimits.fileBytes)) return null;
  if (mode !== '0644' && mode !== '0755') return null;
  return { path, sha256, sizeBytes: size, mode: mode === '0755' ? 0o755 : 0o644 };
}

/** Null and the place of the first fault, or the files. */
function parseFiles(value: unknown): readonly ReleaseFile[] | string {
  if (!Array.isArray(value) || value.length > manifestLimits.files)
    return `files: not a list of at most ${manifestLimits.files}`;
  const files: ReleaseFile[] = [];
  let totalBytes = 0;
  for (const [index, item] of value.entries()) {
    const file = parseEntry(item);
    if (file === null) return `files/${index}: not a path, sha256, size and mode that are allowed`;
    const before = files.at(-1);
    if (before !== undefined && before.path >= file.path)
      return `files/${index}: the paths do not ascend, each one once`;
    totalBytes += file.sizeBytes;
    files.push(file);
  }
  if (totalBytes > manifestLimits.totalBytes) return `files: more than ${manifestLimits.totalBytes} bytes`;
  const missing = neededFiles.find((path) => !files.some((file) => file.path === path));
  return missing === undefined ? files : `files: ${missing} is not there`;
}

/** Reads a manifest; never throws. The reason names the member that is wrong. */
export function parseManifest(bytes: Uint8Array): ManifestVerdict {
  const bad = (reason: string): ManifestVerdict => ({ kind: 'bad', reason: `manifest: ${reason}` });
  if (bytes.length > manifestLimits.bytes) return bad(`longer than ${manifestLimits.bytes} bytes`);
  const value = parseObject(bytes);
  if (value === null) return bad('not a JSON object');
  const { name, version, arch, nodeAbi, floor, createdMs } = value;
  if (name !== 'fleetward-agent') return bad('name: not fleetward-agent');
  if (typeof version !== 'string' || !isVersion(version)) return bad('version: not a version');
  if (arch !== 'amd64' && arch !== 'arm64') return bad('arch: neither amd64 nor arm64');
  if (typeof nodeAbi !== 'string' || !/^\d{1,5}$/.test(nodeAbi))
    return bad('nodeAbi: not a number in quotes');
  if (typeof floor !== 'string' || !isVersion(floor)) return bad('floor: not a version');
  if (!isCount(createdMs, Number.MAX_SAFE_INTEGER)) return bad('createdMs: not milliseconds');
  const files = parseFiles(value['files']);
  if (typeof files === 'string') return bad(files);
  return { kind: 'good', manifest: { name, version, arch, nodeAbi, floor, createdMs, files } };
}

/** The bytes that are signed. */
export function formatManifest(manifest: Manifest): string {
  const files = manifest.files.map(({ path, sha256, sizeBytes, mode }) => ({
    path,
    sha256,
    size: sizeBytes,
    mode: mode === 0o755 ? '0755' : '0644',
  }));
  return `${JSON.stringify({ ...manifest, files }, null, 1)}\n`;
}
