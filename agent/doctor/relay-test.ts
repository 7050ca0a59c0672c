// The relay test of the doctor: switches relays on for a second, one after the other, after a person has typed YES.
// It must never energise a relay unless the agent's own interlock allows it at that moment, with ignition off, and it
// leaves every tested relay de-energised, however it ends.

import { isAllowed, leastWaitS, type Verdict } from '../../src/core/verdict/verdict.ts';
import { verdictText } from '../../src/core/verdict/verdict-text.ts';
import type { AgentConfig } from '../config.ts';
import { type BoardProfile, type RelayName, wiringOf, wiringsOf } from '../core/board/board-profile.ts';
import type { Evidence } from '../core/evidence/testimony.ts';
import { judge } from '../core/protection/interlock.ts';
import { type InterlockRules } from '../core/protection/interlock-rules.ts';
import { rulesOf } from '../core/protection/protection.ts';
import { type Check, type Finding, fault, ok, skipped, warning } from './check.ts';
import { type LiveVehicle, openLiveVehicle } from './live-vehicle.ts';
import type { DoctorPorts } from './ports.ts';

const relayTestLimits = {
  /** An audible click. */
  holdMs: 1000,
  lookMs: 50,
  /** A consent is valid for so long; then it is asked for again. */
  consentMs: 120_000,
  /** How often the wait is reported when its reason stays the same. */
  reportMs: 10_000,
  /** Orders back to the safe state. */
  tries: 5,
} as const;

/** What a person must type. */
const consentText = 'YES';

export interface RelayTestOptions {
  readonly config: Pick<
    AgentConfig,
    'profile' | 'boardPort' | 'gnssPort' | 'earliestUtcMs' | 'settings' | 'protection'
  >;
  readonly ports: DoctorPorts;
  /** The engine cut-off was named on the command line. */
  readonly withEngine: boolean;
  /** Why relays that restrict are not tested; null: nothing speaks against it. */
  readonly refusal: string | null;
  /** Shows a text and returns what was typed within two minutes; '' without a terminal. */
  ask(question: string): Promise<string>;
  say(line: string): void;
  isStopped(): boolean;
}

/** Relays with a visible or audible effect. The loop-back output has none, and is not tested here. */
type TestedName = Exclude<RelayName, 'loopback'>;

const clicks: Readonly<Record<TestedName, string>> = {
  warning: 'the warning output sounds',
  cargoaccess: 'the cargo lock OPENS',
  enginecutoff: 'the engine cut-off takes: the engine CANNOT START',
};

/** Engine last: when the others work the wiring of the board does. */
const order: readonly TestedName[] = ['warning', 'cargoaccess', 'enginecutoff'];

/**
 * The interlock's verdict on energising this relay with a person at the vehicle, and the conditions common to all
 * relays.
 */
export function verdictOf(name: TestedName, evidence: Evidence, rules: InterlockRules): Verdict {
  // The warning output stops nothing; it is tested under the rules of the others all the same.
  const feature = name === 'warning' ? 'cargoaccess' : name;
  return judge({ feature, state: '1', occasion: 'attended' }, evidence, rules);
}

interface Run extends RelayTestOptions {
  readonly live: LiveVehicle;
  readonly rules: InterlockRules;
  readonly touched: Set<RelayName>;
  /** When YES was last typed, monotonic. */
  agreedMs: number;
}

const pauseOf = ({ ports }: Run, ms: number): Promise<void> =>
  new Promise((resolve) => void ports.clock.after(ms, resolve));

/** What speaks against a relay that is energised now; null when nothing does. */
function alarmOf({ live, rules }: Run, name: TestedName): string | null {
  const verdict = verdictOf(name, live.evidence(), rules);
  return isAllowed(verdict) ? null : verdictText(verdict);
}

const isConsentGiven = async ({ ask }: RelayTestOptions, text: string): Promise<boolean> =>
  (await ask(`${text} Type ${consentText} to go on: `)).trim() === consentText;

/** The reason for waiting, and for how long still where that is known. */
function waitText(reason: string, leastS: number | null): string {
  return `  waiting: ${reason}${leastS === null ? '' : ` (at least ${leastS} s more)`}`;
}

/**
 * Waits until the interlock allows it, for as long as the person wants, and reports for what. Resolves with the reason when the person
 * ends the wait, null when it is allowed; the consent is never older than `consentMs` then.
 */
async function waitUntilAllowed(run: Run, name: TestedName): Promise<string | null> {
  const { ports, live, rules } = run;
  let shown = { code: '', leastS: 0 as number | null, atMs: Number.NEGATIVE_INFINITY };
  for (;;) {
    const fault = live.fault();
    const verdict = verdictOf(name, live.evidence(), rules);
    const nowMs = ports.clock.monoMs();
    const isAgreed = nowMs - run.agreedMs < relayTestLimits.consentMs;
    if (fault === null && isAllowed(verdict) && isAgreed) return null;
    const reason = fault ?? verdictText(verdict);
    if (run.isStopped()) return reason;
    if (!isAgreed) {
      const text = isAllowed(verdict)
        ? `${name} may be switched now.`
        : `Still waiting for ${name}: ${reason}.`;
      if (!(await isConsentGiven(run, text)))
        return reason === '' ? `not confirmed with ${consentText} again` : reason;
      run.agreedMs = ports.clock.monoMs();
      continue;
    }
    const leastS = fault === null ? leastWaitS(verdict) : null;
    // A wait that grows has begun anew: a person should see that.
    const code = fault ?? verdict.code;
    const hasGrown = leastS !== null && shown.leastS !== null && leastS > shown.leastS;
    if (code !== shown.code || hasGrown || nowMs - shown.atMs >= relayTestLimits.reportMs) {
      run.say(waitText(reason, leastS));
      shown = { code, leastS, atMs: nowMs };
    }
    await pauseOf(run, relayTestLimits.lookMs);
  }
}

/** What to look at where a relay did not follow: some boards send the bytes of many relays last first. */
function followTodo(profile: BoardProfile, name: TestedName): string {
  const poll = profile.polls[wiringOf(profile, name)?.poll ?? ''];
  const isLong = poll?.function === 1 && poll.count > 8;
  const order = isLong ? '; if the relay did click, set `reversed` in its poll or read at most 8 relays' : '';
  return `Check relay, profile and address${order}.`;
}

/** Orders the safe state until it was read back. */
async function release(run: Run, name: RelayName): Promise<boolean> {
  for (let attempt = 0; attempt < relayTestLimits.tries; attempt += 1) {
    const { outcome } = await run.live.setRelay(name, false);
    if (outcome === 'confirmed') {
      run.touched.delete(name);
      return true;
    }
    if (run.live.fault() !== null) return false;
  }
  return false;
}

async function testOne(run: Run, name: TestedName): Promise<Finding> {
  const { live, ports } = run;
  const { clock } = ports;
  const refusal = await waitUntilAllowed(run, name);
  if (refusal !== null)
    return skipped(
      run.isStopped()
        ? `${name}: stopped while it waited: ${refusal}`
        : `${name} was not switched: ${refusal}`,
      'The same rules hold as for a command.',
    );
  const before = live.relay(name);
  if (before !== false)
    return before === null
      ? fault(`${name} cannot be read back`, 'Check its poll in the profile.')
      : skipped(`${name} is energised already and was left alone`, 'A command holds it.');
  run.say(`  ${name}: click`);
  run.touched.add(name);
  const wiring = wiringsOf(run.config.profile).find(([relay]) => relay === name)?.[1];
  const hold = wiring?.flashAddress === undefined ? undefined : 2 * relayTestLimits.holdMs;
  const on = await live.setRelay(name, true, { holdMs: hold, agreedMs: run.agreedMs });
  const endMs = clock.monoMs() + relayTestLimits.holdMs;
  let alarm: string | null = null;
  while (on.outcome === 'confirmed' && alarm === null && clock.monoMs() < endMs && !run.isStopped()) {
    await pauseOf(run, relayTestLimits.lookMs);
    alarm = live.fault() ?? alarmOf(run, name);
  }
  const isOff = await release(run, name);
  if (!isOff)
    return fault(
      `${name} was not read back as de-energised`,
      'Take its supply away now; then look for the relay that sticks.',
    );
  if (on.outcome !== 'confirmed')
    return fault(`${name} did not follow: ${on.reason ?? on.outcome}`, followTodo(run.config.profile, name));
  if (alarm !== null)
    return warning(
      `${name} was released early: ${alarm}`,
      'Run it again with the key off and the vehicle at rest.',
    );
  return ok(`${name} was energised for a second, read back, and is de-energised again`);
}

/** How long the input may take to follow the output. */
const followMs = 2000;

/** Waits until the input of the loop-back is sampled so. */
async function follows(run: Run, on: boolean): Promise<boolean> {
  const { clock } = run.ports;
  const fromMs = clock.monoMs();
  for (;;) {
    const sample = run.live.loopback();
    if (sample !== null && sample.atMs > fromMs && sample.on === on) return true;
    if (clock.monoMs() - fromMs > followMs || run.isStopped() || run.live.fault() !== null) return false;
    await pauseOf(run, relayTestLimits.lookMs);
  }
}

/** Toggles the spare output of the loop-back, which has no visible or audible effect. */
async function testLoopback(run: Run): Promise<Finding> {
  run.touched.add('loopback');
  for (const on of [true, false]) {
    const { outcome, reason } = await run.live.setRelay('loopback', on);
    if (outcome !== 'confirmed')
      return fault(
        `the output of the loop-back did not follow: ${reason ?? outcome}`,
        'Check its address and poll in the profile.',
      );
    if (!(await follows(run, on)))
      return fault(
        `the input of the loop-back did not read ${on ? 'on' : 'off'} within ${followMs / 1000} s`,
        'Check the wire from the output to the input, its supply, and `invert`: `doctor --watch` shows the input.',
      );
  }
  run.touched.delete('loopback');
  return ok('the input of the loop-back followed its output on and off');
}

function question(names: readonly TestedName[]): string {
  const what = names.map((name) => `    ${name}: ${clicks[name]}`).join('\n');
  return `Relay test. For one second each, with ignition off only:\n${what}\nTurn the key on for two seconds and off again: only a key that was seen turned off counts. Nobody may be in or at the doors or the engine. Ctrl-C ends the test.`;
}

export function relayTestCheck(options: RelayTestOptions): Check {
  const { config, ports } = options;
  const fitted = new Set<RelayName>(wiringsOf(config.profile).map(([name]) => name));
  const names = order.filter((name) => fitted.has(name) && (name !== 'enginecutoff' || options.withEngine));
  return {
    id: 'relays',
    title: 'Relay test',
    // Each relay waits for as long as a person says YES again; this ends a test that hangs.
    mostS: 4 * 3600,
    endsItself: true,
    async run() {
      const { loopback } = config.profile;
      if (options.refusal !== null) return [skipped(`no relay was switched: ${options.refusal}`)];
      if (names.length === 0 && loopback === undefined)
        return [
          skipped('no relay to test', 'The engine cut-off is tested by --relay-test enginecutoff only.'),
        ];
      if (names.length > 0 && !(await isConsentGiven(options, question(names))))
        return [skipped(`not confirmed with ${consentText}: nothing was switched`)];
      const agreedMs = ports.clock.monoMs();
      const rules = rulesOf(config.protection, config.profile);
      const live = await openLiveVehicle(config, ports);
      const run: Run = { ...options, live, rules, touched: new Set(), agreedMs };
      const findings: Finding[] = [];
      try {
        if (loopback !== undefined) findings.push(await testLoopback(run));
        for (const name of names) if (!run.isStopped()) findings.push(await testOne(run, name));
      } finally {
        for (const name of run.touched) await release(run, name);
        await live.close();
      }
      return findings;
    },
  };
}
