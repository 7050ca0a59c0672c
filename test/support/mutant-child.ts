// One campaign in a process of its own, over code that was changed: prints the first breaches as JSON, or an empty list.
// Usage: mutant-child <mode> <lives>
import { argv } from 'node:process';
import type { CutMode } from '../../agent/core/protection/interlock-rules.ts';
import { liveHostile, noCounts } from './hostile-world.ts';

const mode: CutMode = argv[2] === 'at_standstill' ? 'at_standstill' : 'ignition_off';
const lives = Number(argv[3]);
const counts = noCounts();
let breaches: readonly string[] = [];
let seed = 0;
for (; seed < lives && breaches.length === 0; seed += 1) breaches = liveHostile(seed, mode, counts).breaches;
console.log(JSON.stringify({ lives: seed, breaches: breaches.slice(0, 1) }));
