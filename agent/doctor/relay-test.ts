// The relay test of the doctor: switches relays on for a second, one after the other, after a person has typed YES.
// It must never energise a relay unless the agent's own interlock allows it at that moment, with ignition off, and it
// leaves every tested relay de-energised, however it ends.

import { isAllowed, type Verdict } from '../../src/core/verdict/verdict.ts';
import { verdictText } from '../../src/core/verdict/verdict-text.ts';
import type { AgentConfig } from '../config.ts';
import type { RelayName } from '../core/board/board-profile.ts';
import { wiringsOf } from '../core/board/board-profile.ts';
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
  /** Without a position the interlock wants a minute of ignition off. */
  proofMs: 90_000,
  /** With ignition on it is not waited for longer. */
  keyMs: 1000,
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
  /** Shows a text and returns what was typed within two minutes; '' without a terminal. */
  ask(question: string): Promise<string>;
  say(line: string): void;
  isStopped(): boolean;
}

const clicks: Readonly<Record<RelayName, string>> = {
  warning: 'the warning output sounds',
  cargoaccess: 'the cargo lock OPENS',
  enginecutoff: 'the engine cut-off takes: the engine CANNOT START',
};

/** Engine last: when the others work the wiring of the board does. */
const order: readonly RelayName[] = ['warning', 'cargoaccess', 'enginecutoff'];

/**
 * The interlock's verdict on energising this relay with a person at the vehicle, and the conditions common to all
 * relays.
 */
export function verdictOf(name: RelayName, evidence: Evidence, rules: InterlockRules): Verdict {
  // The warning output stops nothing; it is tested under the rules of the others all the same.
  const feature = name === 'warning' ? 'cargoaccess' : name;
  return judge({ feature, state: '1', occasion: 'attended' }, evidence, rules);
}

interface Run extends RelayTestOptions {
  readonly live: LiveVehicle;
  readonly rules: InterlockRules;
  readonly touched: Set<RelayName>;
}

const pauseOf = ({ ports }: Run, ms: number): Promise<void> =>
  new Promise((resolve) => void ports.clock.after(ms, resolve));

/** What speaks against a relay that is energised now; null when nothing does. */
function alarmOf({ live, rules }: Run, name: RelayName): string | null {
  const verdict = verdictOf(name, live.evidence(), rules);
  return isAllowed(verdict) ? null : verdictText(verdict);
}

/** Waits until the interlock allows it; resolves with the reason when it does not in time, null when it does. */
async function untilAllowed(run: Run, name: RelayName): Promise<string | null> {
  const { ports, live, rules } = run;
  const startMs = ports.clock.monoMs();
  let shown = '';
  for (;;) {
    const fault = live.fault();
    const verdict = verdictOf(name, live.evidence(), rules);
    if (fault === null && isAllowed(verdict)) return null;
    const reason = fault ?? verdictText(verdict);
    const waitedMs = ports.clock.monoMs() - startMs;
    // An ignition that is on stays on: there is nothing to wait for.
    const isOn = live.evidence().ignition.value === true;
    if (run.isStopped() || waitedMs > (isOn ? relayTestLimits.keyMs : relayTestLimits.proofMs)) return reason;
    if (verdict.code !== shown) run.say(`  waiting: ${reason}`);
    shown = verdict.code;
    await pauseOf(run, relayTestLimits.lookMs);
  }
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

async function testOne(run: Run, name: RelayName): Promise<Finding> {
  const { live, ports } = run;
  const { clock } = ports;
  const refusal = await untilAllowed(run, name);
  if (run.isStopped()) return skipped(`${name}: stopped`);
  if (refusal !== null)
    return skipped(`${name} was not switched: ${refusal}`, 'The same rules hold as for a command.');
  const before = live.relay(name);
  if (before !== false)
    return before === null
      ? fault(`${name} cannot be read back`, 'Check its poll in the profile.')
      : skipped(`${name} is energised already and was left alone`, 'A command holds it.');
  run.say(`  ${name}: click`);
  run.touched.add(name);
  const wiring = wiringsOf(run.config.profile).find(([relay]) => relay === name)?.[1];
  const hold = wiring?.flashAddress === undefined ? undefined : 2 * relayTestLimits.holdMs;
  const on = await live.setRelay(name, true, hold);
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
    return fault(`${name} did not follow: ${on.reason ?? on.outcome}`, 'Check relay, profile and address.');
  if (alarm !== null)
    return warning(
      `${name} was released early: ${alarm}`,
      'Run it again with the key off and the vehicle at rest.',
    );
  return ok(`${name} was energised for a second, read back, and is de-energised again`);
}

function question(names: readonly RelayName[]): string {
  const what = names.map((name) => `    ${name}: ${clicks[name]}`).join('\n');
  return `Relay test. For one second each, with ignition off only:\n${what}\nNobody may be in or at the doors or the engine. Type ${consentText} to go on: `;
}

export function relayTestCheck(options: RelayTestOptions): Check {
  const { config, ports } = options;
  const fitted = new Set(wiringsOf(config.profile).map(([name]) => name));
  const names = order.filter((name) => fitted.has(name) && (name !== 'enginecutoff' || options.withEngine));
  return {
    id: 'relays',
    title: 'Relay test',
    // A person is asked, and every relay may wait for its proof.
    mostS: 600,
    endsItself: true,
    async run() {
      if (names.length === 0)
        return [
          skipped('no relay to test', 'The engine cut-off is tested by --relay-test enginecutoff only.'),
        ];
      if ((await options.ask(question(names))).trim() !== consentText)
        return [skipped('not confirmed with YES: nothing was switched')];
      const rules = rulesOf(config.protection, config.profile);
      const live = await openLiveVehicle(config, rules, ports);
      const run: Run = { ...options, live, rules, touched: new Set() };
      const findings: Finding[] = [];
      try {
        for (const name of names) if (!run.isStopped()) findings.push(await testOne(run, name));
      } finally {
        for (const name of run.touched) await release(run, name);
        await live.close();
      }
      return findings;
    },
  };
}
