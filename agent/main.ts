#!/usr/bin/env node
// The agent's command line. What a command needs is loaded when it is given, so that the service holds no interactive command in
// memory, and a command not the service.
import { runProgram } from '../src/adapters/program.ts';
import type { Flags } from './cli/settings-file.ts';
import { parseStart } from './cli/start-line.ts';

await runProgram('fleetward-agent', async () => {
  const words = process.argv.slice(2);
  const flags = parseStart(words);
  if (flags !== null) return (await import('./cli/start.ts')).start(flags);
  const [{ createCommandLine }, { handlers, versionText }] = await Promise.all([
    import('./cli/command-line.ts'),
    import('./cli/commands.ts'),
  ]);
  const version = await versionText(words);
  const columns = Math.min(110, process.stdout.columns ?? 110);
  const start = async (given: Flags): Promise<void> => (await import('./cli/start.ts')).start(given);
  return createCommandLine(words, { start, ...handlers }, { version, columns }).parseAsync();
});
