// The rules of the house, as tests: who may import whom, purity of the cores, one door per npm package, no cycles,
// sizes, names, and a changelog that knows the version.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const programs = ['src', 'agent', 'broker', 'simulator'];

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(path) : path.endsWith('.ts') ? [path] : [];
  });
}

const files = programs.flatMap(listFiles);
const textOf = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** What a file imports: paths from the root for our own, package names for others. `typeOnly` leaves nothing at run time. */
function importsOf(file: string): { target: string; typeOnly: boolean }[] {
  const text = textOf.get(file) ?? '';
  return [...text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm)].map(
    (match) => {
      const name = match[2] ?? '';
      return {
        target: name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
        typeOnly: match[1] !== undefined,
      };
    },
  );
}

/** The titles in a test file, as one text; comments do not count. */
function titlesOf(path: string): string {
  return readFileSync(path, 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
}

const isOwn = (target: string): boolean => programs.some((program) => target.startsWith(`${program}/`));
const isCore = (file: string): boolean => file.split('/').includes('core');
const programOf = (file: string): string => file.split('/')[0] ?? '';
/** The composition roots: what is run, and its commands. */
const isMain = (file: string): boolean => /^(agent|broker|simulator)\/(main|cli\/[a-z-]+)\.ts$/.test(file);
/** Schemas and varints: pure packages without any contact to the outside world. */
const purePackages = ['typebox', 'typebox/value', '@bufbuild/protobuf/wire'];

function faults(check: (file: string, target: string) => boolean): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter(({ target }) => !check(file, target))
      .map(({ target }) => `${file} -> ${target}`),
  );
}

describe('imports', () => {
  it('of src stay in src; agent and broker do not know each other; nobody imports tests', () => {
    const bad = faults((file, target) => {
      if (target.startsWith('test/')) return false;
      if (!isOwn(target)) return true;
      if (programOf(target) === 'src') return true;
      if (programOf(file) === programOf(target)) return true;
      return false;
    }).filter((fault) => !fault.startsWith('simulator/'));
    expect(bad).toEqual([]);
  });

  it('of the simulator take the agent by its front doors only', () => {
    const doors = [
      'agent/agent.ts',
      'agent/config.ts',
      'agent/outbox.ts',
      'agent/boards.ts',
      'agent/vehicle-record.ts',
    ];
    const bad = faults((file, target) => {
      if (programOf(file) !== 'simulator' || !isOwn(target)) return true;
      return programOf(target) === 'src' || programOf(target) === 'simulator' || doors.includes(target);
    });
    expect(bad).toEqual([]);
  });

  it('of a core stay in cores and pure packages', () => {
    const bad = faults((file, target) => {
      if (!isCore(file)) return true;
      if (isOwn(target))
        return target.startsWith('src/core/') || (isCore(target) && programOf(target) === programOf(file));
      return purePackages.includes(target);
    });
    expect(bad).toEqual([]);
  });

  it('join adapters to ports only in the composition roots', () => {
    // Adapters may use each other's types and siblings; everything else takes what it needs as a port.
    const bad = faults((file, target) => {
      if (!target.includes('/adapters/') || isMain(file) || file.includes('/adapters/')) return true;
      return programOf(file) !== programOf(target) && programOf(file) !== 'simulator';
    });
    expect(bad).toEqual([]);
  });

  it('have no cycles', () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter(({ target, typeOnly }) => isOwn(target) && !typeOnly)
          .map(({ target }) => target),
      ]),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (done.has(file) || path.includes(file)) return;
      for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('give each npm package one door in each program', () => {
    const doors = new Map<string, Set<string>>();
    for (const file of files) {
      for (const { target, typeOnly } of importsOf(file)) {
        if (isOwn(target) || target.startsWith('node:') || purePackages.includes(target) || typeOnly)
          continue;
        const name = target.startsWith('@')
          ? target.split('/').slice(0, 2).join('/')
          : (target.split('/')[0] ?? '');
        // Command lines and TOML files are read wherever a program has some.
        if (['yargs', 'smol-toml'].includes(name)) continue;
        doors.set(name, (doors.get(name) ?? new Set()).add(file));
      }
    }
    const bad = [...doors]
      .filter(([, at]) => at.size > 1)
      .map(([name, at]) => `${name}: ${[...at].join(', ')}`);
    expect(bad).toEqual([]);
  });
});

describe('files', () => {
  it('are kebab-case nouns that open with what they are for', () => {
    const bad = files.filter((file) => {
      const name = file.split('/').at(-1) ?? '';
      const text = (textOf.get(file) ?? '').replace(/^#!.*\n/, '');
      return !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name) || !text.startsWith('//');
    });
    expect(bad).toEqual([]);
  });

  it('fit in the head: at most 400 lines', () => {
    const long = files.filter((file) => (textOf.get(file) ?? '').split('\n').length > 401);
    expect(long).toEqual([]);
  });

  it('read the environment in one place only', () => {
    const bad = files.filter(
      (file) => file !== 'src/config.ts' && /process\.env\b/.test(textOf.get(file) ?? ''),
    );
    expect(bad).toEqual([]);
  });
});

describe('the changelog', () => {
  it('opens with Unreleased, and the version of package.json is either there or not released yet', () => {
    const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
    const heads = [...changelog.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(heads[0]).toBe('Unreleased');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const released = heads[1];
    expect(released === undefined ? version : released).toContain(version);
  });
});

describe('the table of failures', () => {
  const page = readFileSync(join(root, 'test/failures.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  const namedIn = (text: string): readonly (readonly [file: string, title: string])[] =>
    [...text.matchAll(/`(test\/[\w./-]+)`: "([^"]+)"/g)].map((match) => [match[1] ?? '', match[2] ?? '']);

  it('has a test for each of them', () => {
    expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(rows.map((_row, index) => index + 1));
    expect(rows.length).toBeGreaterThanOrEqual(17);
    expect(rows.filter((row) => namedIn(row).length === 0)).toEqual([]);
  });

  it('names tests that exist', () => {
    const missing = namedIn(page).filter(
      ([file, title]) => !existsSync(join(root, file)) || !titlesOf(join(root, file)).includes(title),
    );
    expect(missing).toEqual([]);
    expect(page.match(/`test\/[\w-]+\//g)).toHaveLength(namedIn(page).length);
  });
});
