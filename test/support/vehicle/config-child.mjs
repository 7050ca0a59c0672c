// A process that writes the two slots of a configuration in turn until it is killed, and prints each number once it is
// durable: contents of very different lengths, so that a torn one would show.
import { writeSync } from 'node:fs';
import { createConfigFiles } from '../../../dist/agent/adapters/config-files.js';

const [folder, from] = process.argv.slice(2);
const store = createConfigFiles(folder);
writeSync(1, 'open\n');
for (let number = Number(from); ; number++) {
  const slot = number % 2 === 0 ? 'a' : 'b';
  const text = JSON.stringify({ number, filling: 'x'.repeat((number * 7919) % 200_000) });
  await store.write(slot, new TextEncoder().encode(text));
  writeSync(1, `${number}\n`);
}
