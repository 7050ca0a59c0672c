// Archives of releases as `package:release` makes them, of small programs that a test brings along, and a file server that can
// break off, refuse and redirect.
import { createHash, type KeyObject, sign } from 'node:crypto';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Arch, formatManifest, type Manifest } from '../../../agent/core/update/manifest.ts';
import { type TarFile, writeTar } from '../../../systemd/tar.ts';
import type { Certificate } from '../broker/certificates.ts';

export interface ArchiveWish {
  readonly version: string;
  readonly key: KeyObject;
  /** Of `dist/agent/main.js`. */
  readonly code?: string;
  readonly manifest?: Partial<Manifest>;
  /** What stands in the archive in place of the files of the manifest. */
  readonly files?: readonly TarFile[];
  readonly change?: (tar: Buffer) => Buffer;
}

export const ownArch: Arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
export const sha256Of = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const file = (path: string, text: string): TarFile => ({ path, bytes: Buffer.from(text), mode: 0o644 });

/** The files of a release that consists of one program. */
export function releaseFiles(version: string, code: string): readonly TarFile[] {
  return [
    file('dist/agent/main.js', code),
    file('package.json', JSON.stringify({ version, type: 'module' })),
  ];
}

/** A signed archive. */
export function buildArchive(wish: ArchiveWish): Buffer {
  const { version, key, code = 'process.exit(0)', change = (tar) => tar } = wish;
  const files = releaseFiles(version, code);
  const manifest: Manifest = {
    name: 'fleetward-agent',
    version,
    arch: ownArch,
    nodeAbi: process.versions.modules,
    floor: '0.0.0',
    createdMs: 1_760_000_000_000,
    files: files.map(({ path, bytes }) => ({
      path,
      sha256: sha256Of(bytes),
      sizeBytes: bytes.length,
      mode: 0o644,
    })),
    ...wish.manifest,
  };
  const text = formatManifest(manifest);
  const signature = sign(null, Buffer.from(text), key).toString('base64');
  const head = [file('manifest.json', text), file('manifest.sig', signature)];
  return gzipSync(change(writeTar([...head, ...(wish.files ?? files)], 1_760_000_000)));
}

export interface FileServer {
  readonly port: number;
  /** Path to bytes. */
  readonly files: Map<string, Buffer>;
  /** `METHOD path range` of each request, in order. */
  readonly requests: string[];
  /** Bytes after which an answer is broken off; null: none is. */
  breakAfter: number | null;
  /** Milliseconds between portions of 64 KiB. */
  pauseMs: number;
  /** Answers instead, when it is there and returns true. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  close(): Promise<void>;
}

async function send(server: FileServer, response: ServerResponse, bytes: Buffer): Promise<void> {
  const portion = 65_536;
  let sent = 0;
  for (let at = 0; at < bytes.length; at += portion) {
    const part = bytes.subarray(at, at + portion);
    const left = server.breakAfter === null ? part.length : Math.max(0, server.breakAfter - sent);
    await new Promise((resolve) => response.write(part.subarray(0, left), resolve));
    sent += part.length;
    if (left < part.length) return void response.destroy();
    if (server.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, server.pauseMs));
    if (response.destroyed) return;
  }
  response.end();
}

/** Serves files with ranges, over TLS with a certificate, else plain; on loopback only. */
export async function startFileServer(certificate?: Certificate): Promise<FileServer> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '', method = '' } = request;
    const { range } = request.headers;
    server.requests.push(`${method} ${url} ${range ?? 'whole'}`);
    if (server.instead?.(request, response) === true) return;
    const bytes = server.files.get(url);
    if (bytes === undefined) return void response.writeHead(404).end();
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (from >= bytes.length) return void response.writeHead(416).end();
    const rest = bytes.subarray(from);
    const headers: Record<string, string> = { 'content-length': String(rest.length) };
    if (from > 0) headers['content-range'] = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(from > 0 ? 206 : 200, headers);
    void send(server, response, rest);
  };
  const http =
    certificate === undefined
      ? createPlainServer(answer)
      : createTlsServer({ cert: certificate.cert, key: certificate.key }, answer);
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const server: FileServer = {
    port: (http.address() as AddressInfo).port,
    files: new Map(),
    requests: [],
    breakAfter: null,
    pauseMs: 0,
    instead: null,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  return server;
}
