// There is one way to the wires of the board, and the relay guard stands in it: what the types cannot show of that, the sources do.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkout } from '../support/machine/checkout.ts';

const product = ['agent', 'simulator', 'src', 'broker'].flatMap((program) =>
  readdirSync(new URL(`${program}/`, checkout), { recursive: true })
    .map((name) => `${program}/${String(name)}`)
    .filter((file) => file.endsWith('.ts'))
    .sort(),
);
const textOf = (file: string): string => readFileSync(new URL(file, checkout), 'utf8');
const filesWith = (pattern: RegExp): readonly string[] =>
  product.filter((file) => pattern.test(textOf(file)));

describe('the relay guard', () => {
  it('alone makes permits', () => {
    expect(filesWith(/new Permit\b|as (unknown as )?Permit\b|extends Permit\b|<Permit</)).toEqual([
      'agent/guard/guard.ts',
    ]);
  });

  it('is asked where the line master makes a frame, and nowhere else is a frame made', () => {
    expect(filesWith(/\bencodeRequest\(/)).toEqual([
      'agent/core/board/board-profile.ts',
      'agent/core/board/modbus-frame.ts',
      'agent/core/board/rtu-master.ts',
    ]);
    // The first measures the length of a read.
    expect(textOf('agent/core/board/board-profile.ts')).toContain('encodeRequest(request).length');
    const master = textOf('agent/core/board/rtu-master.ts');
    expect(master.match(/encodeRequest\(/g)).toHaveLength(1);
    expect(master).toContain('encodeRequest(permit.request)');
    expect(master.match(/kind: 'write'/g)).toHaveLength(1);
  });

  it('is behind every write to a port of the board', () => {
    expect(filesWith(/kind: 'writePort'/)).toEqual([
      'agent/core/kernel/vehicle-events.ts',
      'agent/core/kernel/vehicle-sensing.ts',
    ]);
    // Programs that run the line master by themselves; each asks for permits, and passes on what the master writes.
    const masters = filesWith(/\bstep(Board|RtuMaster)\(/).filter((file) => !file.startsWith('agent/core/'));
    expect(masters).toEqual([
      'agent/cli/board-reading.ts',
      'agent/doctor/bus.ts',
      'agent/doctor/live-vehicle.ts',
    ]);
    for (const file of masters) expect(textOf(file)).toMatch(/link\?\.write\(output\.bytes\)/);
  });

  it('imports types, its own files and the form of a signed order', () => {
    const guard = product.filter((file) => file.startsWith('agent/guard/'));
    const values = guard.flatMap((file) =>
      [...textOf(file).matchAll(/^import (?!type\b)[^;]*? from '([^']+)';/gm)].map(([, target]) => target),
    );
    const outside = new Set(values.filter((target) => !target?.startsWith('./')));
    expect(outside).toEqual(new Set(['../../src/core/events/event.ts', '../../src/core/wire/wire.ts']));
  });

  it('has at most 400 lines', () => {
    const guard = product.filter((file) => file.startsWith('agent/guard/'));
    expect(guard.reduce((lines, file) => lines + textOf(file).split('\n').length - 1, 0)).toBeLessThanOrEqual(
      400,
    );
  });
});
