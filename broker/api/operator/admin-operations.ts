// The operations of the operator's listener. None of them is in the list of the users' interface, and each checks the
// caller again.

import type { ServiceStatus } from '../../ports/service-status.ts';
import type { Operation } from '../base/operation.ts';
import { adminAccountOperations } from './admin-accounts.ts';
import { statusOperation } from './status.ts';

export const adminOperations = (status: ServiceStatus): readonly Operation[] => [
  ...adminAccountOperations,
  statusOperation(status),
];

/** Opens its document, Markdown. */
export const adminIntroduction = `Accounts of the service, for its operator: create, list, limit, suspend, delete; and its state, which the page at
[/console/](/console/) shows. This
listener is off unless the broker is given a token file, and listens on the broker's own machine unless configured otherwise.

**Start here.** \`fleetward-broker admin-token --file <path>\` makes the file; start the broker with \`--admin-token-file <path>\`
and send its line in the request header \`authorization\`. A holder of that token can delete every account: keep it where only the
operator reads. It ends when the file is replaced and the broker started again. A second token (\`--admin-view-token-file\`) reads the state
of the service and nothing else: that one belongs into a browser. Tokens of users are worth nothing here, and
this token is worth nothing at the users' interface: what is in an account cannot be reached with it.

Answers, errors, bodies and the order of checks are those of the users' interface. Times are epoch seconds.`;
