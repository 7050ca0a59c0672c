// The yardstick of the agent's footprint and start: a Node process that loads the packages that the agent loads and nothing
// of ours. It says `ready` and idles until its standard input ends.
const packages = [
  'better-sqlite3',
  'mqtt',
  'pino',
  'serialport',
  'smol-toml',
  'typebox',
  'typebox/value',
  'yargs',
] as const;

for (const name of packages) await import(name);
process.stdin.on('end', () => process.exit(0)).resume();
console.log('ready');
