// What a process did to the files of one folder, system call by system call and with every byte, as strace saw it: the
// very calls of SQLite and Node with nothing of ours in between. Also counts them: bytes written and fsyncs, which is
// what flash pays for. Never records anything outside of the folder.
import { spawn } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';

/** One call; names are relative to the folder, '' is the folder itself. */
export type DiskOp =
  | { readonly kind: 'create' | 'sync' | 'unlink'; readonly name: string }
  | { readonly kind: 'write'; readonly name: string; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly name: string; readonly size: number }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string };

const traced =
  'openat,open,creat,write,pwrite64,fsync,fdatasync,ftruncate,truncate,rename,renameat,renameat2,unlink,unlinkat';

export interface DiskRun {
  readonly ops: readonly DiskOp[];
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly errors: string;
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
}

interface Call {
  readonly name: string;
  readonly args: string;
  readonly result: number;
}

/** One line of `strace -f`; calls that were interrupted by another thread's come in two. */
function createCallReader(): (line: string) => Call | null {
  const unfinished = new Map<string, string>();
  return (line) => {
    const pid = line.slice(0, line.indexOf(' '));
    let text = line.slice(pid.length).trimStart();
    if (text.endsWith('<unfinished ...>')) {
      unfinished.set(pid, text.slice(0, -'<unfinished ...>'.length).trimEnd());
      return null;
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(text);
    if (resumed !== null) text = (unfinished.get(pid) ?? '') + text.slice(resumed[0].length);
    const call = /^(\w+)\((.*)\)\s+= (-?\d+)/.exec(text);
    return call === null ? null : { name: call[1] ?? '', args: call[2] ?? '', result: Number(call[3]) };
  };
}

/** Paths in the order of the arguments: those of descriptors in <>, those given in quotes. */
function pathsOf(args: string): { readonly descriptor: string; readonly quoted: readonly string[] } {
  const descriptor = /^\d+<([^>]*)>/.exec(args)?.[1] ?? '';
  const quoted = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) =>
    bytesOf(match[1] ?? '').toString(),
  );
  return { descriptor: bytesOf(descriptor).toString(), quoted };
}

interface Reader {
  readonly folder: string;
  readonly ops: DiskOp[];
  /** Where the next `write` of a file goes. */
  readonly positions: Map<string, number>;
  readonly known: Set<string>;
}

function nameIn(folder: string, path: string): string | null {
  if (path === folder) return '';
  return path.startsWith(`${folder}/`) && !path.endsWith(' (deleted)') ? path.slice(folder.length + 1) : null;
}

function takeOpen(reader: Reader, args: string): void {
  const name = nameIn(reader.folder, pathsOf(args).quoted[0] ?? '');
  if (name === null || name === '') return;
  reader.positions.set(name, 0);
  if (args.includes('O_CREAT') && !reader.known.has(name)) {
    reader.known.add(name);
    reader.ops.push({ kind: 'create', name });
  } else if (args.includes('O_TRUNC')) {
    reader.ops.push({ kind: 'truncate', name, size: 0 });
  }
}

function takeWrite(reader: Reader, call: Call): void {
  const { descriptor } = pathsOf(call.args);
  const name = nameIn(reader.folder, descriptor);
  if (name === null) return;
  const hex = /, "((?:\\x[0-9a-f]{2})*)"/.exec(call.args)?.[1] ?? '';
  const bytes = bytesOf(hex).subarray(0, call.result);
  const given = /, (\d+)$/.exec(call.args)?.[1];
  const at = call.name === 'pwrite64' ? Number(given) : (reader.positions.get(name) ?? 0);
  if (call.name !== 'pwrite64') reader.positions.set(name, at + call.result);
  reader.ops.push({ kind: 'write', name, at, bytes });
}

function take(reader: Reader, call: Call): void {
  if (call.result < 0) return;
  const { descriptor, quoted } = pathsOf(call.args);
  const byDescriptor = nameIn(reader.folder, descriptor);
  const [first, second] = quoted.map((path) => nameIn(reader.folder, path));
  switch (call.name) {
    case 'open':
    case 'openat':
    case 'creat':
      return takeOpen(reader, call.args);
    case 'write':
    case 'pwrite64':
      return takeWrite(reader, call);
    case 'fsync':
    case 'fdatasync':
      if (byDescriptor !== null) reader.ops.push({ kind: 'sync', name: byDescriptor });
      return;
    case 'ftruncate':
    case 'truncate': {
      const name = byDescriptor ?? first;
      const size = Number(/, (\d+)$/.exec(call.args)?.[1]);
      if (typeof name === 'string') reader.ops.push({ kind: 'truncate', name, size });
      return;
    }
    case 'unlink':
    case 'unlinkat':
      if (typeof first !== 'string') return;
      reader.known.delete(first);
      reader.ops.push({ kind: 'unlink', name: first });
      return;
    default:
      if (typeof first !== 'string' || typeof second !== 'string') return;
      reader.known.delete(first);
      reader.known.add(second);
      reader.ops.push({ kind: 'rename', name: first, to: second });
  }
}

/**
 * Runs `argv` under strace and gives every call on the files of `folder`.
 * @param present names of the files that are in the folder already.
 * @param timeoutMs after which the process is killed.
 */
export async function recordDisk(run: {
  readonly folder: string;
  readonly argv: readonly string[];
  readonly present: readonly string[];
  readonly timeoutMs: number;
}): Promise<DiskRun> {
  const output = `${run.folder}.strace`;
  const flags = ['-f', '-qq', '-xx', '-y', '-s', '100000', '--seccomp-bpf', '-e', 'signal=none'];
  const child = spawn('strace', [...flags, '-e', `trace=${traced}`, '-o', output, ...run.argv], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4000);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), run.timeoutMs);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  const reader: Reader = {
    folder: run.folder,
    ops: [],
    positions: new Map(),
    known: new Set(run.present),
  };
  const readCall = createCallReader();
  for await (const line of createInterface({ input: createReadStream(output), crlfDelay: Infinity })) {
    const call = readCall(line);
    if (call !== null) take(reader, call);
  }
  rmSync(output, { force: true });
  return { ops: reader.ops, exitCode, errors };
}

/** What flash pays for. */
export interface DiskCost {
  readonly bytes: number;
  readonly fsyncs: number;
  readonly writes: number;
  readonly bytesOf: Readonly<Record<string, number>>;
}

/** Bytes, calls and fsyncs of the files that `isCounted` names; the folder's own fsyncs count as well. */
export function costOf(ops: readonly DiskOp[], isCounted: (name: string) => boolean): DiskCost {
  const bytesOfName: Record<string, number> = {};
  let [bytes, fsyncs, writes] = [0, 0, 0];
  for (const op of ops) {
    if (op.name !== '' && !isCounted(basename(op.name))) continue;
    if (op.kind === 'sync') fsyncs += 1;
    if (op.kind !== 'write') continue;
    writes += 1;
    bytes += op.bytes.length;
    bytesOfName[op.name] = (bytesOfName[op.name] ?? 0) + op.bytes.length;
  }
  return { bytes, fsyncs, writes, bytesOf: bytesOfName };
}
