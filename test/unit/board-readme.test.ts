// The page of the board profile format: it names every table and member of the schema, its example is a sound profile, and the
// command `boards` prints what an installer copies.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { listBoardProfiles, parseBoardProfile, readBoardProfile } from '../../agent/boards.ts';
import { listBoards, showBoard } from '../../agent/cli/boards.ts';
import {
  type BoardOverrides,
  boardOverridesSchema,
  boardProfileSchema,
  proofOf,
} from '../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const page = readFileSync(new URL('../../agent/boards/README.md', import.meta.url), 'utf8');

/** Names of all members of a schema, at any depth. */
function membersOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return [...own, ...Object.values(schema).flatMap(membersOf)];
}

const folder = temporaryFolder('boards');
const path = join(folder, 'my-board.toml');

describe('the page of the profile format', () => {
  it('names every table and member of a profile and of the overrides', () => {
    const members = new Set([...membersOf(boardProfileSchema), ...membersOf(boardOverridesSchema)]);
    const isNamed = (name: string): boolean =>
      [`\`${name}\``, `\`[${name}]\``, `\`[[${name}]]\``, `{ ${name} }`].some((form) => page.includes(form));
    expect([...members].filter((name) => !isNamed(name))).toEqual([]);
  });

  it('shows an example that passes the checks', () => {
    const example = /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    expect(parseBoardProfile(example, 'README.md')).toMatchObject({ name: 'my-board' });
  });
});

describe('the page of the wires that prove', () => {
  it('shows overrides that a profile takes', async () => {
    const [, section = ''] = page.split('## Wires that prove');
    const example = /```\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
    const { board } = parse(example) as { board: { overrides: BoardOverrides } };
    const verdict = applyOverrides(await readBoardProfile('generic'), board.overrides);
    if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
    expect(proofOf(verdict.profile, 'ignition')).toEqual({
      isAntivalent: true,
      hasLife: true,
      hasLoopback: true,
    });
  });
});

describe('the command boards', () => {
  it('lists each profile with its inputs, analogs and relays', async () => {
    const { text, json } = await listBoards();
    expect(json).toHaveLength((await listBoardProfiles()).length);
    expect(text).toContain(
      'adam-4150: Advantech ADAM-4150: 7 inputs, 8 outputs (open collector)\n' +
        '    inputs: ignition, panic, cabinDoor, cargoDoor\n' +
        '    analogs: none\n' +
        '    relays: enginecutoff, cargoaccess\n',
    );
  });

  it('prints a profile that can be saved, named by its path and read again', async () => {
    const shown = await showBoard('generic');
    writeFileSync(path, `${shown.text}\n`);
    expect(await readBoardProfile(path)).toEqual(shown.json);
    expect(await readBoardProfile(path)).toEqual(await readBoardProfile('generic'));
    expect(await showBoard(path)).toEqual(shown);
  });

  it('names every fault of an own file', async () => {
    const { text } = await showBoard('generic');
    writeFileSync(path, text.replace(', invert = false, debounceMs = 300', '').replace('baudRate', 'baud'));
    await expect(showBoard(path)).rejects.toThrow(
      /my-board\.toml is wrong: .*unknown key "baud".*\/inputs\/ignition: members are missing: invert, debounceMs/,
    );
  });
});
