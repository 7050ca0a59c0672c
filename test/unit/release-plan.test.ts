// Which release runs: the order of versions, what a manifest may say, and the decision table with its properties. The last
// word of all of them: whatever is staged or remembered, something runs, and it is allowed to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatManifest, type Manifest, parseManifest } from '../../agent/core/update/manifest.ts';
import {
  emptyState,
  formatState,
  type Installed,
  type LaunchFacts,
  parseState,
  planLaunch,
  planLimits,
  type ReleaseState,
  withConfirmed,
  withRejection,
  withTrial,
} from '../../agent/core/update/plan.ts';
import { compareVersions, higherVersion, isVersion } from '../../src/core/releases/version.ts';

const packaged: Installed = { version: '1.0.0', arch: 'amd64', nodeAbi: '115' };

function manifestOf(version: string, changes: Partial<Manifest> = {}): Manifest {
  const sha256 = 'a'.repeat(64);
  return {
    name: 'fleetward-agent',
    version,
    arch: 'amd64',
    nodeAbi: '115',
    floor: '0.0.0',
    createdMs: 1_760_000_000_000,
    files: [
      { path: 'dist/agent/main.js', sha256, sizeBytes: 10, mode: 0o755 },
      { path: 'package.json', sha256, sizeBytes: 10, mode: 0o644 },
    ],
    ...changes,
  };
}

function plan(state: Partial<ReleaseState>, ...staged: readonly Manifest[]) {
  return planLaunch({ packaged, state: { ...emptyState, ...state }, staged });
}

const numbers = fc.integer({ min: 0, max: 3 });
const anyVersion = fc
  .tuple(numbers, numbers, numbers, fc.constantFrom('', '-rc.1', '-rc.2', '-rc.10', '-alpha'))
  .map(([major, minor, patch, rest]) => `${major}.${minor}.${patch}${rest}`);

describe('the order of versions', () => {
  it('is that of Semantic Versioning, clause 11', () => {
    const ascending = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.2.0',
      '1.10.0',
      '2.0.0',
    ];
    const pairs = ascending.flatMap((left, at) => ascending.map((right, to) => ({ left, right, at, to })));
    for (const { left, right, at, to } of pairs)
      expect([left, right, compareVersions(left, right)]).toEqual([left, right, Math.sign(at - to)]);
  });

  it('is total: antisymmetric and transitive', () => {
    fc.assert(
      fc.property(anyVersion, anyVersion, anyVersion, (one, two, three) => {
        expect(compareVersions(one, two) + compareVersions(two, one)).toBe(0);
        const sorted = [one, two, three].sort(compareVersions);
        expect(compareVersions(sorted[0] ?? '', sorted[2] ?? '')).toBeLessThanOrEqual(0);
        expect(compareVersions(higherVersion(one, two), one)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('takes nothing as a version that could be another folder', () => {
    for (const text of [
      '',
      '..',
      '1.0',
      '1.0.0/..',
      '.1.0.0',
      '01.0.0',
      '1.0.0-',
      '1.0.0+b',
      '1.0.0\n',
      `1.0.0-${'a'.repeat(80)}`,
    ])
      expect([text, isVersion(text)]).toEqual([text, false]);
  });
});

describe('a manifest', () => {
  it('is read back as it was written', () => {
    const manifest = manifestOf('1.2.3-rc.1', { floor: '1.0.0' });
    expect(parseManifest(Buffer.from(formatManifest(manifest)))).toEqual({ kind: 'good', manifest });
  });

  const file = { path: 'zz', sha256: 'b'.repeat(64), size: 1, mode: '0644' };
  const good = JSON.parse(formatManifest(manifestOf('1.2.3'))) as { files: object[] };
  it.each([
    ['another program', { name: 'something-else' }],
    ['no version', { version: '../1.0.0' }],
    ['another machine', { arch: 'riscv64' }],
    ['a Node ABI that is no number', { nodeAbi: 115 }],
    ['no floor', { floor: undefined }],
    ['no time', { createdMs: -1 }],
    ['no files', { files: [] }],
    ['a path that leaves', { files: [...good.files, { ...file, path: 'x/../../y' }] }],
    ['an absolute path', { files: [...good.files, { ...file, path: '/x' }] }],
    ['a hidden file', { files: [...good.files, { ...file, path: 'x/.y' }] }],
    ['a path twice', { files: [...good.files, file, file] }],
    ['a setuid mode', { files: [...good.files, { ...file, mode: '4755' }] }],
    ['a hash in capitals', { files: [...good.files, { ...file, sha256: 'B'.repeat(64) }] }],
    ['a file that is too large', { files: [...good.files, { ...file, size: 2 ** 40 }] }],
  ])('with %s is refused with words', (_what, change) => {
    const verdict = parseManifest(Buffer.from(JSON.stringify({ ...good, ...change })));
    expect(verdict).toEqual({ kind: 'bad', reason: expect.stringMatching(/^manifest: \S.*$/) as string });
  });

  it('that is any other bytes is refused and nothing is thrown', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => parseManifest(bytes).kind === 'bad'));
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) => parseManifest(Buffer.from(JSON.stringify(value))).kind === 'bad',
      ),
    );
  });
});

describe('which release runs', () => {
  it('the packaged one when nothing was asked for, whatever is staged', () => {
    expect(plan({}, manifestOf('9.0.0')).choice).toEqual({ kind: 'packaged' });
  });

  it('a release on trial, with every start counted beforehand', () => {
    let state = withTrial(emptyState, { version: '1.1.0', confirmWithinS: 60 });
    for (let attempts = 1; attempts <= planLimits.attempts; attempts++) {
      const next = planLaunch({ packaged, state, staged: [manifestOf('1.1.0')] });
      expect(next.choice).toEqual({ kind: 'trial', version: '1.1.0', confirmWithinS: 60 });
      expect(next.state.trial?.attempts).toBe(attempts);
      state = next.state;
    }
    const last = planLaunch({ packaged, state, staged: [manifestOf('1.1.0')] });
    expect(last.choice).toEqual({ kind: 'packaged' });
    expect(last.state).toMatchObject({
      trial: null,
      rejected: [{ version: '1.1.0', reason: 'it was started 3 times and never confirmed' }],
    });
  });

  it('the confirmed one again after a trial that failed', () => {
    const trial = { version: '1.2.0', attempts: planLimits.attempts, confirmWithinS: 60 };
    const { choice, notes } = plan({ confirmed: '1.1.0', trial }, manifestOf('1.1.0'), manifestOf('1.2.0'));
    expect(choice).toEqual({ kind: 'staged', version: '1.1.0' });
    expect(notes).toHaveLength(1);
  });

  it.each([
    ['is not there', [], 'not staged'],
    ['is for another machine', [manifestOf('1.1.0', { arch: 'arm64' })], 'arm64'],
    ['is for another Node', [manifestOf('1.1.0', { nodeAbi: '127' })], 'ABI 127'],
  ])('never one that %s', (_what, staged, words) => {
    const { choice, notes } = plan({ confirmed: '1.1.0' }, ...staged);
    expect(choice).toEqual({ kind: 'packaged' });
    expect(notes.join()).toContain(words);
  });

  it('never one that is older than the package, so that an upgrade of the package counts', () => {
    expect(plan({ confirmed: '0.9.0' }, manifestOf('0.9.0')).choice).toEqual({ kind: 'packaged' });
    expect(plan({ confirmed: '1.0.0' }, manifestOf('1.0.0')).choice).toEqual({ kind: 'packaged' });
  });

  it('never one below the highest floor of all confirmed releases', () => {
    let state = withTrial(emptyState, { version: '2.0.0', confirmWithinS: 60 });
    state = withConfirmed(state, manifestOf('2.0.0', { floor: '1.5.0' }));
    expect(state).toMatchObject({ floor: '1.5.0', confirmed: '2.0.0', trial: null });
    state = withTrial(state, { version: '1.4.0', confirmWithinS: 60 });
    const { choice, state: after } = planLaunch({
      packaged,
      state,
      staged: [manifestOf('1.4.0'), manifestOf('2.0.0')],
    });
    expect(choice).toEqual({ kind: 'staged', version: '2.0.0' });
    expect(after.rejected.at(-1)).toEqual({ version: '1.4.0', reason: 'it is below the floor 1.5.0' });
  });

  it('confirms only what is on trial, and lowers no floor', () => {
    expect(withConfirmed(emptyState, manifestOf('3.0.0'))).toBe(emptyState);
    const state = { ...withTrial(emptyState, { version: '3.0.0', confirmWithinS: 60 }), floor: '2.0.0' };
    expect(withConfirmed(state, manifestOf('3.0.0', { floor: '1.0.0' })).floor).toBe('2.0.0');
  });
});

const anyManifest = fc
  .record({
    version: anyVersion,
    arch: fc.constantFrom('amd64' as const, 'arm64' as const),
    nodeAbi: fc.constantFrom('115', '127'),
    floor: anyVersion,
  })
  .map(({ version, ...changes }) => manifestOf(version, changes));
const anyState = fc.record({
  floor: anyVersion,
  confirmed: fc.option(anyVersion),
  trial: fc.option(
    fc.record({
      version: anyVersion,
      attempts: fc.integer({ min: 0, max: 5 }),
      confirmWithinS: fc.constant(60),
    }),
  ),
  rejected: fc.constant([]),
});
const anyFacts = fc
  .record({ state: anyState, staged: fc.array(anyManifest, { maxLength: 4 }), version: anyVersion })
  .map(({ state, staged, version }): LaunchFacts => ({ packaged: { ...packaged, version }, state, staged }));

describe('whatever is staged and remembered', () => {
  it('what runs is packaged, or staged here, for this machine, newer than the package and not below the floor', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { choice } = planLaunch(facts);
        if (choice.kind === 'packaged') return;
        const release = facts.staged.find(({ version }) => version === choice.version);
        expect(release).toMatchObject({ arch: 'amd64', nodeAbi: '115' });
        expect(compareVersions(choice.version, facts.packaged.version)).toBe(1);
        expect(compareVersions(choice.version, facts.state.floor)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2000 },
    );
  });

  it('a trial that is never confirmed ends after three starts, and then nothing changes any more', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        let { state } = facts;
        let trials = 0;
        for (let start = 0; start < 6; start++) {
          const next = planLaunch({ ...facts, state });
          if (next.choice.kind === 'trial') trials += 1;
          ({ state } = next);
        }
        expect(trials).toBeLessThanOrEqual(planLimits.attempts);
        expect(state.trial).toBeNull();
        expect(planLaunch({ ...facts, state }).state).toBe(state);
      }),
      { numRuns: 1000 },
    );
  });

  it('the floor only rises', () => {
    fc.assert(
      fc.property(anyState, anyManifest, (state, manifest) => {
        expect(compareVersions(withConfirmed(state, manifest).floor, state.floor)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('is remembered to the letter, and anything else is not taken for it', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        expect(parseState(formatState(state))).toEqual(state);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => parseState(text) === null));
    fc.assert(fc.property(fc.jsonValue(), (value) => parseState(JSON.stringify(value)) === null));
  });

  it('keeps the newest refusals, each release once', () => {
    let state = emptyState;
    for (let patch = 0; patch < 40; patch++)
      state = withRejection(state, { version: `1.0.${patch}`, reason: 'x'.repeat(1000) });
    state = withRejection(state, { version: '1.0.39', reason: 'again' });
    expect(state.rejected).toHaveLength(planLimits.rejections);
    expect(state.rejected.at(-1)).toEqual({ version: '1.0.39', reason: 'again' });
    expect(parseState(formatState(state))).toEqual(state);
  });
});
