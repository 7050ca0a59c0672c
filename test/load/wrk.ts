// One run of `wrk` (Debian package) against one URL: requests a second and latency.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LoadRequest {
  readonly url: string;
  /** Asked for one after the other, in place of the path of the URL. */
  readonly paths?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** A POST with this JSON; without it a GET. */
  readonly body?: object;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requestsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx, and time-outs. */
  readonly failures: number;
}

export function hasWrk(): boolean {
  return spawnSync('wrk', ['--version']).error === undefined;
}

const script = (request: LoadRequest): string => {
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `wrk.headers["${name}"] = "${value}"`,
  );
  const body =
    request.body === undefined
      ? []
      : [
          'wrk.method = "POST"',
          'wrk.headers["content-type"] = "application/json"',
          `wrk.body = [==[${JSON.stringify(request.body)}]==]`,
        ];
  const quoted = (request.paths ?? []).map((path) => `"${path}"`).join(', ');
  const turns =
    quoted === ''
      ? []
      : [
          `local paths = {${quoted}}`,
          'local at = 0',
          'request = function() at = at % #paths + 1 return wrk.format(nil, paths[at]) end',
        ];
  const report = `done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %.0f %.0f %d\\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), errors.status + errors.timeout + errors.read + errors.connect + errors.write))
end`;
  return [...headers, ...body, ...turns, report].join('\n');
};

/** @throws Error when wrk fails or says nothing. */
export async function runWrk(request: LoadRequest): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-wrk-'));
  try {
    const file = join(folder, 'load.lua');
    writeFileSync(file, script(request));
    const flags = [
      '-t',
      '1',
      '-c',
      String(request.connections),
      '-d',
      `${request.seconds}s`,
      '--timeout',
      '30s',
    ];
    const child = spawn('wrk', [...flags, '-s', file, request.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await new Promise((resolve) => child.once('close', resolve));
    const [, requests, durationUs, p50Us, p99Us, failures] =
      /RESULT (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(output)?.map(Number) ?? [];
    if (requests === undefined || durationUs === undefined) throw new Error(`wrk said: ${output}`);
    return {
      requestsPerS: requests / (durationUs / 1e6),
      p50Ms: (p50Us ?? 0) / 1000,
      p99Ms: (p99Us ?? 0) / 1000,
      failures: failures ?? 0,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
