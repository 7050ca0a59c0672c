// The relay guard as a filter of JSON lines, for an oracle that is written from `agent/guard/README.md` in another language: reads steps and prints
// answers, or writes random steps. `node test/guard-lines.mjs < steps`; `node test/guard-lines.mjs --seed 7 --steps 1000`.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const { module } = await runnerImport(new URL('support/guard/guard-lines.ts', import.meta.url).pathname);
const { values } = parseArgs({ options: { seed: { type: 'string' }, steps: { type: 'string' } } });

/** Waits for a reader that is slower. */
async function say(line) {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}

if (values.seed === undefined) {
  const answer = module.createLineGuard();
  for await (const line of createInterface({ input: process.stdin })) {
    const said = answer(JSON.parse(line));
    if (said !== null) await say(said);
  }
} else for (const line of module.randomLines(values.seed, Number(values.steps ?? 1000))) await say(line);
