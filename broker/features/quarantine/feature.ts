// Unreadable payloads of vehicles, for users: listed, taken in again, dropped. The ingest keeps them.
import { diagnosticOperations } from '../../api/devices/diagnostics.ts';
import { feature } from '../feature.ts';
import { quarantineOperations } from './quarantine.ts';

export const quarantine = feature({ operations: quarantineOperations, follows: diagnosticOperations });
