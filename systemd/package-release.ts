// `npm run package:release -- --key FILE`: makes a signed release of the agent, for updates over the air: the same tree as
// in the package without Node, a manifest of all files, and its signature by the release key. Prints what a firmware job
// of the broker names. The private key never leaves the machine that this runs on.
import { createHash, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { manifestName, signatureName } from '../agent/adapters/update/release.ts';
import { type Arch, formatManifest, type Manifest, parseManifest } from '../agent/core/update/manifest.ts';
import { readVersion } from '../src/adapters/version.ts';
import { compareVersions } from '../src/core/releases/version.ts';
import { layTree, ownArch, treeFiles } from './app-tree.ts';
import { agentProduct } from './products.ts';
import { writeTar } from './tar.ts';
import { commitTimeS, readReleaseSigningKey } from './tools.ts';

const repository = new URL('../..', import.meta.url).pathname;

interface Options {
  readonly arch: Arch;
  readonly version: string;
  readonly floor: string;
  readonly keyFile: string;
  readonly parts: string | null;
  readonly output: string;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      key: { type: 'string' },
      arch: { type: 'string', default: ownArch() },
      version: { type: 'string', default: readVersion() },
      floor: { type: 'string', default: '0.0.0' },
      parts: { type: 'string' },
      output: { type: 'string', default: join(repository, 'build') },
    },
  });
  const { arch, version, floor, key, parts, output } = values;
  if (arch !== 'amd64' && arch !== 'arm64') throw new Error('--arch is amd64 or arm64');
  if (key === undefined)
    throw new Error('say --key FILE, an Ed25519 key (openssl genpkey -algorithm ed25519 -out release.key)');
  if (compareVersions(floor, version) > 0)
    throw new Error(`--floor ${floor} is above ${version}: it would refuse itself`);
  if (arch !== ownArch() && parts === undefined)
    throw new Error(`for ${arch} say --parts DIR, as made by systemd/arm64-parts.sh`);
  return { arch, version, floor, keyFile: key, parts: parts ?? null, output };
}

const signManifest = (text: string, keyFile: string): string =>
  `${sign(null, Buffer.from(text), readReleaseSigningKey(keyFile)).toString('base64')}\n`;

const modeOf = (path: string): 0o644 | 0o755 => ((statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);

function build(options: Options) {
  const epochS = commitTimeS(repository);
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-release-'));
  try {
    const tree = join(folder, 'tree');
    layTree({ ...options, product: agentProduct, root: repository }, tree);
    const files = treeFiles(tree).map((path) => ({
      path,
      bytes: readFileSync(join(tree, path)),
      mode: modeOf(join(tree, path)),
    }));
    const manifest: Manifest = {
      name: 'fleetward-agent',
      version: options.version,
      arch: options.arch,
      nodeAbi: process.versions.modules,
      floor: options.floor,
      createdMs: epochS * 1000,
      files: files.map(({ path, bytes, mode }) => ({
        path,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        sizeBytes: bytes.length,
        mode,
      })),
    };
    const text = formatManifest(manifest);
    const verdict = parseManifest(Buffer.from(text));
    if (verdict.kind === 'bad') throw new Error(`a vehicle would refuse it: ${verdict.reason}`);
    const signature = signManifest(text, options.keyFile);
    const head = [
      { path: manifestName, bytes: Buffer.from(text), mode: 0o644 },
      { path: signatureName, bytes: Buffer.from(signature), mode: 0o644 },
    ];
    const archive = gzipSync(writeTar([...head, ...files], epochS), { level: 9 });
    mkdirSync(options.output, { recursive: true });
    const path = join(options.output, `fleetward-agent-${options.version}-${options.arch}.tar.gz`);
    writeFileSync(path, archive);
    const sha256 = createHash('sha256').update(archive).digest('hex');
    return { path, version: options.version, sha256, sizeBytes: archive.length, files: files.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  console.log(JSON.stringify(build(readOptions())));
} catch (thrown) {
  process.stderr.write(`package:release: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}
