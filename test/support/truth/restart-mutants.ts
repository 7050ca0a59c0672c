// Faults that show when the broker is killed: what was acknowledged and not stored, and what the next start does not take up.
import { broker, type TruthMutant } from './truth-mutant.ts';

const scenario = 'restart';
const startMs = 'Math.round(Date.now() - process.uptime() * 1000)';

export const restartMutants: readonly TruthMutant[] = [
  broker({
    fault: 'events are acknowledged a second before they are committed',
    file: 'src/adapters/database/sqlite.js',
    find: 'return runAll.immediate(batch);',
    put: `const hasEvents = batch.some(({ sql, rows }) => rows !== undefined && sql.includes('event_counter'));
            if (!hasEvents && !connection.inTransaction) return runAll.immediate(batch);
            if (!connection.inTransaction) {
                connection.exec('BEGIN IMMEDIATE');
                setTimeout(() => connection.inTransaction && connection.exec('COMMIT'), 1000);
            }
            return runAll(batch);`,
    found: ['lost', 'acknowledgedMissing'],
    scenario,
  }),
  broker({
    fault: 'commands that are open at a kill are forgotten',
    file: 'broker/store/commands/commands.js',
    find: 'WHERE c.device_no = ${deviceNo} AND c.is_final = 0 ORDER BY',
    put: `WHERE c.device_no = \${deviceNo} AND c.is_final = 0 AND c.issued_ms > \${${startMs}} ORDER BY`,
    found: ['commandUndelivered'],
    scenario,
  }),
  broker({
    fault: 'deliveries that are open at a kill are forgotten',
    file: 'broker/store/notifications/deliveries.js',
    find: "FROM deliveries d WHERE state = 'pending' AND next_ms <= ${due.nowMs} AND",
    put: `FROM deliveries d WHERE state = 'pending' AND created_ms > \${${startMs}} AND next_ms <= \${due.nowMs} AND`,
    found: ['deliveriesWrong'],
    scenario,
  }),
];
