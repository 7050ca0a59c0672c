// Text messages between users and vehicles. The command ledger sends those to a vehicle with its commands.
import { ddl } from '../../../src/migrate.ts';
import { firmwareOperations } from '../../api/commands/firmware.ts';
import { feature } from '../feature.ts';
import { messageOperations } from './messages.ts';

export const messages = feature({
  tables: [
    // Messages of vehicles up to this event number count as read by the user.
    ddl(`CREATE TABLE message_reads (
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    read_up_to BIGINT NOT NULL,
    PRIMARY KEY (account_id, user_id),
    FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id) ON DELETE CASCADE)`),
  ],
  operations: messageOperations,
  follows: firmwareOperations,
});
