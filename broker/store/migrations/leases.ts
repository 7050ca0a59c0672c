// Which of several processes does the work of which there is one.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const leaseMigrations: readonly Migration[] = [
  {
    name: '0015-leases',
    statements: [
      // `holder`: the process that does the work; '' while nobody does. `beat` grows while it lives: others watch it by their own
      // clocks, so that no two clocks are ever compared.
      ddl(`CREATE TABLE leases (
        name TEXT NOT NULL PRIMARY KEY,
        holder TEXT NOT NULL,
        beat BIGINT NOT NULL)`),
    ],
  },
];
