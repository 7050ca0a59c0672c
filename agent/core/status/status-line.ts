// One line of the status, and what its parts share. Pure.
import { dayS, hourS } from '../../../src/core/durations.ts';
import type { StatusLine } from '../kernel/module.ts';
import type { AgentFacts } from './agent-facts.ts';
import type { PortStatus } from './status.ts';

const minuteS = 60;

/** A duration for display: `8 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function formatSpan(spanS: number | null): string {
  if (spanS === null) return 'an unknown time';
  if (spanS < 2 * minuteS) return `${Math.round(spanS)} s`;
  if (spanS < 2 * hourS) return `${Math.floor(spanS / minuteS)} min`;
  const [high, low, highWord, lowWord] =
    spanS < 2 * dayS ? [hourS, minuteS, 'h', 'min'] : [dayS, hourS, 'd', 'h'];
  return `${Math.floor(spanS / high)} ${highWord} ${Math.floor((spanS % high) / low)} ${lowWord}`;
}

/** For this long after a start what is not known yet is being read, and no fault, seconds. */
const startS = 10;

export const isStarting = ({ upS }: Pick<AgentFacts, 'upS'>): boolean => upS < startS;

/** What is not known yet just after a start. */
export const starting = (name: string, words: string): StatusLine => ({
  level: 'note',
  name,
  words: `starting: ${words}`,
  todo: '',
});

/** A port that is not open. */
export function portLine(
  name: string,
  { path, state, reason, attempts }: PortStatus,
  upS: number,
): StatusLine {
  if (isStarting({ upS }) && attempts <= 1 && (state === 'opening' || attempts === 0))
    return starting(name, `${path} is being opened`);
  const tried = attempts > 1 ? `, ${attempts} tries` : '';
  const words = `${path} is not open: ${reason === '' ? 'unknown' : reason}${tried}`;
  return {
    level: 'fault',
    name,
    words,
    todo: 'Check cable and port; stop the agent and run `fleetward-agent doctor`.',
  };
}
