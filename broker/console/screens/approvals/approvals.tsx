// Cuts that wait for a second person, what was decided today, and the limits. Which request is open stands in the address.

import { Link, useSearch } from '@tanstack/react-router';
import { cutWords } from '../../../../build/words/cut.ts';
import { parseReason } from '../../../../src/core/reports/order-reason.ts';
import type { Approval, Result } from '../../api/operations.ts';
import { failureText } from '../../components/failure.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { RowsBar } from '../../components/rows/rows-bar.tsx';
import { useHeldRows } from '../../components/rows/use-held-rows.ts';
import { Badge, Empty, isToday, spanText, Time } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { FailureNotice, Known, useKnowledge } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { useLimits, useOwnApprovals, useRequests } from '../../service/orders.ts';
import { useRole } from '../../service/role.ts';
import { cutText, orderSearch, relayOf } from '../../state/orders/cut-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { Audit } from '../cut/audit.tsx';
import { breakerText } from '../cut/order-times.ts';
import { ApprovalCard } from './card.tsx';

const decidedIcons: Readonly<Record<string, IconName>> = {
  approved: 'circle-check',
  refused: 'circle-x',
  withdrawn: 'undo-2',
  expired: 'timer-off',
  void: 'timer-off',
};

function decidedText(
  { approvalState, decidedBy }: Approval,
  vehicle: string,
  { approvals, persons }: WordsWith<[typeof cutWords]>,
): string {
  if (approvalState === 'approved') return approvals.approvedLine({ vehicle, user: decidedBy });
  if (approvalState === 'refused') return approvals.refusedLine({ vehicle, user: decidedBy });
  if (approvalState === 'withdrawn') return approvals.withdrawnLine({ vehicle, user: decidedBy });
  return approvalState === 'void' ? persons.line({ vehicle }) : approvals.expiredLine({ vehicle });
}

interface DecidedProps {
  readonly requests: readonly Approval[];
  readonly role: string;
  readonly readMs: number;
  readonly error: Error | null;
}

function Decided({ requests, role, readMs, error }: DecidedProps) {
  const words = useWords(cutWords);
  const { approvals: texts } = words;
  const fleet = useValue(vehicles);
  const decided = requests.filter(
    ({ approvalState, decided: at, expires }) => approvalState !== 'pending' && isToday(at || expires),
  );
  return (
    <section className="card" aria-labelledby="decided-title">
      <header>
        <h2 id="decided-title">{texts.decided}</h2>
      </header>
      <div className="card-body">
        {decided.length === 0 ? (
          <Known readMs={readMs} error={error} isSmall>
            <p className="muted">{texts.noneDecided}</p>
          </Known>
        ) : (
          <ol className="steps">
            {decided.map((request) => {
              const { approvalID, commandID, deviceID, decidedReason, requested } = request;
              const at = request.decided || request.expires;
              const relay = relayOf(request.feature) ?? 'enginecutoff';
              const order = commandID === '' ? cutText('request', approvalID) : cutText('command', commandID);
              return (
                <li key={approvalID} {...(request.approvalState === 'approved' ? {} : { className: 'off' })}>
                  <Icon name={decidedIcons[request.approvalState] ?? 'circle-help'} />
                  <Link to="/vehicle/$deviceID" params={{ deviceID }} search={orderSearch(relay, order)}>
                    {decidedText(request, fleet.get(deviceID)?.name ?? deviceID, words)}
                  </Link>
                  <Time at={at} />
                  <p>
                    {texts.after({ span: spanText(at - requested, words) })}
                    {decidedReason === '' ? null : (
                      <>
                        {': '}
                        <q>{parseReason(decidedReason, relay).note || decidedReason}</q>
                      </>
                    )}
                  </p>
                  {role === 'admin' ? (
                    <div className="wide">
                      <Audit deviceID={deviceID} ids={[approvalID, commandID]} role={role} />
                    </div>
                  ) : null}
                </li>
              );
            })}
          </ol>
        )}
      </div>
    </section>
  );
}

function LimitsCard({ limits }: { readonly limits: Result<'commandLimits'> }) {
  const { approvals: texts, cutLimits } = useWords(cutWords);
  return (
    <section className="card" aria-labelledby="limits-title">
      <header>
        <h2 id="limits-title">{texts.limits}</h2>
      </header>
      <div className="card-body stack">
        <dl className="pairs">
          <dt>{texts.you}</dt>
          <dd>{texts.cuts({ used: limits.cuts, most: limits.cutsPerHour })}</dd>
          <dt>{texts.account}</dt>
          <dd>{texts.cuts({ used: limits.accountCuts, most: limits.accountCutsPerHour })}</dd>
          <dt>{texts.breaker}</dt>
          <dd>
            {limits.isBreakerOpen ? (
              <>
                <Badge icon="triangle-alert" tone="look">
                  {texts.open}
                </Badge>{' '}
                {breakerText(limits, cutLimits)}
              </>
            ) : (
              <Badge icon="circle-check" tone="ok">
                {texts.closed}
              </Badge>
            )}
          </dd>
        </dl>
        <p className="muted">{texts.restoreFree}</p>
      </div>
    </section>
  );
}

function List({
  requests,
  pending,
  selected,
  limits,
  readMs,
  error,
}: {
  readonly requests: readonly Approval[];
  readonly pending: readonly Approval[];
  readonly selected: string | undefined;
  readonly limits: Result<'commandLimits'> | undefined;
  readonly readMs: number;
  readonly error: Error | null;
}) {
  const words = useWords(cutWords);
  const { approvals: texts } = words;
  const fleet = useValue(vehicles);
  const held = useHeldRows(pending, ({ approvalID }) => approvalID);
  const goneOf = ({ approvalID, deviceID }: Approval): string => {
    const now = requests.find((one) => one.approvalID === approvalID);
    return now === undefined
      ? words.rows.gone
      : decidedText(now, fleet.get(deviceID)?.name ?? deviceID, words);
  };
  if (held.rows.length === 0)
    return (
      <Known readMs={readMs} error={error}>
        <Empty icon="circle-check" title={texts.empty}>
          <p>{texts.emptyHint}</p>
        </Empty>
      </Known>
    );
  return (
    <div className="stack" {...held.frame}>
      {held.rows.map(({ item, isGone }) => (
        <div
          key={item.approvalID}
          {...(isGone ? { className: 'gone', inert: true, 'data-gone': goneOf(item) } : {})}
        >
          <ApprovalCard request={item} limits={limits} isSelected={item.approvalID === selected} />
        </div>
      ))}
      <RowsBar count={held.fresh.length} insert={held.insert} />
    </div>
  );
}

export function ApprovalsScreen() {
  const words = useWords(cutWords);
  const { approvals: texts } = words;
  const { request } = useSearch({ from: '/shell/approvals' });
  const role = useRole();
  const own = useOwnApprovals();
  const { data: requests, error, dataUpdatedAt: readMs } = useRequests('all');
  const knowledge = useKnowledge(readMs, error !== null);
  const { data: limits } = useLimits(role === 'operator' || role === 'admin');
  const pending = (requests ?? []).filter(({ approvalState }) => approvalState === 'pending');
  const failure = error === null ? null : failureText(error, words);
  useTitle(words.pages.approvals.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.approvals.title}</h1>
        <span className="muted">
          {pending.length === 0 && knowledge !== 'known'
            ? words.stream.notKnown
            : texts.waiting({ yours: own.length, others: pending.length - own.length })}
        </span>
        {limits === undefined ? null : (
          <div className="row push">
            <Badge
              icon={limits.needsApproval ? 'shield-check' : 'user-check'}
              {...(limits.needsApproval ? { tone: 'ok' as const } : {})}
            >
              {limits.needsApproval ? texts.twoNeeded : texts.oneEnough}
            </Badge>
          </div>
        )}
      </header>
      <div className="split">
        <div className="stack">
          <FailureNotice failure={failure} />
          <List
            requests={requests ?? []}
            pending={pending}
            selected={request ?? own[0]?.approvalID}
            limits={limits}
            readMs={readMs}
            error={error}
          />
        </div>
        <aside className="stack">
          <Decided requests={requests ?? []} role={role} readMs={readMs} error={error} />
          {limits === undefined ? null : <LimitsCard limits={limits} />}
        </aside>
      </div>
    </main>
  );
}
