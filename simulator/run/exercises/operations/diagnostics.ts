// Requests to the unit of a vehicle: it sends its log, and users read it.
import { area, type Bench, mustRefuse, mustShow } from './bench.ts';

interface Request {
  readonly requestID: string;
  readonly requestState: string;
}

const readRequest = (bench: Bench, requestID: string): Promise<Request> =>
  bench.read<Request>(`/diagnostic/request/${requestID}`, 'run');

export const diagnostics = area<{ requestID: string }>(
  () => ({ requestID: '' }),
  [
    {
      operation: 'requestDiagnostic',
      async run(bench, state) {
        const { vehicleID: deviceID } = bench;
        const body = { deviceID, kind: 'log' };
        const { requestID } = await bench.call<Request>('requestDiagnostic', { as: 'run', body });
        state.requestID = requestID;
        bench.changed('device.request', deviceID, 'run');
        const isAnswered = await bench.eventually(
          async () => (await readRequest(bench, requestID)).requestState === 'answered',
        );
        const { requestState } = await readRequest(bench, requestID);
        bench.look(isAnswered, `${deviceID} did not send its log in time: the request is ${requestState}`);
        // Vehicles of the run are those of another account.
        await mustRefuse(bench, 'requestDiagnostic', { body, code: 'not_found' });
      },
    },
    {
      operation: 'readLog',
      async run(bench, { requestID }) {
        const params = { requestID };
        const answer = await bench.call<{ log: string }>('readLog', { as: 'run', params });
        bench.changed('device.readlog', bench.vehicleID, 'run');
        mustShow(bench, 'the log of a unit', { shown: answer, wanted: { isWhole: true } });
        bench.look(answer.log !== '', 'the log of a unit is empty');
        await mustRefuse(bench, 'readLog', { params, code: 'not_found' });
      },
    },
  ],
);
