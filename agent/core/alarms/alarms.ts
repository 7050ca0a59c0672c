// All alarms as one pure machine: a scene in, a new state and what is to be told out. Order matters only where one looks
// at another: engine and motion come first. What an alarm tells is a fact for people; it must never move a relay.
import type { SkySentence } from '../gnss/nmea-sky.ts';
import { type AlarmMemory, type EpisodeName, parkedPlace } from './alarm-memory.ts';
import { type CargoState, createCargo, stepCargo } from './cargo.ts';
import { createEngine, type EngineState, stepEngine, voltageFactor } from './engine.ts';
import type { Episode } from './episode.ts';
import { createGnssWatch, type GnssState, stepGnssWatch } from './gnss-watch.ts';
import { createIdling, type IdlingState, stepIdling } from './idling.ts';
import { type ImpactState, noImpact, noteImpactFix, takeImpact } from './impact.ts';
import { createLinkWatch, type LinkState, stepLinkWatch } from './link-watch.ts';
import { createMotion, type MotionState, stepMotion } from './motion.ts';
import { countPerson, createPeople, type PeopleState, stepPeople } from './people.ts';
import { createPower, type PowerState, stepPower } from './power.ts';
import type { Scene, Told } from './scene.ts';
import { noteSky } from './sky.ts';
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

/** A contact that is news by itself. */
export interface Pulse {
  readonly contact: 'crash' | 'personEnter' | 'personExit';
  readonly atMs: number;
}

export interface AlarmsStep {
  readonly state: AlarmsState;
  readonly told: readonly Told[];
  /** The supply may be about to go: save now what waits. */
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
export function hearSky(state: AlarmsState, sentences: readonly SkySentence[], atMs: number): AlarmsState {
  if (sentences.length === 0) return state;
  return { ...state, gnss: { ...state.gnss, sky: noteSky(state.gnss.sky, sentences, atMs) } };
}

/** Looks at one scene. */
export function stepAlarms(before: AlarmsState, scene: Scene): AlarmsStep {
  const engine = stepEngine(before.engine, scene);
  const { isRunning } = engine.state;
  const motion = stepMotion(before.motion, scene);
  const idling = stepIdling(before.idling, scene, { isRunning, motion: motion.state });
  const speeding = stepSpeeding(before.speeding, scene);
  const towing = stepTowing(before.towing, scene, isRunning);
  const power = stepPower(before.power, scene, voltageFactor(engine.state, scene.settings.systemV));
  const gnss = stepGnssWatch(before.gnss, scene);
  const link = stepLinkWatch(before.link, scene);
  const cargo = stepCargo(before.cargo, scene, motion.state);
  const people = stepPeople(before.people, scene);
  const impact = noteImpactFix(before.impact, scene);
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
    told: steps.flatMap(({ told }) => told),
    isDip: power.isDip,
  };
}

/** Takes a contact that just closed. */
export function takePulse(before: AlarmsState, scene: Scene, pulse: Pulse): AlarmsStep {
  const { contact, atMs } = pulse;
  if (contact === 'crash') {
    const { state, told } = takeImpact(before.impact, scene, atMs);
    return { state: { ...before, impact: state }, told, isDip: false };
  }
  const direction = contact === 'personEnter' ? 'enter' : 'exit';
  const { state, told } = countPerson(before.people, scene, { direction, atMs });
  return { state: { ...before, people: state }, told, isDip: false };
}

/** What must survive a restart. */
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
  const on = episodes.flatMap(([name, { isOn, isTold }]) => (isOn && isTold ? [name] : []));
  return {
    on: idling.isExcessTold ? [...on, 'excess'] : on,
    parked: parkedPlace(state.towing.parked?.at ?? null),
    people: state.people.count,
    is24V: state.engine.is24V,
  };
}
