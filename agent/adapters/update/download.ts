// Downloads one file over https, within limits of size, space and time. It resumes an earlier attempt (Range, RFC 9110
// section 14), and follows a redirect only within its scheme. The file is untrusted until its hash is checked.
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { dirname } from 'node:path';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';
import { needDiskSpace, withHandle } from '../disk.ts';

const limits = {
  /** Without a byte for this long the connection is given up. */
  idleMs: 30_000,
  /** One attempt in all; the next one resumes it. */
  attemptMs: 1_800_000,
  redirects: 3,
  /** Bytes are reported in portions of at least this size. */
  reportBytes: 65_536,
} as const;

export interface DownloadOptions {
  readonly url: string;
  /** Target file; an existing one is the beginning of the download. */
  readonly path: string;
  readonly mostBytes: number;
  /** Space that must stay free on the disk, in bytes. */
  readonly reserveBytes: number;
  /** Plain http is allowed, for tests in a private network. */
  readonly allowHttp: boolean;
  /** PEM of the authorities to trust; those of the system when absent. */
  readonly ca?: string;
  readonly signal: AbortSignal;
  /** Called with the number of received bytes, the last time before the promise settles. */
  onBytes(bytes: number): void;
}

/** `Content-Range: bytes 100-199/200`; null when it is anything else. */
export function parseContentRange(
  text: string | undefined,
): { readonly from: number; readonly totalBytes: number } | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(text ?? '');
  if (match === null) return null;
  const [from, to, totalBytes] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return from <= to && to < totalBytes ? { from, totalBytes } : null;
}

/**
 * The address of a file. @throws AppError `invalid_content` unless it is https, or http where that is allowed, without a
 * user name and fragment.
 */
export function parseFileAddress(text: string, allowHttp: boolean, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : null;
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
  const isAllowed = url?.protocol === 'https:' || (allowHttp && url?.protocol === 'http:');
  if (isPlain && isAllowed) return url;
  throw new AppError('invalid_content', 'the address of the file is not https, or holds more than it should');
}

function ask(url: URL, from: number, options: DownloadOptions): Promise<IncomingMessage> {
  const headers = {
    accept: 'application/octet-stream, */*',
    'accept-encoding': 'identity',
    ...(from === 0 ? {} : { range: `bytes=${from}-` }),
  };
  const { signal, ca } = options;
  const requestOptions = { headers, signal, agent: false, timeout: limits.idleMs } as const;
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:'
        ? tlsRequest(url, { ...requestOptions, ...(ca === undefined ? {} : { ca }) })
        : plainRequest(url, requestOptions);
    request.on('response', resolve);
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error(`no byte within ${limits.idleMs / 1000} s`)));
    request.end();
  });
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** The answer behind all redirects. */
async function openAnswer(from: number, options: DownloadOptions): Promise<IncomingMessage> {
  let url = parseFileAddress(options.url, options.allowHttp);
  for (let hops = 0; hops <= limits.redirects; hops++) {
    const answer = await ask(url, from, options);
    if (!isRedirect(answer.statusCode ?? 0)) return answer;
    answer.destroy();
    const next = parseFileAddress(answer.headers.location ?? '', options.allowHttp, url);
    if (next.protocol !== url.protocol)
      throw new AppError('invalid_content', `${url.host} redirects to another scheme, which is not followed`);
    url = next;
  }
  throw new AppError('not_found', `more than ${limits.redirects} redirects`);
}

/** Throws for every status that brings no bytes. */
function checkStatus(answer: IncomingMessage): void {
  const status = answer.statusCode ?? 0;
  if (status === 200 || status === 206) return;
  const isLater = status >= 500 || status === 408 || status === 429;
  throw new AppError(isLater ? 'unavailable' : 'not_found', `the server of the file says ${status}`);
}

/** The range of the answer, and the size of the file; null: unknown. */
function placeOf(answer: IncomingMessage, from: number): { from: number; totalBytes: number | null } {
  if (answer.statusCode === 206) {
    const range = parseContentRange(answer.headers['content-range']);
    if (range?.from === from && from > 0) return range;
    throw new AppError('not_found', 'the server of the file answers with another range than was asked for');
  }
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  return { from: 0, totalBytes: Number.isSafeInteger(length) ? length : null };
}

/** Writes what comes to the end of the file. */
async function copy(
  answer: IncomingMessage,
  file: FileHandle,
  { mostBytes, onBytes, from }: Pick<DownloadOptions, 'mostBytes' | 'onBytes'> & { readonly from: number },
): Promise<void> {
  let sizeBytes = from;
  let unreportedBytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      unreportedBytes += chunk.length;
      if (sizeBytes > mostBytes)
        throw new AppError('invalid_content', `the file is larger than ${mostBytes} bytes`);
      await file.writeFile(chunk);
      if (unreportedBytes < limits.reportBytes) continue;
      onBytes(unreportedBytes);
      unreportedBytes = 0;
    }
    await file.sync();
  } finally {
    if (unreportedBytes > 0) onBytes(unreportedBytes);
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function attempt(options: DownloadOptions): Promise<void> {
  const { path, mostBytes } = options;
  const asked = await sizeOf(path);
  const answer = await openAnswer(asked, options);
  try {
    // The file is complete, and its hash decides whether it is right.
    if (answer.statusCode === 416 && asked > 0) return;
    checkStatus(answer);
    const { from, totalBytes } = placeOf(answer, asked);
    if (totalBytes !== null && totalBytes > mostBytes)
      throw new AppError('invalid_content', `the file has ${totalBytes} bytes, and ${mostBytes} are allowed`);
    const bytes = (totalBytes ?? mostBytes) - from;
    await needDiskSpace(dirname(path), { bytes, reserveBytes: options.reserveBytes });
    const opened = open(path, from === 0 ? 'w' : 'a', 0o600);
    await withHandle(opened, (file) => copy(answer, file, { ...options, from }));
    if (totalBytes !== null && (await sizeOf(path)) < totalBytes)
      throw new AppError('unavailable', 'the connection ended before the file did');
  } finally {
    answer.destroy();
  }
}

/**
 * One attempt at the rest of the file.
 * @throws AppError `invalid_content` for a permanent fault, `unavailable` when no server was reached or the
 * connection broke, `not_found` for a refusal of the server, `storage` for the disk. The reason of the signal when
 * that ended it.
 */
export async function download(options: DownloadOptions): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limits.attemptMs);
  const signal = AbortSignal.any([options.signal, late.signal]);
  try {
    await attempt({ ...options, signal });
  } catch (thrown) {
    if (thrown instanceof AppError || options.signal.aborted) throw thrown;
    const code = codeOf(thrown);
    const isDisk = ['ENOSPC', 'EROFS', 'EIO', 'EACCES', 'EDQUOT', 'ENOENT'].includes(code);
    const words = late.signal.aborted ? `not done within ${limits.attemptMs / 1000} s` : messageOf(thrown);
    throw new AppError(isDisk ? 'storage' : 'unavailable', `the file was not downloaded: ${words}`, {
      cause: thrown,
    });
  } finally {
    clearTimeout(timer);
  }
}
