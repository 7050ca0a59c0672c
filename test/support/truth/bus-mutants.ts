// Faults of the vehicle bus: the service drops or alters a value, the agent reads one in another scale.
import { agent, broker, type TruthMutant } from './truth-mutant.ts';

const views = 'broker/api/answers/views.js';
const signals = 'agent/core/bus/j1939-signals.js';

export const busMutants: readonly TruthMutant[] = [
  broker({
    fault: 'a device shows no coolant temperature of its bus',
    file: views,
    find: 'if (state === undefined || value === null)',
    put: "if (state === undefined || value === null || name === 'coolant')",
    found: ['busWrong'],
    scenario: 'bus',
  }),
  broker({
    fault: 'values of the bus are kept in other units',
    file: 'broker/core/events/projection.js',
    find: 'state: String(value) });',
    put: "state: String(typeof value === 'number' ? value / 1.609 : value) });",
    found: ['busWrong'],
    scenario: 'bus',
  }),
  agent({
    fault: 'the fuel level on the bus is read in steps of 0.5 %',
    file: signals,
    find: 'scale: 0.4,',
    put: 'scale: 0.5,',
    found: ['busWrong'],
    scenario: 'bus',
  }),
  agent({
    fault: 'the odometer on the bus is read in miles',
    file: signals,
    find: 'scale: 0.005,',
    put: 'scale: 0.005 / 1.609,',
    found: ['busWrong'],
    scenario: 'bus',
  }),
];
