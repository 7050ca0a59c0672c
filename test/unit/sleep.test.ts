// The sleep of a parked unit: when it is asked for, when never, that it is off by default, and what the script that suspends takes for a request.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requestSleep } from '../../agent/adapters/sleep-request.ts';
import { toAgentConfig } from '../../agent/config.ts';
import { createSleep, type SleepConfig, sleepLimits, stepSleep } from '../../agent/core/sleep/sleep.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { agentFileOf, givenOfMachine } from '../support/vehicle/agent-file.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const config: SleepConfig = { afterMs: 600_000, awakeMs: 120_000, wakeS: 3600 };

describe('the decision to sleep', () => {
  const given = { objection: null, startedMs: 0, nowMs: 1_000_000 };

  it('comes when nothing has spoken against it for half a minute, and once in ten minutes', () => {
    const first = stepSleep(createSleep(), config, given);
    expect(first.isRequested).toBe(false);
    const calm = stepSleep(first.state, config, { ...given, nowMs: given.nowMs + sleepLimits.calmMs });
    expect(calm.isRequested).toBe(true);
    const soon = stepSleep(calm.state, config, { ...given, nowMs: given.nowMs + sleepLimits.againMs });
    expect(soon.isRequested).toBe(false);
    const later = given.nowMs + sleepLimits.calmMs + sleepLimits.againMs;
    expect(stepSleep(soon.state, config, { ...given, nowMs: later }).isRequested).toBe(true);
  });

  it('begins anew after an objection, and waits for the time awake after a start', () => {
    let { state } = stepSleep(createSleep(), config, given);
    ({ state } = stepSleep(state, config, { ...given, nowMs: given.nowMs + 29_000, objection: 'a command' }));
    const again = stepSleep(state, config, { ...given, nowMs: given.nowMs + 31_000 });
    expect(again.isRequested).toBe(false);
    const young = { ...given, startedMs: given.nowMs, nowMs: given.nowMs + 100_000 };
    expect(stepSleep(again.state, config, young).isRequested).toBe(false);
  });
});

/** A parked vehicle with a session. */
async function parked(sleep?: SleepConfig) {
  const lines: string[] = [];
  const onLog = (event: string): void => void lines.push(event);
  const rig = await createVehicleRig(sleep === undefined ? { onLog } : { sleep, onLog });
  rig.run(10);
  rig.welcome(rig.trueUtcMs());
  return { rig, slept: () => lines.includes('sleep_requested') };
}

/** Lets time pass while the broker has everything; gives what speaks against sleep at its end. */
function rest(rig: VehicleRig, seconds: number): string {
  for (let passedS = 0; passedS < seconds; passedS += 1) {
    rig.within((work) => {
      const { delivery } = work.state;
      work.state = { ...work.state, delivery: { ...delivery, empty: 'all', fetching: 'no', inFlight: [] } };
    });
    rig.run(1);
  }
  return rig.state().sleep.objection;
}

describe('a parked vehicle', () => {
  const short = { ...config, afterMs: 60_000 };

  it('asks for sleep when its ignition was off for the set time and nothing is to be done', async () => {
    const { rig, slept } = await parked(short);
    rest(rig, 100);
    expect(slept()).toBe(false);
    expect(rest(rig, 15)).toBe('');
    expect(slept()).toBe(true);
  });

  it('never sleeps where no time is set', async () => {
    const { rig, slept } = await parked();
    rest(rig, 300);
    expect(slept()).toBe(false);
  });

  it('stays awake while its ignition is on, was on a moment ago, or is unknown', async () => {
    const { rig, slept } = await parked(short);
    rig.board.setSignal('ignition', true);
    expect(rest(rig, 5)).toContain('not known to be off');
    rig.board.setSignal('ignition', false);
    expect(rest(rig, 5)).toContain('a moment ago');
    rig.board.setFaults({ silent: true });
    expect(rest(rig, 300)).toContain('not known to be off');
    expect(slept()).toBe(false);
  });

  it('stays awake while the panic button is pressed, and while events are not delivered', async () => {
    const { rig, slept } = await parked(short);
    expect(rest(rig, 70)).toBe('');
    rig.board.setSignal('panic', true);
    expect(rest(rig, 5)).toContain('panic');
    rig.board.setSignal('panic', false);
    expect(rest(rig, 5)).toBe('');
    rig.within((work) => {
      work.state = { ...work.state, delivery: { ...work.state.delivery, empty: 'nothing' } };
    });
    rig.run(1);
    expect(rig.state().sleep.objection).toContain('not delivered');
    expect(slept()).toBe(false);
  });

  it('stays awake while a cut is in force, and without a session', async () => {
    const { rig, slept } = await parked(short);
    rig.command('enginecutoff', '1');
    rest(rig, 70);
    expect(rig.said()).toContain('confirmed');
    expect(rest(rig, 60)).toContain('cut off');
    rig.command('enginecutoff', '0');
    rest(rig, 5);
    rig.dispatch({ kind: 'delivery', input: { kind: 'down', reason: 'lost' } });
    rig.run(100);
    expect(rig.state().sleep.objection).toContain('no session');
    expect(slept()).toBe(false);
  });

  it('proves standstill anew after a sleep, which is a start of the agent', async () => {
    const { rig, slept } = await parked(short);
    rest(rig, 125);
    expect(slept()).toBe(true);
    rig.kill();
    rig.sky(false);
    rig.drive(50);
    rig.run(600);
    rig.start();
    rig.run(5);
    rig.command('enginecutoff', '1');
    rig.run(120);
    expect(rig.said()).not.toContain('confirmed');
  });
});

describe('the request for sleep', () => {
  const script = new URL('../../systemd/sleep.sh', import.meta.url).pathname;

  /** Runs the script with programs that only note how they were called. */
  function run(folder: string, request: string) {
    for (const name of ['systemctl', 'rtcwake']) {
      const path = join(folder, name);
      writeFileSync(path, `#!/bin/sh\necho "${name} $*" >> ${folder}/calls\n`);
      chmodSync(path, 0o755);
    }
    const env = { PATH: [folder, process.env['PATH']].join(delimiter) };
    const { status } = spawnSync('sh', [script, request, join(folder, 'rtcwake')], { env });
    const calls = existsSync(`${folder}/calls`) ? readFileSync(`${folder}/calls`, 'utf8') : '';
    return { status, calls, isLeft: existsSync(request) };
  }

  it('is a number of seconds; the agent is stopped before the machine is suspended', async () => {
    const folder = temporaryFolder('sleep');
    const request = join(folder, 'request');
    await requestSleep(3600, request);
    expect(run(folder, request)).toEqual({
      status: 0,
      calls: 'systemctl stop fleetward-agent.service\nrtcwake --mode mem --seconds 3600\n',
      isLeft: false,
    });
  });

  it('that nothing took within a minute is removed: the vehicle may drive now', () => {
    const folder = temporaryFolder('sleep');
    const request = join(folder, 'request');
    writeFileSync(request, '3600\n');
    const before = Date.now() / 1000 - 120;
    utimesSync(request, before, before);
    expect(run(folder, request)).toEqual({ status: 65, calls: '', isLeft: false });
  });

  it.each(['', '59', '86401', '99999999999', '-60', '0600', '60; reboot', '$(reboot)', '3600 --mode off'])(
    'with %j in it is removed, and nothing is stopped or suspended',
    (text) => {
      const folder = temporaryFolder('sleep');
      const request = join(folder, 'request');
      writeFileSync(request, text);
      expect(run(folder, request)).toMatchObject({ status: 65, calls: '', isLeft: false });
    },
  );

  it('that is a link to another file gives nothing of it away and leaves it', () => {
    const folder = temporaryFolder('sleep');
    writeFileSync(join(folder, 'secret'), 'topsecret');
    symlinkSync(join(folder, 'secret'), join(folder, 'request'));
    expect(run(folder, join(folder, 'request'))).toMatchObject({ status: 65, calls: '' });
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('topsecret');
  });

  it('is not written where the service has no folder', async () => {
    await expect(requestSleep(60, '/nowhere/sleep')).rejects.toThrow('ENOENT');
  });

  it('leads to a start of the agent, whatever became of the sleep', () => {
    const unit = readFileSync(
      new URL('../../systemd/fleetward-agent-sleep.service', import.meta.url),
      'utf8',
    );
    expect(unit).toContain('ExecStopPost=/usr/bin/systemctl start --no-block fleetward-agent.service');
    expect(execFileSync('sh', ['-n', script], { encoding: 'utf8' })).toBe('');
  });
});

describe('the table [sleep]', () => {
  it('is absent as a rule, and off without a time', async () => {
    expect(await toAgentConfig(agentFileOf(''), givenOfMachine)).not.toHaveProperty('sleep');
    expect(await toAgentConfig(agentFileOf('[sleep]\nwakeS = 600'), givenOfMachine)).not.toHaveProperty(
      'sleep',
    );
    const { sleep } = await toAgentConfig(agentFileOf('[sleep]\nafterS = 900'), givenOfMachine);
    expect(sleep).toEqual({ afterMs: 900_000, awakeMs: 120_000, wakeS: 3600 });
    expect(() => agentFileOf('[sleep]\nafterS = 5')).toThrow('afterS');
  });
});
