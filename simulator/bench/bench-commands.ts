// The commands of the test bench: one literal for each, with its usage and help. A line that does not fit the usage is an error.
import { AppError } from '../../src/core/errors.ts';
import { type InputName, inputNames } from '../../src/core/events/event.ts';
import type { Clock } from '../../src/ports.ts';
import { type Board, type BoardFaults, noBoardFaults, noiseKinds } from '../hardware/board.ts';
import { type Gnss, type GnssHabits, usualHabits } from '../hardware/gnss.ts';
import { receiverQuirkNames } from '../hardware/gnss-sentences.ts';
import { type LlsSenders, llsFaultKinds } from '../hardware/lls-sender.ts';
import { shownLevel } from '../hardware/tank.ts';
import type { Driver } from '../world/driver.ts';
import { type BenchState, type Cables, type Device, formatChange, formatState } from './bench-state.ts';

/** What a command works on. */
export interface BenchDeps {
  readonly clock: Clock;
  readonly cables: Cables;
  readonly board: Board;
  readonly gnss: Gnss;
  readonly sender: LlsSenders;
  readonly driver: Driver;
  /** Signals set by hand, and the tank. */
  readonly manual: Map<InputName, boolean>;
  setFuel(fraction: number): void;
  state(): BenchState;
}

interface Command {
  readonly usage: string;
  readonly help: string;
  /** @returns the output, or null when the arguments do not fit `usage`. */
  run(given: readonly string[], deps: BenchDeps): Promise<string | null> | string | null;
}

const maxCommandLength = 200;
const longestPressMs = 60_000;

function onOff(word: string | undefined): boolean | null {
  return word === 'on' ? true : word === 'off' ? false : null;
}

function numberIn(word: string | undefined, low: number, high: number): number | null {
  const value = word === undefined || word === '' ? Number.NaN : Number(word);
  return value >= low && value <= high ? value : null;
}

/** `30%`, `0.3` or nothing. */
function share(word: string | undefined, otherwise: number): number | null {
  if (word === undefined) return otherwise;
  return word.endsWith('%')
    ? (numberIn(word.slice(0, -1), 0, 100) ?? Number.NaN) / 100
    : numberIn(word, 0, 1);
}

const notStarting = 'The engine does not start: the starter circuit is cut.';

function setByHand(deps: BenchDeps, name: InputName, active: boolean): string {
  deps.manual.set(name, active);
  deps.board.setSignal(name, active);
  return `${name} ${active ? 'active' : 'inactive'}`;
}

function panic(given: readonly string[], deps: BenchDeps): string | null {
  const [action, duration] = given;
  if (action !== 'press' && action !== 'release') return null;
  const forMs = duration === undefined ? null : numberIn(duration, 1, longestPressMs);
  if (duration !== undefined && (forMs === null || action === 'release')) return null;
  const said = setByHand(deps, 'panic', action === 'press');
  if (forMs === null) return said;
  deps.clock.after(forMs, () => setByHand(deps, 'panic', false));
  return `${said} for ${forMs} ms`;
}

function fault(given: readonly string[], deps: BenchDeps): string | null {
  const [kind, amount] = given;
  const noise = noiseKinds.find((name) => name === (amount ?? 'before'));
  const changes: Partial<Record<string, Partial<BoardFaults> | null>> = {
    none: noBoardFaults,
    late: { lateMs: numberIn(amount ?? '350', 0, 60_000) ?? Number.NaN },
    lost: { lost: share(amount, 0.3) ?? Number.NaN },
    garble: { garbled: share(amount, 0.3) ?? Number.NaN },
    cut: { cut: share(amount, 1) ?? Number.NaN },
    echo: { echo: true },
    silent: { silent: true },
    stuck: { stuck: true },
    common: { commonLost: true },
    repeat: { repeatsBits: true },
    noise: noise === undefined ? null : { noise },
  };
  const change = Object.hasOwn(changes, kind ?? '') ? changes[kind ?? ''] : null;
  if (!change || Object.values(change).some((value) => Number.isNaN(value))) return null;
  deps.board.setFaults(change);
  return `faults: ${JSON.stringify(deps.board.faults())}`;
}

const tripKmh = 40;
const standingCheckMs = 500;

/** Turns the key, drives, stops, and turns it back once the vehicle stands; another command meanwhile counts as well. */
function trip([word]: readonly string[], { clock, driver }: BenchDeps): string | null {
  const forS = word === undefined ? 60 : numberIn(word, 1, 3600);
  if (forS === null) return null;
  driver.setIgnition(true);
  if (!driver.setSpeed(tripKmh)) return notStarting;
  const park = (): void => {
    if (driver.now().speedKmh === 0) driver.setIgnition(false);
    else clock.after(standingCheckMs, park);
  };
  clock.after(forS * 1000, () => {
    driver.setSpeed(0);
    park();
  });
  return `a trip of ${forS} s at ${tripKmh} km/h; it ends with the ignition off`;
}

/** Sentences too seldom, a date that is wrong, and what it says of its antenna. */
function receiver(given: readonly string[], { gnss }: BenchDeps): string | null {
  const [habit, word] = given;
  const quirk = receiverQuirkNames.find((name) => name === habit);
  if (quirk !== undefined) {
    gnss.setQuirks([...gnss.state().quirks.filter((name) => name !== quirk), quirk]);
    return `receiver ${gnss.state().quirks.join(', ')}`;
  }
  const antennas = { ok: 'OK', open: 'OPEN', short: 'SHORT', none: null } as const;
  const antenna = antennas[word as keyof typeof antennas];
  const changes: Readonly<Record<string, Partial<GnssHabits>>> = {
    usual: usualHabits,
    every: { everyS: numberIn(word, 1, 60) ?? Number.NaN },
    gga: { ggaEveryS: numberIn(word, 1, 60) ?? Number.NaN },
    date: { daysAhead: numberIn(word, -10_000, 10_000) ?? Number.NaN },
    ...(antenna === undefined ? {} : { antenna: { antenna } }),
  };
  const change = Object.hasOwn(changes, habit ?? '') ? changes[habit ?? ''] : undefined;
  if (change === undefined || Object.values(change).some((value) => Number.isNaN(value))) return null;
  gnss.setHabits(change);
  if (habit === 'usual') gnss.setQuirks([]);
  return `receiver ${given.join(' ')}`;
}

/** A command of `on` or `off`. */
const toggle = (name: string, help: string, set: (deps: BenchDeps, isOn: boolean) => void): Command => ({
  usage: `${name} on|off`,
  help,
  run([word], deps) {
    const isOn = onOff(word);
    if (isOn !== null) set(deps, isOn);
    return isOn === null ? null : `${name} ${word}`;
  },
});

/** A command on the board or the receiver. */
const onDevice = (
  name: string,
  of: { readonly help: string; readonly said: string },
  run: (deps: BenchDeps, device: Device) => Promise<void> | void,
): Command => ({
  usage: `${name} board|gnss`,
  help: of.help,
  async run([word], deps) {
    if (!isDevice(word)) return null;
    await run(deps, word);
    return `${word} ${of.said}`;
  },
});

function isDevice(word: string | undefined): word is Device {
  return word === 'board' || word === 'gnss';
}

const usageWidth = 34;

/** Every command by its first word. */
const commands: Readonly<Record<string, Command>> = {
  ignition: {
    usage: 'ignition on|off',
    help: 'turns the key; off while driving lets the vehicle roll out',
    run([word], { driver }) {
      const isOn = onOff(word);
      if (isOn === null) return null;
      driver.setIgnition(isOn);
      return isOn && driver.now().engine === 'blocked' ? notStarting : `ignition ${word}`;
    },
  },
  panic: { usage: 'panic press [ms]|release', help: 'the panic button, held or for some ms', run: panic },
  door: {
    usage: 'door cargo|cabin open|close',
    help: 'a door contact',
    run([which, action], deps) {
      if ((which !== 'cargo' && which !== 'cabin') || (action !== 'open' && action !== 'close')) return null;
      return setByHand(deps, which === 'cargo' ? 'cargoDoor' : 'cabinDoor', action === 'open');
    },
  },
  input: {
    usage: `input ${inputNames.filter((name) => name !== 'ignition').join('|')} on|off`,
    help: 'any other signal',
    run([word, action], deps) {
      const name = inputNames.find((known) => known === word && known !== 'ignition');
      const isOn = onOff(action);
      return name === undefined || isOn === null ? null : setByHand(deps, name, isOn);
    },
  },
  fuel: {
    usage: 'fuel 0..1 [steps]',
    help: 'level in the tank, as a sender with so many steps shows it',
    run([word, count], deps) {
      const fraction = numberIn(word, 0, 1);
      const steps = count === undefined ? undefined : numberIn(count, 2, 1000);
      if (fraction === null || steps === null) return null;
      const shown = shownLevel(steps === undefined ? {} : { steps }, fraction, () => 0.5);
      deps.setFuel(shown);
      return `fuel ${shown}`;
    },
  },
  sender: {
    usage: `sender ${llsFaultKinds.join('|')}`,
    help: 'a fault of the digital fuel sender of --link-fuel or of its line',
    run([word], { sender }) {
      const kind = llsFaultKinds.find((known) => known === word);
      if (kind === undefined) return null;
      sender.setFault(kind);
      return `sender ${kind}`;
    },
  },
  volts: {
    usage: 'volts 0..30',
    help: 'supply voltage',
    run([word], { board }) {
      const volts = numberIn(word, 0, 30);
      if (volts === null) return null;
      board.setSupplyVolts(volts);
      return `supply ${volts} V`;
    },
  },
  drive: {
    usage: 'drive',
    help: 'drives on along the route, by its timetable',
    run: (_, { driver }) => (driver.drive() ? 'driving' : notStarting),
  },
  trip: {
    usage: 'trip [s]',
    help: 'ignition on, drives for a minute or these seconds, stops, ignition off',
    run: trip,
  },
  stop: {
    usage: 'stop',
    help: 'brakes to a standstill, engine running',
    run(_, { driver }) {
      driver.setSpeed(0);
      return 'stopping';
    },
  },
  speed: {
    usage: 'speed 0..200',
    help: 'drives along the route at this speed in km/h',
    run([word], { driver }) {
      const kmh = numberIn(word, 0, 200);
      if (kmh === null) return null;
      return driver.setSpeed(kmh) ? `towards ${kmh} km/h` : notStarting;
    },
  },
  tow: {
    usage: 'tow 0..100',
    help: 'pulled along the route at this speed in km/h with the ignition off, 0 to be let go',
    run([word], { driver }) {
      const kmh = numberIn(word, 0, 100);
      if (kmh === null) return null;
      driver.tow(kmh);
      return kmh > 0 ? `towed at ${kmh} km/h` : 'let go';
    },
  },
  goto: {
    usage: 'goto <lat> <lon>',
    help: 'the vehicle is there at once; its route moves with it',
    run([lat, lon], { driver }) {
      const latitude = numberIn(lat, -85, 85);
      const longitude = numberIn(lon, -180, 180);
      if (latitude === null || longitude === null) return null;
      driver.goTo({ latitude, longitude });
      return `at ${latitude},${longitude}`;
    },
  },
  tunnel: toggle('tunnel', 'no sky: the receiver sends on, without a fix', ({ gnss }, isOn) =>
    gnss.setTunnel(isOn),
  ),
  jam: toggle('jam', 'a jammer: no satellite is seen', ({ gnss }, isOn) => gnss.setJammed(isOn)),
  spoof: {
    usage: 'spoof <north m/s> <east m/s>|off',
    help: 'the position walks away from the truth',
    run([north, east], { gnss }) {
      if (north === 'off') {
        gnss.setSpoof(null);
        return 'spoof off';
      }
      const northMps = numberIn(north, -1000, 1000);
      const eastMps = numberIn(east, -1000, 1000);
      if (northMps === null || eastMps === null) return null;
      gnss.setSpoof({ northMps, eastMps });
      return `spoofed by ${northMps} m/s north, ${eastMps} m/s east`;
    },
  },
  receiver: {
    usage: `receiver every <s>|gga <s>|date <days ahead>|antenna ok|open|short|none|${receiverQuirkNames.join('|')}|usual`,
    help: 'how often it sends all, or GGA; a wrong date, -7168 after a roll-over of its week number; its report of the antenna; or it writes as other makers write: status D, no RMC, lost RMC, ZDA between, no leading zeros; they add up until usual',
    run: receiver,
  },
  fault: {
    usage: `fault late [350]|lost [30%]|garble [30%]|cut [100%]|echo|silent|stuck|common|repeat|noise [${noiseKinds.join('|')}]|none`,
    help: 'answers late by ms, lost, changed, cut short, after an echo, never; stuck relays; lost common, repeated old bits; bytes of noise on the line; they add up until none',
    run: fault,
  },
  pull: onDevice('pull', { help: 'the serial port vanishes', said: 'pulled' }, ({ cables }, device) =>
    cables.unplug(device),
  ),
  plug: onDevice('plug', { help: 'the serial port is back', said: 'plugged' }, ({ cables }, device) =>
    cables.plug(device),
  ),
  'power-cycle': onDevice(
    'power-cycle',
    { help: 'off and on: relays fall off, the receiver starts anew', said: 'power-cycled' },
    ({ board, gnss }, device) => {
      const powered = device === 'board' ? board : gnss;
      powered.setPower(false);
      powered.setPower(true);
    },
  ),
  relays: {
    usage: 'relays',
    help: 'the contacts as they are',
    run: (_, deps) =>
      Object.entries(deps.state().relays)
        .map(([name, isOn]) => `${name} ${isOn ? 'energised' : 'released'}`)
        .join('\n'),
  },
  log: {
    usage: 'log',
    help: 'every change of a contact with time and cause',
    run(_, { board }) {
      const { changes, forgotten } = board.relayLog();
      const lines = changes.map(formatChange);
      return (
        [...(forgotten > 0 ? [`${forgotten} older changes forgotten`] : []), ...lines].join('\n') ||
        'no change'
      );
    },
  },
  status: {
    usage: 'status [--json]',
    help: 'everything at a glance',
    run([word], deps) {
      if (word !== undefined && word !== '--json') return null;
      return word === '--json' ? JSON.stringify(deps.state()) : formatState(deps.state());
    },
  },
};

/** The commands with their help, one a line. */
export function formatBenchHelp(): string {
  const row = (usage: string, help: string): string =>
    usage.length > usageWidth
      ? `  ${usage}\n  ${' '.repeat(usageWidth)} ${help}`
      : `  ${usage.padEnd(usageWidth)} ${help}`;
  const rows = Object.values(commands).map(({ usage, help }) => row(usage, help));
  return [...rows, row('help', 'lists the commands'), row('quit', 'ends the bench')].join('\n');
}

/** Runs one line. @returns its output. Rejects with AppError `usage` when it is not a command. */
export async function runBenchCommand(line: string, deps: BenchDeps): Promise<string> {
  if (line.length > maxCommandLength) {
    throw new AppError('usage', `A command has at most ${maxCommandLength} characters`);
  }
  const [name = '', ...given] = line.trim().split(/\s+/);
  if (name === 'help') return formatBenchHelp();
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new AppError('usage', `There is no command "${name}"`, { hint: 'help lists them' });
  }
  const said = await command.run(given, deps);
  if (said === null) throw new AppError('usage', `"${line.trim()}" does not fit: ${command.usage}`);
  return said;
}
