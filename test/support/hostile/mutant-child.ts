// One campaign in a process of its own, over code that was changed: prints the seed and the first breach as JSON; null when nothing was
// found. Usage: mutant-child <mode> <first seed> <lives> <plain or positive> <bus or none>
import { argv } from 'node:process';
import type { CutMode } from '../../../agent/core/protection/interlock-rules.ts';
import { noCounts } from './hostile-life.ts';
import { liveHostile } from './hostile-plots.ts';

const mode: CutMode = argv[2] === 'at_standstill' ? 'at_standstill' : 'ignition_off';
const first = Number(argv[3]);
const lives = Number(argv[4]);
const setup = { mode, isPositive: argv[5] === 'positive', hasBus: argv[6] === 'bus' };
const counts = noCounts();
let breach: string | null = null;
let seed = first;
for (; seed < first + lives && breach === null; seed += 1)
  breach = liveHostile(seed, setup, counts).breaches[0] ?? null;
console.log(JSON.stringify({ seed: seed - 1, breach }));
