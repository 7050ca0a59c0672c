// A module of the vehicle is its folders and its lines in the lists: without them the agent compiles, starts, and steps a vehicle.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const root = new URL('../..', import.meta.url).pathname;
const lists = ['agent/core/vehicle/modules.ts', 'agent/modules.ts', 'agent/cli/command-line.ts'];

/** Steps a vehicle from its start on, and prints its state of delivery. */
const steps = `
import { readBoardProfile } from './dist/agent/boards.js';
import { createCommandRecord } from './dist/agent/core/protection/command-record.js';
import { standardProtection, standardSettings } from './dist/agent/config.js';
import { stepVehicle } from './dist/agent/core/vehicle/vehicle.js';
import { createVehicle } from './dist/agent/core/vehicle/vehicle-start.js';
import { emptyMemory } from './dist/agent/vehicle-record.js';
const config = { accountID: 'acme', deviceID: 'truck', hardwareID: '', agentVersion: '1', earliestUtcMs: 0, boot: 'b',
  profile: await readBoardProfile('waveshare-relay-d'), broker: { keepaliveS: 240 }, gnssSilenceMs: 5000, windowMs: 0,
  settings: standardSettings, protection: standardProtection };
const now = { monoMs: 1000, utcMs: 0, fraction: 0.5 };
let state = createVehicle(config, { now, bootMonoMs: 0, poweredMs: 0, record: createCommandRecord(), memory: emptyMemory, connectDelayMs: 0 });
for (const kind of ['start', 'time', 'stop']) state = stepVehicle(state, { kind }, { now, config }).state;
console.log(state.isStopping ? 'stepped' : 'stuck');
`;

it.each(['fuel', 'driver', 'sleep', 'bus', 'diagnostic', 'zones'])(
  'the agent compiles, starts and steps without the module %s',
  (name) => {
    const copy = temporaryFolder(`without-${name}`);
    for (const part of ['agent', 'src', 'package.json', 'tsconfig.json'])
      cpSync(join(root, part), join(copy, part), { recursive: true });
    for (const part of ['node_modules', 'build']) symlinkSync(join(root, part), join(copy, part));
    const commands = readdirSync(join(copy, 'agent/cli')).filter((file) => file.startsWith(`${name}-`));
    const own = [`agent/core/${name}`, `agent/${name}`, ...commands.map((file) => `agent/cli/${file}`)];
    for (const path of own) rmSync(join(copy, path), { recursive: true, force: true });
    for (const list of lists) {
      const text = readFileSync(join(copy, list), 'utf8');
      const lines = text.split('\n').filter((line) => !new RegExp(`/${name}-[a-z]+\\.ts'`).test(line));
      const named = new RegExp(
        `\\b(${name}(Module|Process)|with${name[0]?.toUpperCase()}${name.slice(1)})\\b,? ?`,
        'g',
      );
      writeFileSync(join(copy, list), lines.join('\n').replaceAll(named, ''));
    }
    const run = (command: string, ...args: readonly string[]): string =>
      execFileSync(command, args, { cwd: copy, encoding: 'utf8', timeout: 280_000 });
    writeFileSync(
      join(copy, 'agent.json'),
      JSON.stringify({
        extends: './tsconfig.json',
        compilerOptions: { sourceMap: false },
        include: ['agent', 'src'],
      }),
    );
    run(join(root, 'node_modules/.bin/tsc'), '-p', 'agent.json');
    cpSync(join(copy, 'agent/boards'), join(copy, 'dist/agent/boards'), { recursive: true });
    expect(run(process.execPath, 'dist/agent/main.js', '--help')).toContain('doctor');
    writeFileSync(join(copy, 'steps.mjs'), steps);
    expect(run(process.execPath, 'steps.mjs')).toBe('stepped\n');
  },
);
