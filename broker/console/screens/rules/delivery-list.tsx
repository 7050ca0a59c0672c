// Deliveries of notifications, newest first: state, reason in words, and another try for what was given up.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { formWords } from '../../../../build/words/form.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { AddressChips } from '../../components/patterns/address.tsx';
import { ListCard, usePages } from '../../components/patterns/list-detail.tsx';
import { Badge, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { deliveryFilters } from '../../state/rules/rule-address.ts';
import type { Delivery } from '../../state/rules/rule-draft.ts';
import { reasonText } from './rule-words.ts';
import { ruleChanges } from './use-rules.ts';

/** How often the list is read anew while it is shown, ms. */
const anewMs = 5000;

const looks = {
  sent: ['circle-check', 'ok'],
  pending: ['hourglass', 'busy'],
  dead: ['circle-x', 'look'],
} as const;

function useDeliveries() {
  const { state = 'all' } = useSearch({ from: '/shell/rules' });
  return usePages({
    queryKey: ['deliveries', state],
    read: (cursor, signal) =>
      call('getDeliveries', {
        query: { limit: '100', ...(state === 'all' ? {} : { state }), ...cursor },
        signal,
      }),
    itemsOf: ({ deliveries }) => deliveries,
    againMs: (pages) => (pages > 1 ? false : anewMs),
  });
}

function RuleCell({ ruleID, isReport, scheduleID }: Delivery) {
  const { deliveries: texts } = useWords(ruleWords).rules;
  if (isReport)
    return (
      <span>
        {texts.report} <bdi>{scheduleID}</bdi>
      </span>
    );
  if (ruleID === '') return <span className="muted">{texts.deleted}</span>;
  return (
    <Link to="/rules" search={{ list: 'rules', rule: ruleID }}>
      {ruleID}
    </Link>
  );
}

function TargetCell({ channel, target, lastErrorCode, lastErrorDetail }: Delivery) {
  const words = useWords(ruleWords);
  return (
    <>
      {words.deliveries.channels[channel]} <bdi>{target}</bdi>
      <span className="note">{reasonText(lastErrorCode, lastErrorDetail, words)}</span>
    </>
  );
}

function TriesCell({ attempts, nextAttempt }: Delivery) {
  const { deliveries: texts } = useWords(ruleWords).rules;
  return (
    <>
      {numberText(attempts)}
      {nextAttempt === 0 ? null : (
        <span className="note">
          {texts.next} <Time at={nextAttempt} />
        </span>
      )}
    </>
  );
}

export function DeliveryList() {
  const { rules, forms, stream, deliveries: names } = useWords(formWords, ruleWords);
  const { deliveries: texts } = rules;
  const { columns } = texts;
  const queries = useQueryClient();
  const retrying = useMutation({
    mutationFn: (deliveryID: string) => call('retryDelivery', { body: { deliveryID } }),
    onSettled: () => Promise.all(ruleChanges.map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
  const failure = useFailure(retrying.error, forms.failed);
  const isDown = useValue(connection).state !== 'live';
  const mayRetry = ({ state, ruleID, scheduleID }: Delivery): boolean =>
    state === 'dead' && (ruleID !== '' || scheduleID !== '');
  return (
    <ListCard
      title={rules.lists.deliveries}
      head={
        <AddressChips
          label={texts.filter}
          member="state"
          values={deliveryFilters}
          first="all"
          content={(one) => texts.filters[one]}
        />
      }
      above={
        <>
          {failure}
          {isDown ? <p className="muted">{stream.commandsOff}</p> : null}
        </>
      }
      list={useDeliveries()}
      empty={{ icon: 'bell-ring', title: texts.empty, hint: texts.emptyHint }}
      moreText={texts.more}
      caption={texts.caption}
      keyOf={({ deliveryID }) => deliveryID}
      columns={[
        {
          name: columns.target,
          cell: (one) => <TargetCell {...one} />,
        },
        {
          name: columns.state,
          isBare: true,
          cell: ({ state }) => (
            <Badge icon={looks[state][0]} tone={looks[state][1]}>
              {names.states[state]}
            </Badge>
          ),
        },
        { name: columns.rule, cell: (one) => <RuleCell {...one} /> },
        {
          name: columns.tries,
          cell: (one) => <TriesCell {...one} />,
        },
        {
          name: columns.made,
          cell: (one) => (
            <>
              <Time at={one.created} />
              {mayRetry(one) ? (
                <ActionButton
                  className="button small"
                  aria-label={texts.retryOf({ delivery: one.deliveryID, target: one.target })}
                  isOff={isDown || retrying.isPending}
                  onPress={() => retrying.mutate(one.deliveryID)}
                >
                  {texts.retry}
                </ActionButton>
              ) : null}
            </>
          ),
        },
      ]}
    />
  );
}
