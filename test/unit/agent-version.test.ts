// What `--version` says when an update runs another release than the packaged one, and when no agent can be asked.
import { describe, expect, it } from 'vitest';
import type { AskAgent } from '../../agent/cli/status.ts';
import { formatVersion } from '../../agent/cli/version.ts';
import { AppError } from '../../src/core/errors.ts';

const answering =
  (version: string): AskAgent =>
  async () => ({ status: 200, body: JSON.stringify({ version }) });
const refusing =
  (code: 'serial' | 'forbidden', words: string): AskAgent =>
  async () => {
    throw new AppError(code, words);
  };
const stopped = refusing('serial', 'the agent does not run');

const line = (ask: AskAgent, confirmed: string | null = null, ...words: readonly string[]): Promise<string> =>
  formatVersion(['--version', ...words], { packaged: '1.3.0', confirmed: () => confirmed, ask });

describe('the version of the command line', () => {
  it('is one number where the packaged release runs, or no agent', async () => {
    expect(await line(answering('1.3.0'))).toBe('1.3.0');
    expect(await line(stopped)).toBe('1.3.0');
    expect(await line(stopped, '1.2.0')).toBe('1.3.0');
  });

  it('names the release that runs first, then the packaged one', async () => {
    expect(await line(answering('1.4.0'), '1.4.0')).toBe('1.4.0 (running release; packaged 1.3.0)');
  });

  it('names the confirmed release that starts next, and why the running one is unknown', async () => {
    expect(await line(stopped, '1.4.0')).toBe('1.3.0 (packaged; release 1.4.0 is confirmed and starts next)');
    expect(await line(refusing('forbidden', 'this user may not talk to the agent'))).toBe(
      '1.3.0 (packaged; the running release is unknown: this user may not talk to the agent)',
    );
  });

  it('is an object for programs with --json', async () => {
    expect(JSON.parse(await line(answering('1.4.0'), null, '--json'))).toEqual({
      version: '1.4.0',
      running: '1.4.0',
      packaged: '1.3.0',
      confirmed: null,
    });
    expect(JSON.parse(await line(stopped, '1.4.0', '--json'))).toMatchObject({
      version: '1.3.0',
      running: null,
      confirmed: '1.4.0',
    });
  });

  it('asks the socket that is named on the command line', async () => {
    const sockets: string[] = [];
    const ask: AskAgent = async (socket) => {
      sockets.push(socket);
      return { status: 200, body: '{"version":"1.3.0"}' };
    };
    await line(ask, null, '--socket', '/run/other.sock');
    expect(sockets).toEqual(['/run/other.sock']);
  });
});
