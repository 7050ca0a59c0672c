// Shows each change of each input while an installer works at the vehicle, until the installer ends it. It reads only.
import type { AgentConfig } from '../config.ts';
import { pollRequest } from '../core/board/board-profile.ts';
import { openBus } from './bus.ts';
import { type InputSight, inputPolls, lifeAfter, rawText, sightsOf } from './input-sights.ts';
import type { DoctorPorts } from './ports.ts';

const watchLimits = {
  /** Answers that are missing in a row until the inputs of a poll are unknown. */
  misses: 3,
  /** Between two rounds of all polls, ms. */
  pauseMs: 20,
} as const;

export interface WatchOptions {
  readonly config: Pick<AgentConfig, 'profile' | 'boardPort'>;
  readonly ports: Pick<DoctorPorts, 'clock' | 'openByteLink'>;
  /** An input is seen for the first time, or its bits or its meaning changed. */
  onChange(sight: InputSight, atMs: number): void;
  isStopped(): boolean;
}

/** Reads all inputs round by round until it is stopped. @throws AppError `serial` when the port does not open. */
export async function watchInputs({ config, ports, onChange, isStopped }: WatchOptions): Promise<void> {
  const { profile, boardPort } = config;
  const { clock } = ports;
  const bus = await openBus(boardPort, ports);
  const startMs = clock.monoMs();
  const shown = new Map<string, string>();
  const misses = new Map<string, number>();
  let life: boolean | null = null;
  const look = async (name: string): Promise<void> => {
    const poll = profile.polls[name];
    const request = poll === undefined ? null : pollRequest(profile, poll);
    if (request === null) return;
    const result = await bus.ask(request);
    const values = result.kind === 'ok' ? result.values : null;
    const missed = values === null ? (misses.get(name) ?? 0) + 1 : 0;
    misses.set(name, missed);
    if (missed > 0 && missed < watchLimits.misses) return;
    for (const sight of sightsOf(profile, name, { values, life })) {
      const text = JSON.stringify(sight);
      if (shown.get(sight.input) === text) continue;
      shown.set(sight.input, text);
      onChange(sight, clock.monoMs() - startMs);
    }
    life = lifeAfter(profile, name, { values, life });
  };
  try {
    while (!isStopped()) {
      for (const name of inputPolls(profile)) if (!isStopped()) await look(name);
      await new Promise<void>((resolve) => void clock.after(watchLimits.pauseMs, resolve));
    }
  } finally {
    await bus.close();
  }
}

/** One change as a line of text. */
export function changeLine(sight: InputSight, atMs: number): string {
  const seconds = (atMs / 1000).toFixed(1).padStart(7);
  return `${seconds} s  ${sight.input.padEnd(13)} ${sight.reading.padEnd(7)}  ${rawText(sight)}`;
}

/** One change as a line of JSON. */
export function changeJson(sight: InputSight, atMs: number): string {
  return JSON.stringify({ atS: Math.round(atMs) / 1000, ...sight });
}
