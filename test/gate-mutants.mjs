// The proof of the gate: a copy of this checkout with one fault against a promise must fail `npm test`. One that passes unseen is a failing
// step of the nightly tier. `node test/gate-mutants.mjs leak` tries those whose name contains a word.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const plan = 'broker/ingest/event-decisions.ts';

/** The copy itself must pass, or its failures would say nothing. */
const sound = {
  fault: 'no fault',
  file: plan,
  find: 'return { fresh: work.events, again: nothing };',
  put: 'return { fresh: work.events, again: nothing };',
};

/** One edit of the sources each; `find` stands there exactly once. */
const faults = [
  {
    fault: 'a moving vehicle is cut',
    file: 'agent/core/protection/interlock.ts',
    find: 'return verdictOf(findings.map((finding) => inUtc(finding, evidence)));',
    put: 'return verdictOf(findings.map((finding) => ({ ...inUtc(finding, evidence), isMet: true })));',
  },
  {
    fault: 'the relay is ordered once more after the proof was withdrawn',
    file: 'agent/core/protection/interlock.ts',
    find: 'const first = change.isOnTheWay === true ? [] : preconditions(change, evidence);',
    put: 'if (Boolean(change.isOnTheWay)) return nothing;\n  const first = preconditions(change, evidence);',
  },
  {
    fault: 'the broker drops one event in 17',
    file: plan,
    find: 'return { fresh: work.events, again: nothing };',
    put: 'return { fresh: work.events.filter(({ seq }) => seq % 17 !== 0), again: nothing };',
  },
  {
    fault: 'the broker stores an event twice that comes twice',
    file: plan,
    find: 'if (seen.has(event.seq) || isStored(stored, event.seq)) again.push(event);',
    put: 'if (seen.has(event.seq) || isStored({ ...stored, ranges: [], upTo: 0 }, event.seq)) again.push(event);',
  },
  {
    fault: 'the broker stores a batch in reverse order',
    file: plan,
    find: 'return { fresh: work.events, again: nothing };',
    put: 'return { fresh: work.events.toReversed(), again: nothing };',
  },
  {
    fault: 'the agent deletes one event more than was acknowledged',
    file: 'agent/outbox/outbox-sending.ts',
    find: 'to: rowId(number, Math.min(most, toSeq))',
    put: 'to: rowId(number, Math.min(most, toSeq + 1))',
  },
  {
    fault: 'every account sees the devices of all: a leak',
    file: 'broker/store/base/scope.ts',
    find: 'const ofAccount = sql`d.account_id = ${accountID}${named}`;',
    put: "const ofAccount = sql`d.account_id <> '' AND ${accountID} <> ''${named}`;",
  },
  {
    fault: 'a user with groups sees every device of the account: a leak',
    file: 'broker/store/base/scope.ts',
    find: 'if (userID === null) return ofAccount;',
    put: "if (userID !== '') return ofAccount;",
  },
];

const word = process.argv[2] ?? '';
const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
});

/** @returns what failed in a copy with the fault; null: nothing did. */
function failureOf({ file, find, put }) {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-gate-'));
  try {
    // Some tests read it as another user.
    chmodSync(folder, 0o755);
    execFileSync('cp', ['--parents', '-t', folder, ...listed.trim().split('\n')], { cwd: root });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const parts = readFileSync(join(folder, file), 'utf8').split(find);
    if (parts.length !== 2) throw new Error(`${file} holds this ${parts.length - 1} times: ${find}`);
    writeFileSync(join(folder, file), parts.join(put));
    const { status, stdout } = spawnSync(
      'npm',
      ['test', '--', '--bail', '1', '--reporter', 'dot', '--silent'],
      {
        cwd: folder,
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      },
    );
    if (status === 0) return null;
    const report = join(folder, 'build/test-report.json');
    if (!existsSync(report)) throw new Error(`the tests did not run: ${stdout.slice(-1000)}`);
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const failed = testResults.find((one) => one.status === 'failed');
    const test = failed?.assertionResults.find((one) => one.status === 'failed');
    return `${failed?.name.slice(folder.length + 1)}: ${test?.fullName ?? failed?.message}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let isProven = true;
for (const one of [sound, ...faults].filter(({ fault }) => fault.includes(word))) {
  const began = performance.now();
  const failure = failureOf(one);
  const isAsWanted = (one === sound) === (failure === null);
  isProven &&= isAsWanted;
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(`${isAsWanted ? 'ok    ' : 'FAILED'}  ${one.fault} (${minutes} min): ${failure ?? 'passed'}`);
}
process.exitCode = isProven ? 0 : 1;
