// Share links of vehicles and trips.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';

export const shareTables: readonly Statement[] = [
  // Share links. `token_hash` as in `sessions`. `user_id`: its creator; `by_token_hash`: the creator's API token, or null. `kind`:
  // 'live' or 'trip', the latter with its event times. `uses`: seconds in which it was opened.
  ddl(`CREATE TABLE shares (
    share_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    share_id TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    by_token_hash TEXT,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('live', 'trip')),
    title TEXT NOT NULL,
    from_ms BIGINT,
    to_ms BIGINT,
    created_s BIGINT NOT NULL,
    expires_s BIGINT NOT NULL,
    revoked_s BIGINT,
    uses BIGINT NOT NULL DEFAULT 0,
    last_used_s BIGINT NOT NULL DEFAULT 0,
    FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id) ON DELETE CASCADE)`),
  ddl('CREATE INDEX shares_by_account ON shares (account_id, share_no)'),
  ddl('CREATE INDEX shares_by_user ON shares (account_id, user_id)'),
  ddl('CREATE INDEX shares_by_device ON shares (device_no)'),
];
