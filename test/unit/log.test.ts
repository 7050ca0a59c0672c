// The log as a process writes it: each line whole and in order, warnings at once, nothing lost at its end, no secret.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/adapters/log.ts';
import { createSystemEntropy } from '../../src/adapters/system.ts';
import { sql } from '../../src/sql.ts';

const built = new URL('../../dist/src/adapters/log.js', import.meta.url);

/** Lines of a process that logs. */
function linesOf(code: string): readonly Record<string, unknown>[] {
  const program = `const { createLog } = await import(${JSON.stringify(built.href)});\n${code}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe.skipIf(!existsSync(built))('a process that logs', () => {
  it('loses no line when it ends at once, and keeps their order over several logs', () => {
    const lines = linesOf(`const [a, b] = [createLog('info'), createLog('info').with({ of: 'b' })];
      for (let at = 0; at < 2000; at++) (at % 2 === 0 ? a : b).info('line', { at });
      process.exit(0);`);
    expect(lines.map(({ at }) => at)).toEqual(Array.from({ length: 2000 }, (_unused, at) => at));
  });

  it('loses no line of many turns, and keeps their order, when it ends between two writes', () => {
    const lines = linesOf(`const log = createLog('info');
      for (let at = 0; at < 200; at++) {
        log.info('line', { at });
        await new Promise(setImmediate);
      }
      process.exit(0);`);
    expect(lines.map(({ at }) => at)).toEqual(Array.from({ length: 200 }, (_unused, at) => at));
  });

  it('writes lines that follow others closely although the process lives on', () => {
    const lines = linesOf(`const log = createLog('info'); log.info('first');
      await new Promise(setImmediate); log.info('second');
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1000);`);
    expect(lines.map(({ msg }) => msg)).toEqual(['first', 'second']);
  });

  it('writes what it logged before it fails', () => {
    const lines = linesOf(`createLog('info').info('last'); throw new Error('broken');`);
    expect(lines).toMatchObject([{ msg: 'last' }]);
  });

  it('writes a warning at once, with what came before it', () => {
    const lines =
      linesOf(`const log = createLog('info'); log.info('before'); log.warn('now'); log.info('after');
      process.kill(process.pid, 'SIGKILL');`);
    expect(lines.map(({ msg }) => msg)).toEqual(['before', 'now']);
  });

  it('writes the lines of one turn at its end', () => {
    const lines = linesOf(`const log = createLog('info'); log.info('first');
      setImmediate(() => process.kill(process.pid, 'SIGKILL')); await new Promise(() => undefined);`);
    expect(lines).toMatchObject([{ msg: 'first' }]);
  });
});

it('redacts secrets by key, at the top and one level below, and leaves the fields of the caller alone', () => {
  const lines: string[] = [];
  const log = createLog('info', 'stderr', (line) => lines.push(line));
  const fields = { token: 'abc', user: { password: 'def', name: 'ann' }, list: [{ secret: 1 }], none: null };
  log.with({ authorization: 'ghi' }).info('login', fields);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    token: '[Redacted]',
    user: { password: '[Redacted]', name: 'ann' },
    authorization: '[Redacted]',
    none: null,
    msg: 'login',
  });
  expect(lines[0]).not.toMatch(/abc|def|ghi/);
  expect(fields.token).toBe('abc');
});

it('gives each short random value once', () => {
  const { bytes } = createSystemEntropy();
  const ids = new Set(Array.from({ length: 5000 }, () => Buffer.from(bytes(8)).toString('hex')));
  expect(ids.size).toBe(5000);
  expect([...ids].every((id) => id.length === 16)).toBe(true);
});

it('gives a statement without fragments the same text each time, with its own parameters', () => {
  const find = (name: string, count: number) =>
    sql`SELECT 1 FROM items WHERE name = ${name} AND amount > ${count}`;
  expect(find('a', 1)).toEqual({
    sql: 'SELECT 1 FROM items WHERE name = $1 AND amount > $2',
    params: ['a', 1],
  });
  expect(find('b', 2).params).toEqual(['b', 2]);
  expect(sql`SELECT ${sql`a = ${1}`} AND b = ${2}`).toEqual({
    sql: 'SELECT a = $1 AND b = $2',
    params: [1, 2],
  });
});
