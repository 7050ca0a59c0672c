// `npm run bench -- <what>`: measures against a baseline that runs in the same minute on the same cores, prints a table, or
// JSON with `--json`. Nothing here is a test: no figure makes it fail.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { AppError } from '../../src/core/errors.ts';
import { benchAgent, sections } from './agent-bench.ts';
import { type BenchResult, formatFigures } from './agent-figures.ts';
import { benchConnections, connectionSections } from './connections-bench.ts';
import { waveNames } from './connections-storm.ts';
import { benchConsole, consoleSections } from './console-bench.ts';
import { benchHistory, historySections } from './history-bench.ts';
import { formatHistory } from './history-table.ts';
import { benchHttp, type HttpBenchResult } from './http-bench.ts';
import { benchIngest, ingestSections } from './ingest-bench.ts';
import { formatIngest } from './ingest-table.ts';
import { benchLatency } from './latency-bench.ts';
import { formatLatency } from './latency-figures.ts';
import { benchNeighbours, formatNeighbours } from './neighbours-bench.ts';
import { benchStreams } from './streams-bench.ts';
import { benchVisits } from './visits-bench.ts';
import { benchWays } from './ways-bench.ts';

function tableOf({ figures, history }: HttpBenchResult): string {
  const rows = figures.map(({ route, events, bytes, ours, bare, ratio }) =>
    [
      route.padEnd(32),
      events.toLocaleString('en').padStart(12),
      bytes.toLocaleString('en').padStart(12),
      ours.requestsPerS.toFixed(1).padStart(10),
      ours.p50Ms.toFixed(1).padStart(9),
      ours.p99Ms.toFixed(1).padStart(9),
      bare.requestsPerS.toFixed(1).padStart(10),
      ratio.toFixed(3).padStart(8),
      ours.cpuMs.toFixed(2).padStart(9),
      bare.cpuMs.toFixed(2).padStart(9),
      ours.loopMostMs.toFixed(0).padStart(8),
      String(ours.failures).padStart(6),
    ].join(' '),
  );
  const head = `${'route'.padEnd(32)} ${'events'.padStart(12)} ${'bytes'.padStart(12)} ${'ours/s'.padStart(10)} ${'p50 ms'.padStart(9)} ${'p99 ms'.padStart(9)} ${'bare/s'.padStart(10)} ${'ratio'.padStart(8)} ${'cpu ms'.padStart(9)} ${'bare cpu'.padStart(9)} ${'loop ms'.padStart(8)} ${'failed'.padStart(6)}`;
  const price = Object.entries(history).map(([route, ratio]) => `${route.padEnd(32)} ${ratio.toFixed(3)}`);
  return [
    head,
    ...rows,
    '',
    'CPU time of a request with the longest history to that with the shortest:',
    ...price,
  ].join('\n');
}

function figureTableOf(result: BenchResult): string {
  const { node, cores, loadBefore, loadAfter } = result;
  const load = `${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`;
  return `${formatFigures(result.figures)}\n\nNode ${node}, ${cores} cores, load ${load}`;
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);

await yargs(hideBin(process.argv))
  .scriptName('npm run bench --')
  .command(
    'http',
    'The HTTP service against a bare fastify route, with little and with much history',
    (parser) =>
      parser
        .option('events', {
          describe: 'Events stored, one database each',
          type: 'number',
          array: true,
          default: [1_000_000],
        })
        .option('seconds', { describe: 'Length of one run', type: 'number', default: 3 })
        .option('rounds', { describe: 'Runs of each side of a route', type: 'number', default: 3 })
        .option('only', {
          describe: 'Part of the names of the routes to measure',
          type: 'string',
          default: '',
        })
        .option('folder', {
          describe: 'Where the databases are kept (20 million events need about 6 GB)',
          type: 'string',
          default: join(tmpdir(), 'fleetward-bench'),
        })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({ events, seconds, rounds, only, folder, json }) => {
      const result = await benchHttp({ folder, histories: events, seconds, rounds, only, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : tableOf(result)}\n`);
    },
  )
  .command(
    'history',
    'Reads with a year of events behind; commits and acknowledgements beside reads and the end of a slice',
    (parser) =>
      parser
        .option('sections', {
          describe: 'What to measure',
          choices: historySections,
          array: true,
          default: historySections,
        })
        .option('store', {
          describe: 'Which database; postgres starts a server of its own, fills it and does the reads alone',
          choices: ['sqlite', 'postgres'] as const,
          default: 'sqlite' as const,
        })
        .option('events', { describe: 'Events of the year', type: 'number', default: 50_000_000 })
        .option('baseline', { describe: 'Events of the short history', type: 'number', default: 1_000_000 })
        .option('requests', { describe: 'Requests of each kind', type: 'number', default: 200 })
        .option('slices', {
          describe: 'Events of the slices that `drop` takes away',
          type: 'number',
          array: true,
          default: [1_000_000, 10_000_000],
        })
        .option('cap', { describe: 'Seconds of one drop at most', type: 'number', default: 100 })
        .option('rate', { describe: 'Events a second of `beside`', type: 'number', default: 5000 })
        .option('rounds', { describe: 'Rounds of `beside`', type: 'number', default: 2 })
        .option('folder', {
          describe:
            'Where the databases are kept (50 million events need about 7 GB and a quarter of an hour)',
          type: 'string',
          default: join(tmpdir(), 'fleetward-bench'),
        })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({
      sections,
      store,
      events,
      baseline,
      requests,
      slices,
      cap: capS,
      rate: ratePerS,
      rounds,
      folder,
      json,
    }) => {
      const what = { sections, store, events, baseline, requests, slices, capS, ratePerS, rounds };
      const result = await benchHistory({ ...what, folder, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : formatHistory(result)}\n`);
    },
  )
  .command(
    'agent',
    'The agent: bytes on the wire and on flash, memory, CPU, start, panic, and the drain of a long queue',
    (parser) =>
      parser
        .option('sections', {
          describe: 'What to measure',
          choices: sections,
          array: true,
          default: sections,
        })
        .option('minutes', {
          describe: 'Length of the footprint and of the bus',
          type: 'number',
          default: 10,
        })
        .option('poll-ms', {
          describe: 'Between two readings of the inputs in the footprint; 40 is what the profile says',
          type: 'number',
          default: 200,
        })
        .option('starts', { describe: 'Starts of each kind', type: 'number', default: 7 })
        .option('presses', { describe: 'Presses of the panic button', type: 'number', default: 40 })
        .option('queued', { describe: 'Events in a long queue', type: 'number', default: 86_400 })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false })
        .example('$0 agent --sections wire storage', 'Counts only: the same on any machine')
        .example('$0 agent --sections footprint --minutes 2', 'A quick look'),
    async ({ sections: chosen, minutes, pollMs, starts, presses, queued, json }) => {
      const result = await benchAgent({ sections: chosen, minutes, pollMs, starts, presses, queued, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : figureTableOf(result)}\n`);
    },
  )
  .command(
    'connections',
    'Connections: memory of an idle one, a storm that comes back over TLS, a client that does not read',
    (parser) =>
      parser
        .option('sections', {
          describe: 'What to measure',
          choices: connectionSections,
          array: true,
          default: connectionSections,
        })
        .option('clients', { describe: 'Connections', type: 'number', default: 10_000 })
        .option('rounds', { describe: 'Pairs of rounds of `slow`', type: 'number', default: 5 })
        .option('waves', {
          describe: 'Waves of the storms',
          choices: waveNames,
          array: true,
          default: waveNames,
        })
        .option('limit-s', { describe: 'The most that a section may take', type: 'number', default: 900 })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({ sections: chosen, clients, rounds, waves, limitS, json }) => {
      const result = await benchConnections({ sections: chosen, clients, rounds, waves, limitS, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : figureTableOf(result)}\n`);
    },
  )
  .command(
    'ingest',
    'What the broker stores and acknowledges a second, against bare aedes and against the physical path',
    (parser) =>
      parser
        .option('sections', {
          describe:
            'What to measure; bridges on PostgreSQL alone, cluster where RabbitMQ and PostgreSQL are, others where RabbitMQ and NATS are',
          choices: ingestSections,
          array: true,
          default: ['single', 'batch', 'latency', 'bridges'] as const,
        })
        .option('store', {
          describe: 'Which database; postgres starts a server of its own',
          choices: ['sqlite', 'postgres'] as const,
          default: 'sqlite' as const,
        })
        .option('database', {
          describe:
            'An SQLite file with history: a broker on a copy of it is compared with one on an empty database',
          type: 'string',
        })
        .option('seconds', { describe: 'Length of one run', type: 'number', default: 5 })
        .option('rounds', { describe: 'Runs of each side', type: 'number', default: 3 })
        .option('profile', { describe: 'Folder for CPU profiles of the broker', type: 'string' })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({ json, database = null, profile = null, sections: chosen, store, seconds, rounds }) => {
      const result = await benchIngest({ sections: chosen, store, seconds, rounds, database, profile, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : formatIngest(result)}\n`);
    },
  )
  .command(
    'latency',
    'From the HTTP request of a command to the relay of a simulated vehicle, alone and while others report',
    (parser) =>
      parser
        .option('commands', {
          describe: 'Commands of each part, 12 to each vehicle',
          type: 'number',
          default: 200,
        })
        .option('rate', {
          describe: 'Events a second of the load, one JSON event a message',
          type: 'number',
          default: 5000,
        })
        .option('clients', {
          describe: 'Connections of the load, at most 1,000',
          type: 'number',
          default: 500,
        })
        .check(({ commands, rate, clients }) => {
          const isGood = commands >= 4 && commands <= 600 && rate >= 1 && clients >= 1 && clients <= 1000;
          return isGood || '--commands takes 4 to 600, --rate 1 and more, --clients 1 to 1000';
        })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false })
        .example('$0 latency --commands 48 --rate 1000', 'A quick look'),
    async ({ commands, rate, clients, json }) => {
      const result = await benchLatency({ commands, ratePerS: rate, clients, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : formatLatency(result)}\n`);
    },
  )
  .command(
    'streams',
    'Live streams of apps beside vehicles that report: acknowledgements with and without them, memory of a stream',
    (parser) =>
      parser
        .option('streams', { describe: 'Open streams, at most 2,000', type: 'number', default: 1000 })
        .option('accounts', {
          describe: 'Accounts that vehicles and streams belong to; at most 100 streams each',
          type: 'number',
          default: 10,
        })
        .option('rate', { describe: 'Events a second', type: 'number', default: 5000 })
        .option('clients', { describe: 'Vehicles that report, at most 1,000', type: 'number', default: 500 })
        .option('seconds', { describe: 'Length of one run', type: 'number', default: 8 })
        .option('rounds', { describe: 'Pairs of runs', type: 'number', default: 2 })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({ streams, accounts, rate, clients, seconds, rounds, json }) => {
      const result = await benchStreams({ streams, accounts, ratePerS: rate, clients, seconds, rounds, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : figureTableOf(result)}\n`);
    },
  )
  .command(
    'neighbours',
    'What others notice of one cheap caller: lists, PUBACKs and webhooks of another tenant, lists of the same account',
    (parser) =>
      parser
        .option('seconds', { describe: 'Length of an attack', type: 'number', default: 8 })
        .option('only', {
          describe: 'Part of the names of the attacks to measure',
          type: 'string',
          default: '',
        })
        .option('profile', { describe: 'Folder for CPU profiles of the broker', type: 'string' })
        .option('folder', {
          describe:
            'Where the database is made; in memory (/dev/shm) the disk of a busy machine has no part in the ratios',
          type: 'string',
          default: tmpdir(),
        })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({ seconds, only, json, folder, profile = null }) => {
      const result = await benchNeighbours({ seconds, only, folder, profile, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : formatNeighbours(result)}\n`);
    },
  )
  .command(
    'console',
    'The console in Chromium: first view, panning over vehicles that drive, from commit to screen, keys, memory',
    (parser) =>
      parser
        .option('sections', {
          describe: 'What to measure',
          choices: consoleSections,
          array: true,
          default: consoleSections,
        })
        .option('vehicles', {
          describe: 'Vehicles; 10,000 of them at most have a connection',
          type: 'number',
          default: 10_000,
        })
        .option('rate', { describe: 'Reports a second', type: 'number', default: 1000 })
        .option('seconds', { describe: 'Length of panning', type: 'number', default: 60 })
        .option('minutes', { describe: 'Length of `memory`', type: 'number', default: 2 })
        .option('rounds', { describe: 'Openings of each view', type: 'number', default: 5 })
        .check(({ vehicles, rate, seconds, minutes, rounds }) => {
          const isGood = vehicles >= 1000 && vehicles <= 100_000 && rate >= 1 && rate <= 10_000;
          const isLong = seconds >= 1 && minutes > 0 && rounds >= 1;
          return (
            (isGood && isLong) || '--vehicles takes 1000 to 100000, --rate 1 to 10000; lengths are positive'
          );
        })
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false })
        .example('$0 console --vehicles 100000 --rate 5000 --sections pan', 'The largest fleet'),
    async ({ sections: chosen, vehicles, rate, seconds, minutes, rounds, json }) => {
      const lengths = { seconds, minutes, rounds };
      const result = await benchConsole({ sections: chosen, vehicles, ratePerS: rate, ...lengths, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : figureTableOf(result)}\n`);
    },
  )
  .command(
    'ways',
    'A busy tile of the ways of a month, for an account and for a caller with 200 devices; bytes stored for them',
    (parser) =>
      parser
        .option('vehicles', {
          describe: 'Vehicles that drive, at most 10,000',
          type: 'number',
          default: 10_000,
        })
        .option('requests', { describe: 'Requests of each kind', type: 'number', default: 20 })
        .check(({ vehicles }) => (vehicles >= 200 && vehicles <= 10_000) || '--vehicles takes 200 to 10000')
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({ vehicles, requests, json }) => {
      const result = await benchWays({ vehicles, requests, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : figureTableOf(result)}\n`);
    },
  )
  .command(
    'visits',
    'Who was within 200 m of a place in an hour, against a scan of all events of that hour; cost of the index',
    (parser) =>
      parser
        .option('events', {
          describe: 'Events of 10,000 vehicles, one in 10 s',
          type: 'number',
          default: 5_000_000,
        })
        .option('questions', { describe: 'Questions', type: 'number', default: 200 })
        .option('scans', {
          describe: 'Questions that are answered by a scan too',
          type: 'number',
          default: 3,
        })
        .check(
          ({ events, scans, questions }) =>
            (events >= 100_000 && scans >= 1 && questions >= scans) ||
            '--events takes 100000 or more, --scans 1 to --questions',
        )
        .option('json', { describe: 'Print JSON', type: 'boolean', default: false }),
    async ({ events, questions, scans, json }) => {
      const result = await benchVisits({ events, questions, scans, say });
      process.stdout.write(`${json ? JSON.stringify(result, null, 2) : figureTableOf(result)}\n`);
    },
  )
  .demandCommand(
    1,
    'Say what to measure: http, history, agent, connections, console, ingest, latency, neighbours, streams, visits or ways',
  )
  .strict()
  .help()
  .fail((message, thrown) => {
    const hint = thrown instanceof AppError && thrown.hint !== undefined ? `\n${thrown.hint}` : '';
    say(`${thrown?.message ?? `${message}. Try --help.`}${hint}`);
    process.exit(thrown === undefined ? 64 : 70);
  })
  .parseAsync();
