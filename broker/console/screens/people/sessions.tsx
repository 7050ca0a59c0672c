// Open sessions and tokens of one user, each with its end; and a new token for a program, shown once and kept nowhere.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { peopleWords } from '../../../../build/words/people.ts';
import type { Result } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { DialogButton, useDialog } from '../../components/patterns/address.tsx';
import {
  ActionDialog,
  Fields,
  groupOptions,
  optionsOf,
  ShownOnce,
  useFields,
} from '../../components/patterns/form.tsx';
import { ListView } from '../../components/patterns/list-detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Age, Badge, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { session } from '../../service/session.ts';
import { type OpenSession, type TokenScope, tokenScopes } from '../../state/people-view.ts';
import { peopleChanges, useGroups } from './use-people.ts';

/** What people know it by. */
function useNameOf(): (one: OpenSession) => string {
  const { sessions: texts } = useWords(peopleWords).people;
  return ({ kind, description, userAgent, tokenID }) =>
    `${texts[kind]} ${description || userAgent.slice(0, 40) || tokenID.slice(0, 6)}`;
}

function Row({ one }: { readonly one: OpenSession }) {
  const { sessions: texts } = useWords(peopleWords).people;
  const name = useNameOf()(one);
  const { tokenID, kind, scopes, isLimited, devices, groups, lastUsedOn, expires, isCurrent } = one;
  return (
    <li className="stack tight" data-session={kind}>
      <div className="row wrap">
        <Icon name={kind === 'api' ? 'key-round' : 'users'} />
        <span className="strong cut-off">{name}</span>
        {isCurrent ? (
          <Badge icon="circle-check" tone="ok">
            {texts.current}
          </Badge>
        ) : (
          <DialogButton
            name="session-end"
            about={{ session: tokenID }}
            className="button small push"
            label={texts.endOf({ name })}
          >
            {texts.end}
          </DialogButton>
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

interface EndProps {
  readonly userID: string;
  readonly isOwn: boolean;
  /** The one that is ended; undefined: it is gone. */
  readonly target: OpenSession | undefined;
}

function EndDialog({ userID, isOwn, target }: EndProps) {
  const { sessions: texts } = useWords(peopleWords).people;
  const { opened } = useDialog();
  const nameOf = useNameOf();
  const of = isOwn ? {} : { userID };
  const name = target === undefined ? '' : nameOf(target);
  if (opened === 'session-end')
    return (
      <ActionDialog
        title={texts.endTitle({ name })}
        action={texts.endOf({ name })}
        isOff={target === undefined}
        changes={peopleChanges}
        run={() => call('revokeToken', { body: { tokenID: target?.tokenID ?? '', ...of } })}
      >
        <p>{texts.endText({ user: userID })}</p>
      </ActionDialog>
    );
  if (opened !== 'sessions-end') return null;
  return (
    <ActionDialog
      title={texts.endAllTitle({ user: userID })}
      action={isOwn ? texts.endAll : texts.endAllOf({ user: userID })}
      changes={peopleChanges}
      run={() => call('revokeTokens', { body: of })}
    >
      <p>{texts.endAllText}</p>
    </ActionDialog>
  );
}

/** Lets an administrator remove the authenticator app of a user who lost the phone; asks for the administrator's password. */
function TakeAppOff({ userID }: { readonly userID: string }) {
  const { sessions: texts } = useWords(peopleWords).people;
  const [draft, put] = useFields({ password: '' });
  return (
    <ActionDialog
      title={texts.appTitle({ user: userID })}
      action={texts.app}
      isOff={draft.password === ''}
      changes={peopleChanges}
      run={() => call('deleteTotp', { body: { userID, password: draft.password } })}
    >
      <p>{texts.appText}</p>
      <Fields
        of={[
          {
            name: 'password',
            label: texts.appPassword,
            type: 'password',
            autoComplete: 'current-password',
            most: 256,
            isRequired: true,
          },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

export function Sessions({ userID }: { readonly userID: string }) {
  const { sessions: texts } = useWords(peopleWords).people;
  const { session: tokenID } = useSearch({ from: '/shell/people' });
  const { opened } = useDialog();
  const isOwn = useValue(session)?.userID === userID;
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['people', 'sessions', userID],
    queryFn: ({ signal }) => call('getTokens', { query: isOwn ? {} : { userID }, signal }),
  });
  const hasOthers = data?.tokens.some(({ isCurrent }) => !isCurrent) === true;
  return (
    <Card
      title={isOwn ? texts.own : texts.title({ user: userID })}
      head={
        hasOthers ? (
          <DialogButton name="sessions-end" className="button small secondary push">
            {isOwn ? texts.endAll : texts.endAllOf({ user: userID })}
          </DialogButton>
        ) : null
      }
      isBare
    >
      <ListView
        list={{ items: data?.tokens, readMs: dataUpdatedAt, error }}
        empty={{ icon: 'key-round', title: texts.none }}
      >
        <ul className="card-body stack">
          {data?.tokens.map((one) => (
            <Row key={one.tokenID} one={one} />
          ))}
          {data?.pushes.map((one) => (
            <PushRow key={`${one.pushID} ${one.createdOn}`} one={one} />
          ))}
        </ul>
      </ListView>
      {isOwn ? null : (
        <div className="card-body">
          <DialogButton name="totp-off" className="button small">
            {texts.app}
          </DialogButton>
        </div>
      )}
      {opened === 'totp-off' && !isOwn ? <TakeAppOff userID={userID} /> : null}
      <EndDialog userID={userID} isOwn={isOwn} target={data?.tokens.find((one) => one.tokenID === tokenID)} />
    </Card>
  );
}

const dayChoices = ['7', '30', '90', '365'] as const;

interface TokenDraft {
  readonly description: string;
  readonly days: (typeof dayChoices)[number];
  readonly scopes: readonly TokenScope[];
  readonly groups: readonly string[];
}

const noToken: TokenDraft = { description: '', days: '90', scopes: ['read'], groups: [] };

function createToken({ description, days, scopes, groups }: TokenDraft) {
  const expires = Math.floor(Date.now() / 1000) + Number(days) * 86_400;
  const limit = groups.length === 0 ? {} : { groups: [...groups] };
  return call('token', {
    body: { description: description.trim(), expires, scopes: [...scopes], ...limit },
  });
}

export function NewToken() {
  const { token: texts } = useWords(peopleWords).people;
  const [draft, put] = useFields(noToken);
  const options = groupOptions(useGroups().items);
  return (
    <ActionDialog
      icon="key-round"
      title={texts.title}
      action={texts.create}
      isOff={draft.description.trim() === '' || draft.scopes.length === 0}
      beginsInField
      changes={peopleChanges}
      run={() => createToken(draft)}
      shown={({ token }) => <ShownOnce secrets={[[texts.shown, token]]} />}
    >
      <p>{texts.text}</p>
      <Fields
        of={[
          { name: 'description', label: texts.description, most: 128, isRequired: true, hasFocus: true },
          { name: 'days', label: texts.days, options: optionsOf(dayChoices, texts.dayChoices) },
          { name: 'scopes', label: texts.scopes, options: optionsOf(tokenScopes, texts.scopeHints) },
          options.length > 0 && { name: 'groups', label: texts.groups, hint: texts.groupsHint, options },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}
