// `--version`: the running release and the packaged one. An update over the air replaces the running release; the
// command line stays packaged. Without a running agent the packaged version is printed, with a newer confirmed
// release if there is one.
import { parseArgs } from 'node:util';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { compareVersions } from '../../src/core/releases/version.ts';
import { type AskAgent, askStatus, socketOf } from './status.ts';

interface VersionSources {
  /** Version of this program. */
  readonly packaged: string;
  /** The staged release that an update confirmed; null without one, or where it cannot be read. */
  readonly confirmed: () => string | null;
  readonly ask: AskAgent;
}

/** What this user may learn of the running agent. */
async function runningVersion(
  socket: string,
  ask: AskAgent,
): Promise<{ readonly version: string | null; readonly problem: string }> {
  try {
    return { version: (await askStatus(ask, socket)).version, problem: '' };
  } catch (thrown) {
    const isStopped = thrown instanceof AppError && thrown.code === 'serial';
    return { version: null, problem: isStopped ? '' : messageOf(thrown) };
  }
}

/** The output of `--version`; one JSON object with `--json`. `words` are the arguments of the command line. */
export async function formatVersion(words: readonly string[], sources: VersionSources): Promise<string> {
  const { values } = parseArgs({
    args: [...words],
    strict: false,
    options: { config: { type: 'string' }, socket: { type: 'string' }, json: { type: 'boolean' } },
  });
  const { packaged } = sources;
  const { version: running, problem } = await runningVersion(socketOf(values), sources.ask);
  const staged = running === null ? sources.confirmed() : null;
  const confirmed = staged !== null && compareVersions(staged, packaged) > 0 ? staged : null;
  if (values['json'] === true)
    return JSON.stringify({ version: running ?? packaged, running, packaged, confirmed });
  if (running !== null)
    return running === packaged ? running : `${running} (running release; packaged ${packaged})`;
  const notes = [
    ...(problem === '' ? [] : [`the running release is unknown: ${problem}`]),
    ...(confirmed === null ? [] : [`release ${confirmed} is confirmed and starts next`]),
  ];
  return notes.length === 0 ? packaged : `${packaged} (packaged; ${notes.join('; ')})`;
}
