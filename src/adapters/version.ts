// The version in package.json, found from the source tree and from `dist/` alike.
import { readFileSync } from 'node:fs';

const manifestUrl = new URL(
  import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json',
  import.meta.url,
);

/** `0.1.0`; throws only when the installation is broken. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(manifestUrl, 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0';
}
