// Cuts that need a second person: from the middle of the run on no cut passes with one. The asker and a user made today do not
// count as the second; an old user approves all further cuts of the run.
import { AppError } from '../../../src/core/errors.ts';
import type { FeatureState } from '../../../src/core/events/event.ts';
import { openService, type Service } from '../service/service.ts';
import {
  createFindings,
  createUser,
  type Exercise,
  type ExerciseContext,
  eventually,
  type Findings,
  post,
  read,
} from './exercise.ts';

interface Asked {
  readonly commandID?: string;
  readonly approvalID?: string;
}

const beginsAt = 0.4;
const newcomerID = 'sim-newcomer';
const feature = 'enginecutoff';

/** The command that an approval gives; empty: it was refused. */
async function approve(service: Service, approvalID: string): Promise<string> {
  try {
    return (await post<Asked>(service, '/command/approve', { approvalID })).commandID ?? '';
  } catch (thrown) {
    // Two users must agree, and this one does not count.
    if (thrown instanceof AppError && thrown.code === 'conflict') return '';
    throw thrown;
  }
}

/** Records a given command, so that its effects are judged; an empty id is none. */
function give(
  { ledger, time, ttlS }: ExerciseContext,
  of: { readonly commandID: string; readonly deviceID: string; readonly state: FeatureState },
): void {
  const requestedMs = time.nowMs();
  const expiresMs = of.state === '1' ? requestedMs + ttlS * 1000 : Number.POSITIVE_INFINITY;
  if (of.commandID !== '' && !ledger.commands.has(of.commandID))
    ledger.requested({ ...of, feature, requestedMs, expiresMs });
}

/** Requests a cut and tries three approvals: by the requester, by a user of today, and by the second person. @returns the id of the request. */
async function cutWithTwo(
  context: ExerciseContext,
  { look }: Findings,
  of: { readonly deviceID: string; readonly approver: Service; readonly newcomer: Service },
): Promise<string> {
  const { access, ttlS } = context;
  const { deviceID } = of;
  const cut = { deviceID, feature, state: '1', reason: 'simulation', ttl: ttlS } as const;
  const { commandID = '', approvalID = '' } = await post<Asked>(access.service, '/command/feature', cut);
  give(context, { commandID, deviceID, state: '1' });
  look(deviceID, commandID === '' ? null : 'a cut was sent that one user asked for');
  if (commandID !== '') return approvalID;
  for (const [service, words] of [
    [access.service, 'a cut was approved by the user who asked for it'],
    [of.newcomer, 'a cut was approved by a user who was created a moment ago'],
  ] as const) {
    const sent = await approve(service, approvalID);
    give(context, { commandID: sent, deviceID, state: '1' });
    look(deviceID, sent === '' ? null : words);
    if (sent !== '') return approvalID;
  }
  const sent = await approve(of.approver, approvalID);
  give(context, { commandID: sent, deviceID, state: '1' });
  look(deviceID, sent === '' ? 'a cut was not sent although two users agree' : null);
  return approvalID;
}

export const exerciseApprovals: Exercise = async (context) => {
  const { access, vehicles, changes, time, durationS } = context;
  const { service, approver, target } = access;
  const { accountID, userID, password } = target.login;
  const findings = createFindings('approvalsWrong');
  if (approver === null) throw new AppError('internal', 'The run has no second person');
  const login = await createUser(context, { userID: newcomerID, roleID: 'operator', groups: ['all'] });
  const isMiddle = (): Promise<boolean> => Promise.resolve(time.nowMs() >= durationS * 1000 * beginsAt);
  await eventually(context, isMiddle, durationS * 1000);
  await post(service, '/auth/updateaccount', { accountID, password, needsApproval: true });
  changes.push({ userID, action: 'account.update', object: accountID });
  const deviceID = vehicles[Math.floor(vehicles.length / 2)]?.deviceID ?? '';
  const newcomer = await openService(target.http, login, target.ca ?? null);
  let approvalID: string;
  try {
    approvalID = await cutWithTwo(context, findings, { deviceID, approver, newcomer });
  } finally {
    await newcomer.close();
  }
  const order = { deviceID, feature, state: '0' } as const;
  const { commandID = '' } = await post<Asked>(service, '/command/feature', order);
  give(context, { commandID, deviceID, state: '0' });
  findings.look(deviceID, commandID === '' ? 'a restore needs no second user, and was not sent' : null);
  return async () => {
    const { approvals } = await read<{ approvals: readonly Readonly<Record<string, unknown>>[] }>(
      service,
      '/command/approvals',
    );
    const open = approvals.find((one) => one['approvalID'] === approvalID);
    const words = `a decided request is shown as open: ${JSON.stringify(open)}`;
    findings.look(deviceID, open === undefined ? null : words);
    return findings.outcome();
  };
};
