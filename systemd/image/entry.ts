#!/usr/bin/env node
// What the image starts. Nothing, or options only: the broker, with its state in /data. `demo`: the practice fleet. `backup`: a checked
// copy of the database each day. `broker` and `simulator`: those programs with all of their commands. `healthy`: is the service ready?
import { runDailyBackup } from './daily-backup.ts';
import { forwardToLoopback } from './forward.ts';
import { isReady } from './health.ts';

interface Plan {
  readonly program: 'broker' | 'simulator';
  readonly args: readonly string[];
}

function planOf(args: readonly string[]): Plan | null {
  const [first = '', ...rest] = args;
  if (first === '' || first.startsWith('-')) return { program: 'broker', args: ['start', ...args] };
  if (first === 'demo') return { program: 'simulator', args: ['demo', '--state', '/data/demo', ...rest] };
  return first === 'broker' || first === 'simulator' ? { program: first, args: rest } : null;
}

async function runPlan({ program, args }: Plan): Promise<void> {
  process.argv.splice(2, process.argv.length, ...args);
  if (program === 'broker') await import('../../broker/main.ts');
  else await import('../../simulator/main.ts');
}

const [word, ...rest] = process.argv.slice(2);
const planned = planOf(process.argv.slice(2));
if (word === 'healthy') process.exit((await isReady(process.env)) ? 0 : 1);
else if (word === 'backup') await runDailyBackup(rest);
else if (planned !== null) {
  if (word === 'demo' && !rest.includes('--http-port')) forwardToLoopback(8080);
  await runPlan(planned);
} else {
  const most = 'Give nothing (the broker), demo, backup, broker or simulator.';
  process.stderr.write(`There is no command ${JSON.stringify(word)} in this image. ${most}\n`);
  process.exit(64);
}
