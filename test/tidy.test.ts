// The rules of the code base as tests: allowed imports, pure cores, one file per npm package, no circles of files or folders, sizes, names,
// invariants and guides that name what exists, and a changelog that matches the version.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { IsObject, type TObject } from 'typebox';
import { describe, expect, it } from 'vitest';
import { agentFileSchema } from '../agent/config.ts';
import { brokerSchema } from '../broker/config/broker-config.ts';
import { operations } from '../broker/operations.ts';
import budget from './budget.json' with { type: 'json' };

const root = new URL('..', import.meta.url).pathname;
const programs = ['src', 'agent', 'broker', 'simulator'];
/** A program of its own inside of the broker's folder: the broker serves what is built of it, and imports nothing of it. */
const consoleFolder = 'broker/console/';
/** The published client, which the console uses too: it runs in browsers. */
const clientFolder = 'broker/client/';

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(path) : /\.tsx?$/.test(path) ? [path] : [];
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
/** Texts that the catalogues of `src/words` were compiled to. */
const isMade = (target: string): boolean => target.startsWith('build/words/');
const isCore = (file: string): boolean => file.split('/').includes('core') || file.startsWith('agent/guard/');
const programOf = (file: string): string =>
  file.startsWith(consoleFolder) ? 'console' : (file.split('/')[0] ?? '');
/** What of the broker the console may name: the shapes of the operations, as types only. */
const isShape = (target: string): boolean =>
  target.startsWith('broker/api/') || target === 'broker/operations.ts';
/** The composition roots: what is run, and its commands. */
const isMain = (file: string): boolean => /^(agent|broker|simulator)\/(main|cli\/[a-z-]+)\.ts$/.test(file);
/** Schemas and varints: pure packages without any contact to the outside world. */
const purePackages = ['typebox', 'typebox/value', '@bufbuild/protobuf/wire'];

function faults(check: (file: string, target: string, typeOnly: boolean) => boolean): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter(({ target, typeOnly }) => !check(file, target, typeOnly))
      .map(({ target }) => `${file} -> ${target}`),
  );
}

type Graph = ReadonlyMap<string, readonly string[]>;

/** Its folder; files in the root of a program stand for themselves. */
const folderOf = (file: string): string => (file.split('/').length > 2 ? dirname(file) : file);
/** Its room: a folder of the program with all below it; the files beside `main.ts` are one room. */
function roomOf(file: string): string {
  const [program = '', folder = ''] = file.split('/');
  return folder.endsWith('.ts') && folder !== 'main.ts' ? program : `${program}/${folder}`;
}

/** Imports between places; files with the place '' are left out. */
function graphOf(placeOf: (file: string) => string): Graph {
  const graph = new Map<string, string[]>();
  for (const file of files) {
    const place = placeOf(file);
    const targets = importsOf(file).flatMap(({ target }) => (isOwn(target) ? [placeOf(target)] : []));
    if (place !== '')
      graph.set(place, [
        ...(graph.get(place) ?? []),
        ...targets.filter((one) => one !== '' && one !== place),
      ]);
  }
  return graph;
}

function circlesOf(graph: Graph): readonly string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (place: string, path: readonly string[]): void => {
    if (path.includes(place)) circles.push([...path.slice(path.indexOf(place)), place].join(' -> '));
    if (done.has(place) || path.includes(place)) return;
    for (const target of graph.get(place) ?? []) visit(target, [...path, place]);
    done.add(place);
  };
  for (const place of graph.keys()) visit(place, []);
  return circles;
}

/** The longest chain of imports; the graph has no circle. */
function deepestOf(graph: Graph): readonly string[] {
  const known = new Map<string, readonly string[]>();
  const chainOf = (place: string): readonly string[] => {
    const before = known.get(place);
    if (before !== undefined) return before;
    known.set(place, [place]);
    const below = (graph.get(place) ?? []).map(chainOf);
    const longest = below.reduce<readonly string[]>(
      (best, one) => (one.length > best.length ? one : best),
      [],
    );
    known.set(place, [place, ...longest]);
    return [place, ...longest];
  };
  return [...graph.keys()]
    .map(chainOf)
    .reduce<readonly string[]>((best, one) => (one.length > best.length ? one : best), []);
}

const brokerServices = ['audit', 'commands', 'devices', 'ingest', 'live', 'notify', 'rollout', 'upkeep'];

/** What screens of the console are made of. */
const consoleFramework = [
  'react',
  'react-dom',
  'react-aria-components',
  '@tanstack/react-query',
  '@tanstack/react-router',
];

/** Files that reach the disk, the network or processes by themselves, although no adapter. Remove, never add. */
const outsideAdapters: readonly string[] = [
  'agent/boards.ts',
  'agent/outbox/file/damaged-files.ts',
  'agent/outbox/file/outbox-file.ts',
  'agent/outbox/file/outbox-reading.ts',
  'agent/outbox/file/outbox-reserve.ts',
  'agent/outbox/recovery/outbox-rescue.ts',
  'simulator/bench/control-server.ts',
  'simulator/bench/hardware-command.ts',
  'simulator/broker-process.ts',
  'simulator/demo/demo-setup.ts',
  'simulator/demo/demo.ts',
  'simulator/demo/file-log.ts',
  'simulator/end-with-parent.ts',
  'simulator/hardware/pty.ts',
  'simulator/run/control-socket.ts',
  'simulator/run/fleet/agent-starter.ts',
  'simulator/run/fleet/tracker.ts',
  'simulator/run/fleet/vehicle-disk.ts',
  'simulator/run/link/link-proxy.ts',
  'simulator/run/own-broker.ts',
  'simulator/run/run.ts',
  'simulator/run/service/http.ts',
  'simulator/run/service/record.ts',
  'simulator/run/workers/worker-process.ts',
  'simulator/scenario-files.ts',
];

describe('imports', () => {
  it('of src stay in src; agent and broker do not know each other; no program imports tests', () => {
    const bad = faults((file, target) => {
      if (target.startsWith('test/')) return false;
      if (!isOwn(target)) return true;
      if (programOf(target) === 'src') return true;
      return programOf(file) === programOf(target);
    }).filter((fault) => !fault.startsWith('simulator/') && !fault.startsWith(consoleFolder));
    expect(bad).toEqual([]);
  });

  it('of the client are its own files, src/core, and types of the operations', () => {
    const bad = faults(
      (file, target, typeOnly) =>
        !file.startsWith(clientFolder) ||
        target.startsWith(clientFolder) ||
        target.startsWith('src/core/') ||
        (typeOnly && (target === 'broker/operations.ts' || target === 'typebox')),
    );
    expect(bad).toEqual([]);
  });

  it('of the console are its own files, the client, src/core, and types of the operations; no program imports the console', () => {
    const bad = files.flatMap((file) =>
      importsOf(file)
        .filter(({ target, typeOnly }) => {
          if (programOf(target) === 'console') return programOf(file) !== 'console';
          if (programOf(file) !== 'console' || !isOwn(target)) return false;
          if (target.startsWith(clientFolder)) return false;
          return !target.startsWith('src/core/') && !(typeOnly && isShape(target));
        })
        .map(({ target }) => `${file} -> ${target}`),
    );
    expect(bad).toEqual([]);
  });

  it('of the console load every part that shows words together with its words', () => {
    // The page of a share link has one small catalogue, which it waits for before it shows anything.
    const bad = files
      .filter((file) => file.startsWith(consoleFolder) && !file.startsWith(`${consoleFolder}share/`))
      .flatMap((file) =>
        [...(textOf.get(file) ?? '').matchAll(/(\w*)\(?import\('[^']+\.tsx'\)/g)]
          .filter(([, around]) => around !== 'withWords')
          .map(([text]) => `${file}: ${text}`),
      );
    expect(bad).toEqual([]);
  });

  it('of the state of the console are pure: no library, no screen', () => {
    const bad = faults(
      (file, target) =>
        !file.startsWith(`${consoleFolder}state/`) ||
        target.startsWith(`${consoleFolder}state/`) ||
        target.startsWith('src/core/') ||
        target === `${consoleFolder}api/operations.ts`,
    );
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
      return purePackages.includes(target) || isMade(target);
    });
    expect(bad).toEqual([]);
  });

  it('of adapters stand in composition roots and in other adapters only', () => {
    const bad = faults(
      (file, target) => !target.includes('/adapters/') || isMain(file) || file.includes('/adapters/'),
    );
    expect(bad).toEqual([]);
  });

  it('of files, sockets and processes stand in adapters, composition roots and a list that only shrinks', () => {
    const outside = /^node:(fs|fs\/promises|net|http|https|tls|dgram|dns|child_process)$/;
    const bad = files.filter(
      (file) =>
        !file.includes('/adapters/') &&
        !isMain(file) &&
        importsOf(file).some(({ target }) => outside.test(target)),
    );
    expect(bad).toEqual(outsideAdapters);
  });

  it('make no circle of files, type imports included', () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter(({ target }) => isOwn(target))
          .map(({ target }) => target),
      ]),
    );
    expect(circlesOf(graph)).toEqual([]);
  });

  it('make no circle of folders', () => {
    expect(circlesOf(graphOf(folderOf))).toEqual([]);
  });

  it('of a broker service name no other service: they meet in broker.ts and services.ts', () => {
    const serviceOf = (path: string): string => /^broker\/([a-z]+)\//.exec(path)?.[1] ?? '';
    const bad = faults((file, target) => {
      const [from, to] = [serviceOf(file), serviceOf(target)];
      return !(brokerServices.includes(from) && brokerServices.includes(to)) || from === to;
    });
    expect(bad).toEqual([]);
  });

  it('of a feature are the kernel; the kernel imports features by their list only', () => {
    const featureOf = (path: string): string => /^broker\/features\/([\w-]+)\//.exec(path)?.[1] ?? '';
    const listed = ['migrations', 'operations', 'services'].map((name) => `broker/${name}.ts`);
    const bad = faults((file, target) => {
      if (target === 'broker/features.ts') return listed.includes(file) || isMain(file);
      if (featureOf(target) === '') return true;
      return featureOf(file) === featureOf(target) || file === 'broker/features.ts';
    });
    expect(bad).toEqual([]);
  });

  it.each(['agent', 'broker', 'simulator'])('of %s stand at most eight rooms deep', (program) => {
    const graph = graphOf((file) => (programOf(file) === program ? roomOf(file) : ''));
    expect(deepestOf(graph).length, deepestOf(graph).join(' -> ')).toBeLessThanOrEqual(8);
  });

  it('of an npm package stand in one file of each program', () => {
    const doors = new Map<string, Set<string>>();
    for (const file of files) {
      for (const { target, typeOnly } of importsOf(file)) {
        if (
          isOwn(target) ||
          isMade(target) ||
          target.startsWith('node:') ||
          purePackages.includes(target) ||
          typeOnly
        )
          continue;
        const name = target.startsWith('@')
          ? target.split('/').slice(0, 2).join('/')
          : (target.split('/')[0] ?? '');
        // Command lines and TOML files are read wherever a program has some.
        if (['yargs', 'smol-toml'].includes(name)) continue;
        // A screen is made of its framework; what else the console loads stands in one file.
        if (programOf(file) === 'console' && consoleFramework.includes(name)) continue;
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
  it('are at most 20 in a folder', () => {
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
    expect([...sizes].filter(([, count]) => count > 20)).toEqual([]);
  });

  it('say nothing in riddles: names and heads hold none of the words that STYLE bans', () => {
    const banned =
      /^(told|tells?|news|hears?|heard|hands?|deeds?|wish(es)?|journeys?|whoever|nobody|somebody|takers?|mortal)$/;
    const wordsOf = (text: string): readonly string[] =>
      text
        .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
        .toLowerCase()
        .split(/[^a-z]+/);
    const bad = files.flatMap((file) => {
      const text = (textOf.get(file) ?? '').replace(/^#!.*\n/, '');
      const head = /^(\/\/.*\n)+/.exec(text)?.[0] ?? '';
      const exported = [
        ...text.matchAll(/^export (?:async )?(?:const|function|interface|type|class) (\w+)/gm),
      ];
      const said = [file.split('/').at(-1) ?? '', head, ...exported.map(([, name = '']) => name)];
      return said
        .flatMap(wordsOf)
        .filter((word) => banned.test(word))
        .map((word) => `${file}: ${word}`);
    });
    expect(bad).toEqual([]);
  });

  it('hold no identifier of the words that were replaced', () => {
    const banned =
      /^(un)?told$|^(tells?|news|strangers?|honest|scenes?|wish(es)?|hears?|heard|deeds?|journeys?|whoever|nobody|somebody|takers?|mortal)$/;
    // Stored or published: the level last reported in the fuel memory, an attribute of people's inventory.
    const published = ['agent/core/fuel/fuel-memory.ts: told', 'agent/core/alarms/people.ts: untold'];
    const identifiersOf = (text: string): readonly string[] =>
      text
        .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$| \/\/ .*$/gm, '')
        .replaceAll(/'[^'\n]*'/g, '')
        .replaceAll(/`[^`]*`/g, (template) => [...template.matchAll(/\$\{[^}]*\}/g)].join(' '))
        .match(/[A-Za-z_]\w*/g) ?? [];
    const bad = files.flatMap((file) =>
      identifiersOf(textOf.get(file) ?? '')
        .flatMap((name) =>
          name
            .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
            .toLowerCase()
            .split(/[ _]/),
        )
        .filter((word) => banned.test(word))
        .map((word) => `${file}: ${word}`),
    );
    expect([...new Set(bad)].filter((one) => !published.includes(one))).toEqual([]);
  });

  it('are kebab-case nouns that open with what they are for', () => {
    const bad = files.filter((file) => {
      const name = file.split('/').at(-1) ?? '';
      const text = (textOf.get(file) ?? '').replace(/^#!.*\n/, '');
      const isNamed = /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name);
      const isOfConsole =
        programOf(file) === 'console' && /^[a-z0-9]+(-[a-z0-9]+)*(\.tsx|\.d\.ts|\.config\.ts)$/.test(name);
      return (!isNamed && !isOfConsole) || !text.startsWith('//');
    });
    expect(bad).toEqual([]);
  });

  it('of tests replace a module of the product in a process of their own only', () => {
    const config = readFileSync(join(root, 'test/vitest.config.ts'), 'utf8');
    const listed = /const replacing = \[([^\]]*)\]/.exec(config)?.[1] ?? '';
    const replaces = /^ *vi\.(mock|doMock)\(/m;
    const found = listFiles('test').filter((file) => replaces.test(readFileSync(join(root, file), 'utf8')));
    expect(found).toEqual([...listed.matchAll(/'([^']+)'/g)].map(([, file]) => file));
  });

  it('have at most 400 lines', () => {
    const long = files.filter((file) => (textOf.get(file) ?? '').split('\n').length > 401);
    expect(long).toEqual([]);
  });

  it('outside of the browser make no timeout a source of another signal: in Node nothing holds it, and it never fires', () => {
    const bad = files.filter((file) => {
      const code = (textOf.get(file) ?? '').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
      return (
        !file.startsWith(consoleFolder) &&
        code.includes('AbortSignal.any') &&
        code.includes('AbortSignal.timeout')
      );
    });
    expect(bad).toEqual([]);
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

describe('the scripts of package.json', () => {
  it('that name a file of the system tests find it in whichever of the two projects it stands', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Readonly<Record<string, string>>;
    };
    const bad = Object.entries(scripts).filter(
      ([, script]) => script.includes(' test/system/') && !script.includes("--project 'system*'"),
    );
    expect(bad).toEqual([]);
  });
});

describe('the invariants', () => {
  const rowsOf = (page: string): readonly string[] =>
    readFileSync(join(root, page), 'utf8')
      .split('\n')
      .filter((line) => /^\| A\d+ \|/.test(line));
  const tests = new Set(listFiles('test').map((file) => file.split('/').at(-1)));
  const rows = rowsOf('test/invariants.md');

  it('have numbers that ascend, and each a test or script that exists', () => {
    const numbers = rows.map((row) => Number(/\d+/.exec(row)?.[0]));
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
    const named = rows.map((row) => row.split('|').at(-2) ?? '');
    const missing = named.flatMap((cell) =>
      [...cell.matchAll(/`(?:[\w./-]*\/)?([\w-]+\.test\.ts)`/g)].flatMap(([, name]) =>
        tests.has(name) ? [] : [name],
      ),
    );
    expect(missing).toEqual([]);
    expect(named.filter((cell) => !/\.test\.ts`|npm run /.test(cell))).toEqual([]);
  });

  it('of the whole system are twelve of them, in the same words', () => {
    const twelve = rowsOf('ARCHITECTURE.md');
    expect(twelve).toHaveLength(12);
    expect(twelve.filter((row) => !rows.includes(row))).toEqual([]);
  });
});

describe('the guides', () => {
  const guides = ['', 'agent/', 'broker/', 'simulator/', 'src/', 'systemd/', 'test/'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== '', encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !/(node_modules|site\/build)\//.test(name))
      .map((name) => `${folder}${name}`),
  );
  const pathsOf = (guide: string): readonly string[] => {
    const text = readFileSync(join(root, guide), 'utf8');
    const named = [...text.matchAll(/`((?:agent|broker|simulator|src|test|systemd)\/[\w./-]+)`/g)];
    const linked = [...text.matchAll(/\]\((?!http)([^)#]+)(?:#[^)]*)?\)/g)];
    return [
      ...named.map(([, path = '']) => path),
      ...linked.map(([, path = '']) => normalize(join(dirname(guide), path))),
    ];
  };

  it.each(guides)('%s names and links only what exists', (guide) => {
    expect(pathsOf(guide).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  /** The anchors of a page, as GitHub and the site make them of its headings. */
  const anchorsOf = (page: string): ReadonlySet<string> => {
    const anchors = new Set<string>();
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '');
    for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
      const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
      const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
      let nth = 0;
      while (anchors.has(nth === 0 ? anchor : `${anchor}-${nth}`)) nth += 1;
      anchors.add(nth === 0 ? anchor : `${anchor}-${nth}`);
    }
    return anchors;
  };

  it.each(guides)('%s links only to headings that exist', (guide) => {
    const text = readFileSync(join(root, guide), 'utf8').replaceAll(/^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm, '');
    const bad = [...text.matchAll(/\]\((?!http)([^)#\s]*)#([^)\s]+)\)/g)]
      .map(([, path = '', anchor = '']) => [normalize(join(dirname(guide), path)), anchor] as const)
      .map(([page, anchor]) => [page.endsWith('.md') ? page : guide, anchor] as const)
      .filter(([page, anchor]) => !existsSync(join(root, page)) || !anchorsOf(page).has(anchor));
    expect(bad.map(([page, anchor]) => `${page}#${anchor}`)).toEqual([]);
  });

  it('begin at a README of at most 150 lines', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(151);
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

describe('the budget', () => {
  const sourcesOf = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((path) => /\.(tsx?|mjs)$/.test(path) && !path.includes('/node_modules/'));
  const linesOf = (paths: readonly string[]): number =>
    paths.reduce((sum, path) => sum + readFileSync(join(root, path), 'utf8').split('\n').length - 1, 0);
  const settingsOf = (schema: TObject): number =>
    Object.values(schema.properties).reduce<number>(
      (sum, member) => sum + (IsObject(member) ? settingsOf(member) : 1),
      0,
    );
  const ofConsole = sourcesOf('broker/console');
  const pack = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const now: Readonly<Record<keyof typeof budget, number>> = {
    'lines of agent': linesOf(sourcesOf('agent')),
    'lines of broker without console': linesOf(sourcesOf('broker')) - linesOf(ofConsole),
    'lines of console': linesOf(ofConsole),
    'lines of simulator': linesOf(sourcesOf('simulator')),
    'lines of src and systemd': linesOf([...sourcesOf('src'), ...sourcesOf('systemd')]),
    'lines of tests': linesOf(sourcesOf('test')),
    operations: operations.length,
    settings: settingsOf(agentFileSchema) + settingsOf(brokerSchema),
    'npm scripts': Object.keys(pack.scripts).length,
  };

  // A commit that raises one says why. 1 %: small changes need no edit, and what was won is not spent again.
  it.each(Object.entries(budget))('%s: at most %d', (name, most) => {
    const count = now[name as keyof typeof budget];
    expect(count).toBeLessThanOrEqual(most);
    expect(count).toBeGreaterThanOrEqual(Math.floor(most * 0.99));
  });
});
