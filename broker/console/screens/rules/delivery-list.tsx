// Deliveries of notifications, newest first: state, reason in words, and another try for what was given up.
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { formWords } from '../../../../build/words/form.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Chips } from '../../components/chips.tsx';
import { ListTable } from '../../components/rows/list-table.tsx';
import { Badge, Empty, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { deliveryFilters } from '../../state/rules/rule-address.ts';
import type { Delivery } from '../../state/rules/rule-draft.ts';
import { without } from '../../state/search.ts';
import { reasonText } from './rule-words.ts';
import { useRulesChanged } from './use-rules.ts';

/** Deliveries of one answer. */
const pageSize = 100;
/** How often the list is read anew while it is shown, ms. */
const anewMs = 5000;

const looks = {
  sent: ['circle-check', 'ok'],
  pending: ['hourglass', 'busy'],
  dead: ['circle-x', 'look'],
} as const;

function useDeliveries() {
  const { state = 'all' } = useSearch({ from: '/shell/rules' });
  return useInfiniteQuery({
    queryKey: ['deliveries', state],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      call('getDeliveries', {
        query: {
          limit: String(pageSize),
          ...(state === 'all' ? {} : { state }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    getNextPageParam: ({ more, next }) => (more ? next : null),
    refetchInterval: ({ state: of }) => ((of.data?.pages.length ?? 0) > 1 ? false : anewMs),
  });
}

interface RowProps {
  readonly one: Delivery;
  readonly isOff: boolean;
  onRetry(deliveryID: string): void;
}

function Row({ one, isOff, onRetry }: RowProps) {
  const words = useWords(ruleWords);
  const { deliveries, rules } = words;
  const { deliveries: texts } = rules;
  const { deliveryID, ruleID, channel, target, state, attempts, created, nextAttempt } = one;
  const [icon, tone] = looks[state];
  return (
    <tr>
      <th scope="row">
        {deliveries.channels[channel]} <bdi>{target}</bdi>
        <span className="note">{reasonText(one.lastErrorCode, one.lastErrorDetail, words)}</span>
      </th>
      <td>
        <Badge icon={icon} tone={tone}>
          {deliveries.states[state]}
        </Badge>
      </td>
      <td data-label={texts.columns.rule}>
        {one.isReport ? (
          <span>
            {texts.report} <bdi>{one.scheduleID}</bdi>
          </span>
        ) : ruleID === '' ? (
          <span className="muted">{texts.deleted}</span>
        ) : (
          <Link to="/rules" search={{ list: 'rules', rule: ruleID }}>
            {ruleID}
          </Link>
        )}
      </td>
      <td data-label={texts.columns.tries}>
        {numberText(attempts)}
        {nextAttempt === 0 ? null : (
          <span className="note">
            {texts.next} <Time at={nextAttempt} />
          </span>
        )}
      </td>
      <td data-label={texts.columns.made}>
        <Time at={created} />
        {state === 'dead' && (ruleID !== '' || one.scheduleID !== '') ? (
          <ActionButton
            className="button small"
            aria-label={texts.retryOf({ delivery: deliveryID, target })}
            isOff={isOff}
            onPress={() => onRetry(deliveryID)}
          >
            {texts.retry}
          </ActionButton>
        ) : null}
      </td>
    </tr>
  );
}

function Filter() {
  const { deliveries: texts } = useWords(ruleWords).rules;
  const navigate = useNavigate({ from: '/rules' });
  const { state = 'all' } = useSearch({ from: '/shell/rules' });
  return (
    <Chips
      label={texts.filter}
      values={deliveryFilters}
      chosen={state}
      content={(one) => texts.filters[one]}
      onChoose={(one) =>
        void navigate({
          search: (before) => (one === 'all' ? without(before, 'state') : { ...before, state: one }),
          replace: true,
        })
      }
    />
  );
}

export function DeliveryList() {
  const { rules, forms, stream } = useWords(formWords, ruleWords);
  const { deliveries: texts } = rules;
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useDeliveries();
  const changed = useRulesChanged();
  const retrying = useMutation({
    mutationFn: (deliveryID: string) => call('retryDelivery', { body: { deliveryID } }),
    onSettled: changed,
  });
  const failure = useFailure(retrying.error, forms.failed);
  const isDown = useValue(connection).state !== 'live';
  const deliveries = data?.pages.flatMap((page) => page.deliveries);
  const { target, state, rule, tries, made } = texts.columns;
  return (
    <section className="card" aria-labelledby="deliveries-title">
      <header className="wrap">
        <h2 id="deliveries-title">{rules.lists.deliveries}</h2>
        <Filter />
      </header>
      {failure}
      {isDown ? <p className="muted">{stream.commandsOff}</p> : null}
      <View
        error={error}
        readMs={dataUpdatedAt}
        empty={
          deliveries?.length === 0 ? (
            <Empty icon="bell-ring" title={texts.empty}>
              <p>{texts.emptyHint}</p>
            </Empty>
          ) : null
        }
      >
        <ListTable caption={texts.caption} columns={[target, state, rule, tries, made]}>
          {deliveries?.map((one) => (
            <Row
              key={one.deliveryID}
              one={one}
              isOff={isDown || retrying.isPending}
              onRetry={retrying.mutate}
            />
          ))}
        </ListTable>
        {hasNextPage ? (
          <div className="card-body">
            <ActionButton
              className="button secondary"
              isOff={isFetchingNextPage}
              onPress={() => void fetchNextPage()}
            >
              {texts.more}
            </ActionButton>
          </div>
        ) : null}
      </View>
    </section>
  );
}
