// Open sessions and tokens of one user, each with its end.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { peopleWords } from '../../../../build/words/people.ts';
import type { Result } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { Age, Badge, Empty, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { session } from '../../service/session.ts';
import type { OpenSession } from '../../state/people-view.ts';
import { Ask } from './ask.tsx';
import { DialogButton } from './dialog-button.tsx';

/** What people know it by. */
function useNameOf(): (one: OpenSession) => string {
  const { sessions: texts } = useWords(peopleWords).people;
  return ({ kind, description, userAgent, tokenID }) =>
    `${texts[kind]} ${description || userAgent.slice(0, 40) || tokenID.slice(0, 6)}`;
}

function Row({ one }: { readonly one: OpenSession }) {
  const { sessions: texts } = useWords(peopleWords).people;
  const nameOf = useNameOf();
  const { tokenID, kind, scopes, isLimited, devices, groups, lastUsedOn, expires, isCurrent } = one;
  return (
    <li className="stack tight" data-session={kind}>
      <div className="row wrap">
        <Icon name={kind === 'api' ? 'key-round' : 'users'} />
        <span className="strong cut-off">{nameOf(one)}</span>
        {isCurrent ? (
          <Badge icon="circle-check" tone="ok">
            {texts.current}
          </Badge>
        ) : (
          <span className="push">
            <DialogButton
              name="session-end"
              className="button small"
              label={texts.endOf({ name: nameOf(one) })}
              session={tokenID}
            >
              {texts.end}…
            </DialogButton>
          </span>
        )}
      </div>
      <small>
        {kind === 'api' ? `${scopes.map((scope) => texts.scopes[scope]).join(', ')} · ` : ''}
        {isLimited ? `${texts.limited({ to: [...groups, ...devices].join(', ') })} · ` : ''}
        {texts.used} <Age at={lastUsedOn} /> · {texts.ends} <Time at={expires} />
      </small>
    </li>
  );
}

type Push = Result<'getTokens'>['pushes'][number];

/** Browsers and apps that get notifications. */
function PushRow({ one }: { readonly one: Push }) {
  const { sessions: texts } = useWords(peopleWords).people;
  const queries = useQueryClient();
  const removing = useMutation({
    mutationFn: () => call('unregisterPush', { params: { pushID: one.pushID } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['people', 'sessions'] }),
  });
  const name = `${texts.push} ${one.service}`;
  return (
    <li className="row wrap">
      <Icon name="bell" />
      <span className="strong cut-off">{name}</span>
      <small>
        <Time at={one.createdOn} />
      </small>
      {one.pushID === '' ? null : (
        <Button
          className="button small push"
          aria-label={texts.endOf({ name })}
          isDisabled={removing.isPending}
          onPress={() => removing.mutate()}
        >
          {texts.end}
        </Button>
      )}
    </li>
  );
}

export function Sessions({ userID }: { readonly userID: string }) {
  const { sessions: texts } = useWords(peopleWords).people;
  const present = useValue(session);
  const { session: tokenID } = useSearch({ from: '/shell/people' });
  const nameOf = useNameOf();
  const isOwn = present?.userID === userID;
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['people', 'sessions', userID],
    queryFn: ({ signal }) => call('getTokens', { query: isOwn ? {} : { userID }, signal }),
  });
  const target = data?.tokens.find((one) => one.tokenID === tokenID);
  const targetName = target === undefined ? '' : nameOf(target);
  const others = data?.tokens.filter(({ isCurrent }) => !isCurrent).length ?? 0;
  return (
    <section className="card" aria-labelledby="sessions-title">
      <header className="wrap">
        <h2 id="sessions-title">{isOwn ? texts.own : texts.title({ user: userID })}</h2>
        {others === 0 ? null : (
          <span className="push">
            <DialogButton name="sessions-end" className="button small secondary">
              {isOwn ? texts.endAll : texts.endAllOf({ user: userID })}…
            </DialogButton>
          </span>
        )}
      </header>
      <View
        error={error}
        readMs={dataUpdatedAt}
        empty={data?.tokens.length === 0 ? <Empty icon="key-round" title={texts.none} /> : null}
      >
        <ul className="card-body stack">
          {data?.tokens.map((one) => (
            <Row key={one.tokenID} one={one} />
          ))}
          {data?.pushes.map((one) => (
            <PushRow key={`${one.pushID} ${one.createdOn}`} one={one} />
          ))}
        </ul>
      </View>
      <Ask
        name="session-end"
        title={texts.endTitle({ name: targetName })}
        action={texts.endOf({ name: targetName })}
        isOff={target === undefined}
        run={() => call('revokeToken', { body: { tokenID: tokenID ?? '', ...(isOwn ? {} : { userID }) } })}
      >
        <p>{texts.endText({ user: userID })}</p>
      </Ask>
      <Ask
        name="sessions-end"
        title={texts.endAllTitle({ user: userID })}
        action={isOwn ? texts.endAll : texts.endAllOf({ user: userID })}
        run={() => call('revokeTokens', { body: isOwn ? {} : { userID } })}
      >
        <p>{texts.endAllText}</p>
      </Ask>
    </section>
  );
}
