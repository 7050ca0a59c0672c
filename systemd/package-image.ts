// `npm run package:image`: leaves an image of broker, simulator and practice fleet in build/image, as an OCI layout (OCI Image Format
// Specification 1.1), made without a container engine. The same input gives the same bytes: entries are sorted, times are
// SOURCE_DATE_EPOCH. A second run with another --arch adds that platform. There is no shell in it.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Arch } from '../agent/core/update/manifest.ts';
import { readVersion } from '../src/adapters/version.ts';
import { layTree, ownArch } from './app-tree.ts';
import { layNode, treeComponents } from './components.ts';
import { formatCopyright } from './copyright.ts';
import { fetchDebianParts } from './image/debian-parts.ts';
import { imageProgram } from './products.ts';
import { type Component, formatSbom } from './sbom.ts';
import { type TarFile, writeTar } from './tar.ts';
import { commitTimeS } from './tools.ts';

const repository = new URL('../..', import.meta.url).pathname;
const home = 'usr/lib/fleetward';
/** User and group; no account of a common distribution has this number. */
const userNo = 10_001;

interface Options {
  readonly arch: Arch;
  readonly version: string;
  readonly node: string;
  readonly nodeLicence: string;
  readonly parts: string | null;
  readonly output: string;
  readonly epochS: number;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: ownArch() },
      version: { type: 'string', default: readVersion() },
      parts: { type: 'string' },
      output: { type: 'string', default: join(repository, 'build/image') },
    },
  });
  const { arch, version, parts, output } = values;
  if (arch !== 'amd64' && arch !== 'arm64') throw new Error('--arch is amd64 or arm64');
  if (arch !== ownArch() && parts === undefined)
    throw new Error(`for ${arch} say --parts DIR, as made by systemd/arm64-parts.sh`);
  const beside = [join(dirname(process.execPath), '../LICENSE'), '/usr/share/doc/nodejs/LICENSE'];
  const nodeLicence = parts === undefined ? beside.find((path) => existsSync(path)) : join(parts, 'LICENSE');
  if (nodeLicence === undefined) throw new Error(`the licence of Node is not at ${beside.join(' or ')}`);
  return {
    arch,
    version,
    node: parts === undefined ? process.execPath : join(parts, 'node'),
    nodeLicence,
    parts: parts ?? null,
    output,
    epochS: commitTimeS(repository),
  };
}

const folder = (path: string, mode = 0o755, owner = 0): TarFile => ({
  path: `${path}/`,
  bytes: Buffer.alloc(0),
  mode,
  owner,
});
const textFile = (path: string, text: string): TarFile => ({ path, bytes: Buffer.from(text), mode: 0o644 });

/** What a program expects of a system. */
const systemFiles: readonly TarFile[] = [
  textFile(
    'etc/passwd',
    `root:x:0:0:root:/:/nologin\nfleetward:x:${userNo}:${userNo}:Fleetward:/data:/nologin\n`,
  ),
  textFile('etc/group', `root:x:0:\nfleetward:x:${userNo}:\n`),
  textFile('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
];

function debianComponents(options: Options, work: string): readonly Component[] {
  const parts = fetchDebianParts(options.arch, work);
  return parts.map(({ name, version, files }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${options.arch}&distro=debian-12`,
    licence: null,
    files,
  }));
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly [member: string]: unknown;
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Keeps a blob; the answer is its descriptor. */
function keep(layout: string, mediaType: string, bytes: Buffer): Blob {
  const digest = digestOf(bytes);
  writeFileSync(join(layout, 'blobs/sha256', digest.slice(7)), bytes);
  return { mediaType, digest, size: bytes.length };
}
const keepJson = (layout: string, mediaType: string, value: unknown): Blob =>
  keep(layout, mediaType, Buffer.from(JSON.stringify(value)));

/** Every file with the folders that it lies in, ascending. */
function layerFiles(files: readonly TarFile[]): readonly TarFile[] {
  const all = new Map(files.map((file) => [file.path, file]));
  for (const { path } of files)
    for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at);
      if (!all.has(`${above}/`)) all.set(`${above}/`, folder(above));
    }
  return [...all.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';
const entry = [`/${home}/node`, '--max-semi-space-size=32', `/${home}/app/dist/systemd/image/entry.js`];

function imageConfig({ version, arch, epochS }: Options, layers: readonly Buffer[]) {
  const created = new Date(epochS * 1000).toISOString();
  return {
    created,
    architecture: arch,
    os: 'linux',
    config: {
      User: `${userNo}:${userNo}`,
      ExposedPorts: { '8080/tcp': {}, '1883/tcp': {} },
      // Inside of a container every address is the container's own; what reaches it is chosen where it is started.
      Env: [
        'FLEETWARD_DATABASE=/data/fleetward.db',
        'FLEETWARD_HTTP_HOST=0.0.0.0',
        'FLEETWARD_HTTP_ALLOW_PLAIN=true',
        'FLEETWARD_MQTT_HOST=0.0.0.0',
        'FLEETWARD_MQTT_ALLOW_PLAIN=true',
        'UV_USE_IO_URING=0',
      ],
      Entrypoint: entry,
      Cmd: [],
      Volumes: { '/data': {} },
      WorkingDir: '/data',
      StopSignal: 'SIGTERM',
      // Of Docker's image format; engines that do not know it leave it out.
      Healthcheck: {
        Test: ['CMD', ...entry, 'healthy'],
        Interval: 30e9,
        Timeout: 10e9,
        StartPeriod: 60e9,
        Retries: 3,
      },
      Labels: {
        'org.opencontainers.image.title': 'fleetward',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(digestOf) },
    history: layers.map((_, at) => ({
      created,
      comment: ['libraries of Debian 12', 'Node.js', 'Fleetward'][at],
    })),
  };
}

interface Index {
  readonly manifests: readonly (Blob & { readonly annotations?: Readonly<Record<string, string>> })[];
}
const refName = 'org.opencontainers.image.ref.name';

/** The index with this platform's manifest in place of an older one of the same version, and the manifest of all platforms. */
function writeIndex(layout: string, { version, arch }: Options, manifest: Blob): void {
  const path = join(layout, 'index.json');
  const before: Index = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as Index)
    : { manifests: [] };
  const name = (one: Index['manifests'][number]): string => one.annotations?.[refName] ?? '';
  const others = before.manifests.filter(
    (one) => name(one).startsWith(`${version}-`) && name(one) !== `${version}-${arch}`,
  );
  const platforms = [...others, { ...manifest, annotations: { [refName]: `${version}-${arch}` } }].sort(
    (left, right) => (name(left) < name(right) ? -1 : 1),
  );
  const listed = platforms.map((one) => ({ ...one, annotations: undefined }));
  const all = keepJson(layout, indexType, { schemaVersion: 2, mediaType: indexType, manifests: listed });
  const manifests = [{ ...all, annotations: { [refName]: version } }, ...platforms];
  writeFileSync(path, JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }));
}

/** Takes away what no manifest names any more. */
function sweep(layout: string): void {
  const used = new Set<string>();
  const follow = (digest: string): void => {
    if (used.has(digest)) return;
    used.add(digest);
    const bytes = readFileSync(join(layout, 'blobs/sha256', digest.slice(7)));
    if (bytes[0] !== 0x7b) return;
    for (const [found] of bytes.toString('utf8').matchAll(/sha256:[0-9a-f]{64}/g))
      if (existsSync(join(layout, 'blobs/sha256', found.slice(7)))) follow(found);
  };
  for (const [found] of readFileSync(join(layout, 'index.json'), 'utf8').matchAll(/sha256:[0-9a-f]{64}/g))
    follow(found);
  for (const name of readdirSync(join(layout, 'blobs/sha256')))
    if (!used.has(`sha256:${name}`)) rmSync(join(layout, 'blobs/sha256', name));
}

function build(options: Options) {
  const { output, arch, version, epochS } = options;
  const work = mkdtempSync(join(tmpdir(), 'fleetward-image-'));
  try {
    const debian = debianComponents(options, join(work, 'debian'));
    const node = layNode(options, join(work, 'node'), `${home}/node`);
    const tree = join(work, 'tree');
    const bundled = layTree({ ...options, product: imageProgram, root: repository }, tree);
    const app = treeComponents({ tree, prefix: `${home}/app`, root: repository, name: 'fleetward', version });
    const licence = { version: process.version, licence: readFileSync(options.nodeLicence, 'utf8') };
    const copyright = formatCopyright({ title: 'Fleetward', node: licence, bundled });
    const components = [...debian, node, ...app];
    const purl = `pkg:oci/fleetward@${version}?arch=${arch}`;
    const sbom = formatSbom({ type: 'container', name: 'fleetward', version, purl }, components, epochS);
    const files = (some: readonly Component[]): readonly TarFile[] => some.flatMap((one) => one.files);
    const documents = [
      textFile('usr/share/doc/fleetward/copyright', copyright),
      textFile('usr/share/doc/fleetward/sbom.cdx.json', sbom),
    ];
    const layers = [
      [...files(debian), ...systemFiles, folder('data', 0o700, userNo), folder('tmp', 0o1777)],
      files([node]),
      [...files(app), ...documents],
    ].map((layer) => writeTar(layerFiles(layer), epochS));
    mkdirSync(join(output, 'blobs/sha256'), { recursive: true });
    const kept = layers.map((layer) =>
      keep(output, 'application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(layer, { level: 9 })),
    );
    const config = keepJson(output, 'application/vnd.oci.image.config.v1+json', imageConfig(options, layers));
    const manifest = keepJson(output, manifestType, {
      schemaVersion: 2,
      mediaType: manifestType,
      config,
      layers: kept,
    });
    writeFileSync(join(output, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    writeIndex(output, options, { ...manifest, platform: { architecture: arch, os: 'linux' } });
    sweep(output);
    const sizeBytes = kept.reduce((sum, { size }) => sum + size, 0);
    return { output, version, arch, digest: manifest.digest, sizeBytes, components: components.length };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  console.log(JSON.stringify(build(readOptions())));
} catch (thrown) {
  process.stderr.write(`package:image: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}
