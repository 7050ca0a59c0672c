// Requests to a unit for its health, log, position, or a rehearsal, for users. The kernel sends them and takes the answers.
import { diagnosticOperations } from '../../api/devices/diagnostics.ts';
import { feature } from '../feature.ts';
import { deviceRequestOperations } from './requests.ts';

export const requests = feature({ operations: deviceRequestOperations, follows: diagnosticOperations });
