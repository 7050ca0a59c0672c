// The copyright file of the package: our licence by name, that of Node, and those of
// all npm packages that are in it, in full.
import { createHash } from 'node:crypto';
import type { Bundled } from './app-tree.ts';

/** Standard texts of packages that name a licence and bring no file. */
const bareTexts: Readonly<Record<string, string>> = {
  MIT: `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and
this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS
PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT
HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING
FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
};

/** Licences that allow what we do with the packages; any other stops the build until a person has looked at it. */
const allowed = [
  '(BSD-3-Clause AND Apache-2.0)',
  '(Apache-2.0 AND BSD-3-Clause)',
  '(MIT OR Apache-2.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  // As permissive as MIT, and with a grant of patents: opensource.org/license/blue-oak-model-license.
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
];

function textOf(bundled: Bundled): string {
  if (bundled.texts.length > 0) return bundled.texts.join('\n\n');
  const text = bareTexts[bundled.licence];
  if (text === undefined) throw new Error(`${bundled.name} brings no licence text for ${bundled.licence}`);
  return text;
}

export interface CopyrightOptions {
  /** Such as `Fleetward agent`. */
  readonly title: string;
  readonly node: { readonly version: string; readonly licence: string };
  readonly bundled: readonly Bundled[];
}

/** Throws when a package's licence is not one that people have allowed, or its text is nowhere. */
export function formatCopyright({ title, node, bundled }: CopyrightOptions): string {
  const bad = bundled.find(({ licence }) => !allowed.includes(licence));
  if (bad !== undefined)
    throw new Error(`${bad.name} has the licence ${bad.licence}, which nobody has allowed yet`);
  const groups = new Map<string, { names: string[]; text: string }>();
  for (const one of bundled) {
    const text = textOf(one);
    const key = createHash('sha256').update(text.replace(/\s+/g, ' ')).digest('hex');
    const group = groups.get(key) ?? { names: [], text };
    group.names.push(`${one.name} ${one.version} (${one.licence})`);
    groups.set(key, group);
  }
  const rule = '-'.repeat(100);
  const parts = [...groups.values()].map(
    ({ names, text }) =>
      `${rule}\nnode_modules: ${[...new Set(names)].sort().join(', ')}\n${rule}\n\n${text}\n`,
  );
  return `${title}\nCopyright the Fleetward contributors\nLicence: Apache-2.0, whose text is in /usr/share/common-licenses/Apache-2.0

The package contains the ${title}, Node.js ${node.version}, and ${bundled.length} npm packages. The licences of all of them:

${rule}\nNode.js ${node.version} and what it contains\n${rule}\n\n${node.licence.trim()}\n\n${parts.join('\n')}`;
}
