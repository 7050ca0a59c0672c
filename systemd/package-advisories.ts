// `node dist/systemd/package-advisories.js --key FILE`: signs the list of advisories and support periods (systemd/advisories.json) with the
// key of the releases (package-release.ts), as one text that `fleetward-agent status` and the page of the operator read.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createSigner } from '../src/adapters/signing.ts';
import { advisoriesType, parseAdvisories } from '../src/core/releases/advisories.ts';
import { readReleaseSigningKey } from './tools.ts';

const repository = new URL('../..', import.meta.url).pathname;

function build(input: string, keyFile: string, output: string) {
  const bytes = readFileSync(input);
  const verdict = parseAdvisories(bytes);
  if (verdict.kind === 'bad') throw new Error(`a unit would refuse ${input}: ${verdict.reason}`);
  const pem = readReleaseSigningKey(keyFile).export({ type: 'pkcs8', format: 'pem' }).toString();
  mkdirSync(output, { recursive: true });
  const path = join(output, 'advisories.jws');
  writeFileSync(path, `${createSigner(pem).sign(bytes, advisoriesType)}\n`);
  return { path, advisories: verdict.list.advisories.length, support: verdict.list.support.length };
}

try {
  const { values } = parseArgs({
    options: {
      key: { type: 'string' },
      input: { type: 'string', default: join(repository, 'systemd/advisories.json') },
      output: { type: 'string', default: join(repository, 'build') },
    },
  });
  if (values.key === undefined) throw new Error('say --key FILE, the Ed25519 key that signs the releases');
  console.log(JSON.stringify(build(values.input, values.key, values.output)));
} catch (thrown) {
  process.stderr.write(`package-advisories: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}
