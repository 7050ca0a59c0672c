// The site of the guides as it is built: its pages, its search, its version; every link and anchor leads somewhere, and nothing is loaded from
// another host.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkout as checkoutUrl } from '../support/machine/checkout.ts';
import { requires } from '../support/machine/requires.ts';

const { missing } = requires({
  files: ['systemd/site/node_modules'],
  remedy: 'npm ci --prefix systemd/site',
});
const checkout = checkoutUrl.pathname;
const site = join(checkout, 'build/site');

describe.skipIf(missing !== null)(`the site of the guides${missing === null ? '' : ` (${missing})`}`, () => {
  let pages: ReadonlyMap<string, string>;

  beforeAll(() => {
    rmSync(site, { recursive: true, force: true });
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: join(checkout, 'systemd/site'), stdio: 'pipe' });
    const names = readdirSync(site, { recursive: true, encoding: 'utf8' });
    pages = new Map(
      names
        .filter((name) => name.endsWith('.html'))
        .map((name) => [name, readFileSync(join(site, name), 'utf8')]),
    );
  });

  const files = (ending: string): readonly string[] =>
    readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(ending));
  const idsOf = (page: string): ReadonlySet<string> =>
    new Set([...(pages.get(page) ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
  const fileOf = (path: string): string =>
    path.endsWith('/') ? `${path}index.html`.slice(1) : `${path.replace(/\.html$/, '')}.html`.slice(1);

  it('has a page for each guide, with the version of the program in its header', () => {
    const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
      version: string;
    };
    for (const name of [
      'index.html',
      'agent/index.html',
      'agent/SAFETY.html',
      'broker/api/index.html',
      'SECURITY.html',
    ])
      expect(pages.get(name), name).toContain(`Version ${version}`);
    expect(pages.get('index.html')).toMatch(/<img [^>]*src="\/assets\/live\.[\w-]+\.jpg"/);
  });

  it('leads with every link to a page and a heading that are there', () => {
    const bad = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/ href="(\/[^"#]*|)(?:#([^"]*))?"/g)]
        .filter(([, path = '']) => !path.startsWith('/assets/') && !/\.(css|js|json)$/.test(path))
        .flatMap(([, path = '', anchor]) => {
          const target = path === '' ? page : fileOf(path);
          const isThere = pages.has(target);
          const hasAnchor =
            anchor === undefined || anchor === '' || idsOf(target).has(decodeURIComponent(anchor));
          return isThere && hasAnchor ? [] : [`${page}: ${path}#${anchor ?? ''}`];
        }),
    );
    expect(bad).toEqual([]);
  });

  it('loads nothing from another host', () => {
    const loaded = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/<(?:script|link|img|iframe|source)[^>]*(?:src|href)="(?:https?:)?\/\/[^"]*"/g)].map(
        ([tag]) => `${page}: ${tag}`,
      ),
    );
    const styled = files('.css').filter((name) =>
      /url\(["']?(?:https?:)?\/\//.test(readFileSync(join(site, name), 'utf8')),
    );
    expect([loaded, styled]).toEqual([[], []]);
  });

  it('finds words of the guides without a service', () => {
    const index = files('.js').filter((name) => name.includes('localSearchIndex'));
    expect(index).toHaveLength(1);
    expect(readFileSync(join(site, index[0] ?? ''), 'utf8')).toMatch(/loop-back|loopback/i);
    expect(existsSync(join(site, 'agent/index.html'))).toBe(true);
  });
});
