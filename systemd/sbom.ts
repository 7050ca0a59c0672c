// The list of what a package or image consists of, in CycloneDX 1.6 (ECMA-424): every file belongs to one component and has its hash. The same
// content gives the same bytes.
import { createHash } from 'node:crypto';
import type { TarFile } from './tar.ts';

export interface Component {
  readonly type: 'application' | 'library' | 'platform';
  readonly name: string;
  readonly version: string;
  /** Package URL, see github.com/package-url/purl-spec. */
  readonly purl: string;
  /** SPDX expression; null: the text is in the package's copyright file. */
  readonly licence: string | null;
  readonly files: readonly TarFile[];
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** A UUID that names the content (RFC 9562, version 8: the bits are ours). */
function uuidOf(text: string): string {
  const hex = sha256(text);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

const componentOf = ({ type, name, version, purl, licence, files }: Component) => ({
  type,
  'bom-ref': purl,
  name,
  version,
  ...(licence === null ? {} : { licenses: [{ expression: licence }] }),
  purl,
  components: files.map(({ path, bytes }) => ({
    type: 'file',
    'bom-ref': `${purl}#${path}`,
    name: `/${path}`,
    hashes: [{ alg: 'SHA-256', content: sha256(bytes) }],
  })),
});

/** @param subject What the list is of. */
export function formatSbom(
  subject: {
    readonly type: 'application' | 'container';
    readonly name: string;
    readonly version: string;
    readonly purl: string;
  },
  components: readonly Component[],
  epochS: number,
): string {
  const { type, name, version, purl } = subject;
  const body = {
    metadata: {
      timestamp: new Date(epochS * 1000).toISOString(),
      component: { type, 'bom-ref': purl, name, version, purl },
    },
    components: components.map(componentOf),
    dependencies: [
      { ref: purl, dependsOn: components.map((one) => one.purl) },
      ...components.map((one) => ({ ref: one.purl })),
    ],
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1 };
  return `${JSON.stringify({ ...head, ...body }, null, 1)}\n`;
}
