// The guides as a static site in build/site, from the same Markdown files where they stand: `npm run build` in systemd/site. It asks no other
// host for anything. Links are checked by `test/tidy.test.ts`, what is built by `test/system/site.test.ts`.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { posix } from 'node:path';
import { defineConfig } from 'vitepress';

const root = new URL('../../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

/** Groups of the sidebar: title, then title and file of each page. */
const guides = {
  Begin: { 'What it is': 'README.md', 'What is new': 'CHANGELOG.md' },
  Vehicle: {
    Agent: 'agent/README.md',
    Safety: 'agent/SAFETY.md',
    'Relay guard': 'agent/guard/README.md',
    'I/O boards': 'agent/boards/README.md',
  },
  Service: {
    Broker: 'broker/README.md',
    'A million vehicles': 'broker/million-vehicles.md',
    'RabbitMQ cluster': 'systemd/rabbitmq/README.md',
    Security: 'SECURITY.md',
  },
  Apps: {
    'HTTP service': 'broker/api/README.md',
    'TypeScript client': 'broker/client/README.md',
    Console: 'broker/console/README.md',
  },
  Proof: {
    Simulator: 'simulator/README.md',
    'How fast it is': 'test/load/README.md',
    Invariants: 'test/invariants.md',
    'Failures of others': 'test/failures.md',
  },
  Code: { Architecture: 'ARCHITECTURE.md', Tests: 'test/README.md' },
};
const pages = Object.values(guides).flatMap((group) => Object.values(group));

/** Vue is found from this folder only: pages and their pictures are copied into it for the build. */
function copyPages() {
  const copies = new URL('../build/pages/', import.meta.url);
  rmSync(copies, { recursive: true, force: true });
  for (const page of pages) {
    const text = readFileSync(new URL(page, root), 'utf8');
    const pictures = [...text.matchAll(/\]\(([^)#:\s]+\.(?:jpg|png|svg))\)/g)].map(([, path]) =>
      posix.join(posix.dirname(page), path),
    );
    for (const path of [page, ...pictures]) cpSync(new URL(path, root), new URL(path, copies));
  }
}

copyPages();

/** A README stands for its folder. */
const addressOf = (page) => page.replace(/README\.md$/, 'index.md');
const linkOf = (page) => `/${addressOf(page).replace(/(index)?\.md$/, '')}`;

/** Links to pages lead to their address; links to other files of the repository become plain text. */
function linkPages(md) {
  md.core.ruler.push('link-pages', ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath ?? '').replace(/^\.$/, '');
    for (const { children } of tokens) {
      let isText = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const [path = '', anchor] = (token.attrGet('href') ?? '').split('#');
          isText = false;
          if (path === '' || /^[a-z]+:/.test(path)) continue;
          const page = posix.normalize(posix.join(folder, path));
          isText = !pages.includes(page);
          token.attrSet('href', `${linkOf(page)}${anchor === undefined ? '' : `#${anchor}`}`);
        }
        if (isText && token.type.startsWith('link_'))
          Object.assign(token, { type: 'text', content: '', tag: '' });
      }
    }
  });
}

/** As GitHub makes them, so that one link serves both. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

export default defineConfig({
  title: 'Fleetward',
  description: 'Protects vehicles and their cargo',
  // No picture for the tab, and no question for one.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: 'build/pages',
  outDir: '../../build/site',
  cacheDir: 'build/cache',
  // Placeholders such as <FILE> are text.
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      md.set({ html: false });
      linkPages(md);
    },
  },
  rewrites: Object.fromEntries(pages.map((page) => [page, addressOf(page)])),
  themeConfig: {
    search: { provider: 'local' },
    nav: [{ text: `Version ${version}`, link: linkOf('CHANGELOG.md') }],
    sidebar: Object.entries(guides).map(([text, group]) => ({
      text,
      items: Object.entries(group).map(([title, page]) => ({ text: title, link: linkOf(page) })),
    })),
    outline: [2, 3],
  },
});
