// The command `boards`: lists the shipped board profiles with their signals, and prints one as a template. Touches no
// hardware.
import { listBoardProfiles, parseBoardProfile, readBoardProfile, readBoardText } from '../boards.ts';
import type { BoardProfile } from '../core/board/board-profile.ts';
import type { Output } from './settings-file.ts';

const namesIn = (table: object): string => Object.keys(table).join(', ') || 'none';

function describeBoard({ name, title, inputs, analogs, relays, outputs }: BoardProfile): readonly string[] {
  return [
    `${name}: ${title}`,
    `    inputs: ${namesIn(inputs)}`,
    `    analogs: ${namesIn(analogs)}`,
    `    relays: ${namesIn({ ...relays, ...outputs })}`,
  ];
}

/** Output of `fleetward-agent boards`: each profile with its inputs, analogs and relays. */
export async function listBoards(): Promise<Output> {
  const profiles = await Promise.all((await listBoardProfiles()).map(readBoardProfile));
  return { json: profiles, text: profiles.flatMap(describeBoard).join('\n') };
}

/**
 * Output of `fleetward-agent boards show`: the TOML of a profile with comments; as JSON the checked profile. Throws
 * AppError `config` with every fault of the file.
 */
export async function showBoard(nameOrPath: string): Promise<Output> {
  const text = await readBoardText(nameOrPath);
  return { json: parseBoardProfile(text, nameOrPath), text: text.trimEnd() };
}
