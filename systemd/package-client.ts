// `npm run package:client`: makes the TypeScript client of the HTTP service, the npm package `@fleetward/client`, in build/client and as a
// tarball beside it; `--output DIR` makes them elsewhere. Its code is `broker/client`; routes and types of all operations are written from the operations themselves.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { type Operation, servedPaths } from '../broker/api/base/operation.ts';
import { createOpenapi } from '../broker/api/openapi.ts';
import { isKeyed } from '../broker/api/openapi-headers.ts';
import type { Route } from '../broker/client/request.ts';
import { operations } from '../broker/operations.ts';
import { readVersion } from '../src/adapters/version.ts';
import { formatOperationTypes } from './client-types.ts';

const repository = new URL('../..', import.meta.url).pathname;
const source = join(repository, 'broker/client');
const { values } = parseArgs({ options: { output: { type: 'string', default: join(repository, 'build') } } });
const output = join(values.output, 'client');

const routeOf = (operation: Operation): Route => ({
  method: operation.method,
  path: servedPaths(operation)[0] ?? '',
  isPublic: operation.access === 'public',
  isRead: !operation.effects && operation.method === 'GET',
  isKeyed: isKeyed(operation),
});

const routes = Object.fromEntries(operations.map((operation) => [operation.id, routeOf(operation)]));

/** The entry: `createClient` with the routes of this version. */
const entry = `import { clientOf } from ${JSON.stringify(join(source, 'client.ts'))};
export { randomKey } from ${JSON.stringify(join(source, 'idempotency-key.ts'))};
export { outcomeOf, ServiceError } from ${JSON.stringify(join(source, 'service-error.ts'))};
const routes = ${JSON.stringify(routes)};
/** A client of one service, for one token. */
export const createClient = (options = {}) => clientOf(options, (id) => routes[id]);
`;

const entryTypes = `import type { Client, ClientOptions } from './client.js';
export type { Client, ClientOptions, FollowInput, Given, Input, LiveMessage, PagedID } from './client.js';
export { randomKey } from './idempotency-key.js';
export * from './operations.js';
export { type Outcome, outcomeOf, ServiceError } from './service-error.js';
/** A client of one service, for one token. */
export declare function createClient(options?: ClientOptions): Client;
`;

const manifest = {
  name: '@fleetward/client',
  version: readVersion(),
  description:
    'Typed client of the HTTP service of Fleetward: calls, pages, and a live stream that loses nothing',
  license: 'Apache-2.0',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.19.0' },
  exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
  types: './types/index.d.ts',
};

async function bundle(): Promise<void> {
  const plugin = {
    name: 'entry',
    resolveId: (id: string) => (id === 'entry' ? id : null),
    load: (id: string) => (id === 'entry' ? entry : null),
  };
  const modules = await rolldown({ input: 'entry', plugins: [plugin], platform: 'neutral' });
  await modules.write({ file: join(output, 'index.js'), format: 'es' });
  await modules.close();
}

const options = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
  module: 'esnext',
  moduleResolution: 'bundler',
  strict: true,
  exactOptionalPropertyTypes: true,
  declaration: true,
  emitDeclarationOnly: true,
  allowImportingTsExtensions: true,
  rootDir: '.',
  outDir: 'declared',
};

/** Declarations of `broker/client`, compiled beside types of the operations that need nothing else, with the library of browsers alone. */
function writeTypes(): void {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-client-'));
  const types = join(output, 'types');
  try {
    for (const place of ['broker/client', 'src/core'])
      cpSync(join(repository, place), join(folder, place), { recursive: true });
    const operationTypes = formatOperationTypes(createOpenapi(operations, readVersion()));
    writeFileSync(join(folder, 'broker/client/operations.ts'), operationTypes);
    const project = { compilerOptions: options, files: ['broker/client/index.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
    const compiler = join(repository, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [compiler, '-p', folder], { stdio: 'inherit' });
    const declared = join(folder, 'declared/broker/client');
    mkdirSync(types, { recursive: true });
    for (const name of readdirSync(declared)) {
      const text = readFileSync(join(declared, name), 'utf8');
      writeFileSync(join(types, name), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
    }
    writeFileSync(join(types, 'index.d.ts'), entryTypes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
await bundle();
writeTypes();
writeFileSync(join(output, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
for (const name of ['README.md', '../../LICENSE'])
  cpSync(join(source, name), join(output, name.split('/').at(-1) ?? ''));
const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', values.output], {
  cwd: output,
  encoding: 'utf8',
});
console.log(join(values.output, packed.trim()));
