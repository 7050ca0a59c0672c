// All alarms as one pure machine: an `AlarmInput` in, a new state and reports out. Engine and motion come first,
// because other alarms read their state. An alarm only reports; it must never move a relay.
import type { SkySentence } from '../gnss/nmea-sky.ts';
import { type AlarmMemory, type EpisodeName, parkedPlace } from './alarm-memory.ts';
import type { AlarmInput, AlarmReport } from './alarm-types.ts';
import { type CargoState, createCargo, stepCargo } from './cargo.ts';
import { createEngine, type EngineState, stepEngine, voltageFactor } from './engine.ts';
import type { Episode } from './episode.ts';
import { createGnssWatch, type GnssState, stepGnssWatch } from './gnss-watch.ts';
import { createIdling, type IdlingState, stepIdling } from './idling.ts';
import { handleImpact, type ImpactState, noImpact, recordImpactFix } from './impact.ts';
import { createLinkWatch, type LinkState, stepLinkWatch } from './link-watch.ts';
import { createMotion, type MotionState, stepMotion } from './motion.ts';
import { countPerson, createPeople, type PeopleState, stepPeople } from './people.ts';
import { createPower, type PowerState, stepPower } from './power.ts';
import { recordSky } from './sky.ts';
import { createSpeeding, type SpeedingState, stepSpeeding } from './speeding.ts';
import { createTowing, stepTowing, type TowingState } from './towing.ts';

export interface AlarmsState {
  readonly engine: EngineState;
  readonly motion: MotionState;
  readonly idling: IdlingState;
  readonly speeding: SpeedingState;
  readonly towing: TowingState;
  readonly power: PowerState;
  readonly gnss: GnssState;
  readonly link: LinkState;
  readonly cargo: CargoState;
  readonly people: PeopleState;
  readonly impact: ImpactState;
}

/** A contact whose closing is an event. */
export interface Pulse {
  readonly contact: 'crash' | 'personEnter' | 'personExit';
  readonly atMs: number;
}

export interface AlarmsStep {
  readonly state: AlarmsState;
  readonly reports: readonly AlarmReport[];
  /** The supply voltage drops: commit pending events now. */
  readonly isDip: boolean;
}

/** @param bootMs monotonic time of the agent's start. */
export function createAlarms(memory: AlarmMemory, bootMs: number): AlarmsState {
  const was = (name: EpisodeName): boolean => memory.on.includes(name);
  const [latitude, longitude] = memory.parked ?? [];
  const parked = latitude === undefined || longitude === undefined ? null : { latitude, longitude };
  return {
    engine: createEngine({ wasRunning: was('engine'), is24V: memory.is24V }),
    motion: createMotion(was('motion')),
    idling: createIdling({ idling: was('idle'), excess: was('excess') }),
    speeding: createSpeeding(was('speeding')),
    towing: createTowing({ wasTowed: was('tow'), parked }),
    power: createPower({ cut: was('cut'), supply: was('supply'), backup: was('backup') }),
    gnss: createGnssWatch({
      bootMs,
      lost: was('lost'),
      jam: was('jam'),
      antenna: was('antenna'),
      suspect: was('suspect'),
    }),
    link: createLinkWatch(was('link')),
    cargo: createCargo({ forced: was('forced'), driving: was('driving') }),
    people: createPeople(memory.people, bootMs),
    impact: noImpact,
  };
}

/** Sentences about satellites and antenna, before the epoch that they belong to. */
export function handleSky(state: AlarmsState, sentences: readonly SkySentence[], atMs: number): AlarmsState {
  if (sentences.length === 0) return state;
  return { ...state, gnss: { ...state.gnss, sky: recordSky(state.gnss.sky, sentences, atMs) } };
}

/** One step of all alarms. */
export function stepAlarms(before: AlarmsState, input: AlarmInput): AlarmsStep {
  const engine = stepEngine(before.engine, input);
  const { isRunning } = engine.state;
  const motion = stepMotion(before.motion, input);
  const idling = stepIdling(before.idling, input, { isRunning, motion: motion.state });
  const speeding = stepSpeeding(before.speeding, input);
  const towing = stepTowing(before.towing, input, { isRunning, pace: motion.state.pace });
  const power = stepPower(before.power, input, voltageFactor(engine.state, input.settings.systemV));
  const gnss = stepGnssWatch(before.gnss, input);
  const link = stepLinkWatch(before.link, input);
  const cargo = stepCargo(before.cargo, input, motion.state);
  const people = stepPeople(before.people, input);
  const impact = recordImpactFix(before.impact, input);
  const steps = [engine, motion, idling, speeding, towing, power, gnss, link, cargo, people, impact];
  return {
    state: {
      engine: engine.state,
      motion: motion.state,
      idling: idling.state,
      speeding: speeding.state,
      towing: towing.state,
      power: power.state,
      gnss: gnss.state,
      link: link.state,
      cargo: cargo.state,
      people: people.state,
      impact: impact.state,
    },
    reports: steps.flatMap(({ reports }) => reports),
    isDip: power.isDip,
  };
}

/** Handles a contact that just closed. */
export function handlePulse(before: AlarmsState, input: AlarmInput, pulse: Pulse): AlarmsStep {
  const { contact, atMs } = pulse;
  if (contact === 'crash') {
    const { state, reports } = handleImpact(before.impact, input, atMs);
    return { state: { ...before, impact: state }, reports, isDip: false };
  }
  const direction = contact === 'personEnter' ? 'enter' : 'exit';
  const { state, reports } = countPerson(before.people, input, { direction, atMs });
  return { state: { ...before, people: state }, reports, isDip: false };
}

/** The part of the state that is kept over a restart. */
export function memoryOf(state: AlarmsState): AlarmMemory {
  const { gnss, power, cargo, idling } = state;
  const episodes: readonly (readonly [EpisodeName, Episode])[] = [
    ['engine', state.engine.episode],
    ['motion', state.motion.episode],
    ['idle', idling.episode],
    ['speeding', state.speeding.episode],
    ['tow', state.towing.episode],
    ['cut', power.cut],
    ['supply', power.supply],
    ['backup', power.backup],
    ['lost', gnss.lost],
    ['jam', gnss.jam],
    ['antenna', gnss.antenna],
    ['suspect', gnss.suspect],
    ['link', state.link.episode],
    ['forced', cargo.forced],
    ['driving', cargo.driving],
  ];
  const on = episodes.flatMap(([name, { isOn, isReported }]) => (isOn && isReported ? [name] : []));
  return {
    on: idling.isExcessReported ? [...on, 'excess'] : on,
    parked: parkedPlace(state.towing.parked?.at ?? null),
    people: state.people.count,
    is24V: state.engine.is24V,
  };
}
