// The sound of alarms. Browsers play nothing before the first press, so it is off until then and says so. New alarms that are critical
// repeat until a user has taken them; a mute ends by itself.
import { createValue } from '../state/value.ts';
import { alarms } from './live.ts';

export interface Sound {
  readonly state: 'off' | 'on' | 'muted';
  /** Epoch seconds at which a mute ends; 0 otherwise. */
  readonly untilS: number;
}

export const sound = createValue<Sound>({ state: 'off', untilS: 0 });

const repeatMs = 5000;
const muteS = 15 * 60;

let context: AudioContext | null = null;

/** Three short tones, or one for what is not critical. */
function play(isCritical: boolean): void {
  if (context === null) return;
  const tones = isCritical ? [880, 660, 880] : [660];
  for (const [at, hertz] of tones.entries()) {
    const tone = context.createOscillator();
    const volume = context.createGain();
    const startS = context.currentTime + at * 0.22;
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0, startS);
    volume.gain.linearRampToValueAtTime(0.3, startS + 0.02);
    volume.gain.linearRampToValueAtTime(0, startS + 0.18);
    tone.connect(volume).connect(context.destination);
    tone.start(startS);
    tone.stop(startS + 0.2);
  }
}

/** Called by a press: switches the sound on and lets it be heard once. */
export async function testSound(): Promise<void> {
  context ??= new AudioContext();
  await context.resume();
  sound.set({ state: 'on', untilS: 0 });
  play(true);
}

export function muteSound(): void {
  sound.set({ state: 'muted', untilS: Math.floor(Date.now() / 1000) + muteS });
}

/** Plays for alarms until the returned function is called. */
export function followSound(): () => void {
  let seen = new Set(alarms.get().keys());
  const check = (): void => {
    const { state, untilS } = sound.get();
    if (state === 'muted' && Date.now() / 1000 >= untilS) sound.set({ state: 'on', untilS: 0 });
  };
  const leave = alarms.subscribe(() => {
    const open = [...alarms.get().values()];
    const fresh = open.filter(({ alarmID, alarmState }) => alarmState === 'new' && !seen.has(alarmID));
    seen = new Set(open.map(({ alarmID }) => alarmID));
    if (fresh.length > 0 && sound.get().state === 'on')
      play(fresh.some(({ priority }) => priority === 'critical'));
  });
  const timer = setInterval(() => {
    check();
    const isWaiting = [...alarms.get().values()].some(
      ({ alarmState, priority }) => alarmState === 'new' && priority === 'critical',
    );
    if (isWaiting && sound.get().state === 'on') play(true);
  }, repeatMs);
  return () => {
    leave();
    clearInterval(timer);
  };
}
