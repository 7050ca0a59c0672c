// The console bench: the console in Chromium on a real broker with a fleet that reports, each figure beside its goal and, where there is one, beside
// what the same page costs without vehicles or without the console.
import { type BenchResult, type Figure, formatFigures, onMachine } from './agent-figures.ts';
import { createConsoleRig } from './console-rig.ts';
import {
  type ConsoleBenchOptions,
  measureCommits,
  measureKeys,
  measureMemory,
  measurePanning,
  measureViews,
} from './console-sections.ts';

const measures = {
  view: measureViews,
  pan: measurePanning,
  commit: measureCommits,
  keys: measureKeys,
  memory: measureMemory,
} as const;

export type ConsoleSection = keyof typeof measures;
export const consoleSections = Object.keys(measures) as readonly ConsoleSection[];

export const benchConsole = (
  options: ConsoleBenchOptions & { readonly sections: readonly ConsoleSection[] },
): Promise<BenchResult> =>
  onMachine(async () => {
    const rig = await createConsoleRig(options.vehicles, options.say);
    const figures: Figure[] = [];
    try {
      for (const section of consoleSections.filter((one) => options.sections.includes(one))) {
        const found = await measures[section](rig, options);
        // A run takes minutes: what is known is said at once.
        options.say(formatFigures(found));
        figures.push(...found);
      }
      return figures;
    } finally {
      await rig.close();
    }
  });
