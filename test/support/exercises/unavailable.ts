// What the broker of a run cannot do: it has no login provider and no host of releases. Each call must be refused as that.
import { area, createOwnDevice, mustRefuse } from './bench.ts';

/** Of the shape that the service wants. */
const finished = { loginSecret: 'a'.repeat(64), state: 'b'.repeat(43), code: 'c'.repeat(22) };
const release = {
  version: '9.9.9',
  url: 'https://updates.example.com/agent.tar.gz',
  sha256: '0'.repeat(64),
};

export const unavailable = area<string>(
  (bench) => createOwnDevice(bench, 'operations-release'),
  [
    {
      operation: 'beginProviderLogin',
      run: (bench) => mustRefuse(bench, 'beginProviderLogin', { as: null, code: 'not_found' }),
    },
    {
      operation: 'finishProviderLogin',
      run: (bench) =>
        mustRefuse(bench, 'finishProviderLogin', { as: null, body: finished, code: 'not_found' }),
    },
    {
      operation: 'beginLoginAgain',
      run: (bench) => mustRefuse(bench, 'beginLoginAgain', { code: 'not_found' }),
    },
    {
      operation: 'finishLoginAgain',
      run: (bench) => mustRefuse(bench, 'finishLoginAgain', { body: finished, code: 'not_found' }),
    },
    {
      operation: 'firmware',
      async run(bench, deviceID) {
        await mustRefuse(bench, 'firmware', { body: { deviceID, ...release }, code: 'invalid_content' });
        const { commands } = await bench.read<{ commands: readonly unknown[] }>(`/command/list/${deviceID}`);
        bench.look(commands.length === 0, 'a refused release is listed as a command');
      },
    },
    {
      operation: 'createRelease',
      async run(bench) {
        const body = { ...release, stages: ['operations-none'] };
        await mustRefuse(bench, 'createRelease', { body, code: 'invalid_content' });
        await mustRefuse(bench, 'createRelease', { as: 'operator', body, code: 'forbidden' });
        const { releases } = await bench.read<{ releases: readonly unknown[] }>('/release/list');
        bench.look(releases.length === 0, 'a refused release is listed');
      },
    },
    {
      operation: 'startReleaseStage',
      run: (bench) =>
        mustRefuse(bench, 'startReleaseStage', {
          body: { releaseID: 'operations-none', stage: 1 },
          code: 'not_found',
        }),
    },
    {
      operation: 'stopRelease',
      run: (bench) =>
        mustRefuse(bench, 'stopRelease', { body: { releaseID: 'operations-none' }, code: 'not_found' }),
    },
  ],
);
