// Messages to and from the vehicle: what was written and whether the vehicle confirmed it, and what the user has not read yet.
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Form, Label, TextArea, TextField } from 'react-aria-components';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device, Result } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Badge, Empty, Time, timeText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { useUnreadMessages } from '../../service/unread-messages.ts';
import { useOwnEvents } from './use-own-events.ts';

type Sent = Result<'sentMessages'>['messages'][number];

/** Characters of a message, as the service takes them. */
const textMost = 500;
const pageSize = '50';

function SentState({ message: { delivered, expires } }: { readonly message: Sent }) {
  const { messages: texts } = useWords(tabWords);
  const now = useNow();
  if (delivered > 0)
    return (
      <Badge icon="circle-check" tone="ok">
        {texts.delivered({ time: timeText(delivered) })}
      </Badge>
    );
  return now > expires ? (
    <Badge icon="timer-off" tone="look">
      {texts.expired}
    </Badge>
  ) : (
    <Badge icon="hourglass" tone="busy">
      {texts.waits({ time: timeText(expires) })}
    </Badge>
  );
}

function SentList({ deviceID }: { readonly deviceID: string }) {
  const { messages: texts, paging } = useWords(tabWords);
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['messages', 'sent', deviceID],
      queryFn: ({ pageParam, signal }) =>
        call('sentMessages', {
          params: { deviceID },
          query: { limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
          signal,
        }),
      initialPageParam: null as string | null,
      getNextPageParam: ({ next }) => next,
      refetchInterval: 15_000,
    });
  // A confirmation comes as an event.
  useOwnEvents(deviceID, refetch);
  const sent = data?.pages.flatMap(({ messages }) => messages);
  return (
    <section className="card" aria-labelledby="sent-title">
      <header>
        <h2 id="sent-title">{texts.sent}</h2>
      </header>
      <View
        error={error}
        readMs={dataUpdatedAt}
        empty={sent?.length === 0 ? <Empty icon="message-square" title={texts.noneSent} /> : null}
      >
        <ul className="card-body thread">
          {sent?.map((message) => (
            <li key={message.messageID}>
              <span className="avatar" aria-hidden="true">
                {message.sender.slice(0, 2).toUpperCase()}
              </span>
              <div className="stack tight">
                <p className="message-text">{message.message}</p>
                <div className="row wrap">
                  <SentState message={message} />
                  <small>
                    {message.sender} · <Time at={message.sent} />
                  </small>
                </div>
              </div>
            </li>
          ))}
        </ul>
      </View>
      {hasNextPage ? (
        <div className="card-body">
          <ActionButton className="button" isOff={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            {paging.older}
          </ActionButton>
        </div>
      ) : null}
    </section>
  );
}

function WriteForm({ deviceID, name }: { readonly deviceID: string; readonly name: string }) {
  const { messages: texts, stream } = useWords(tabWords);
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const [text, setText] = useState('');
  const writing = useMutation({
    mutationFn: (message: string) => call('setMessages', { body: { deviceID, message } }),
    onSuccess: () => setText(''),
    onSettled: () => queries.invalidateQueries({ queryKey: ['messages', 'sent', deviceID] }),
  });
  const failure = useFailure(writing.error, texts.notSent);
  const isDown = state !== 'live';
  const isOff = text.trim() === '' || writing.isPending || isDown;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff) writing.mutate(text.trim());
  };
  return (
    <Form className="card-body stack" onSubmit={submit}>
      <TextField className="field" value={text} onChange={setText} maxLength={textMost}>
        <Label>{texts.write({ vehicle: name })}</Label>
        <TextArea className="input" rows={3} />
      </TextField>
      <div className="row wrap">
        <small>{texts.left({ count: textMost - text.length })}</small>
        <ActionButton className="button primary push" type="submit" isOff={isOff}>
          <Icon name="message-square" />
          {texts.send}
        </ActionButton>
      </div>
      <p className="muted">{isDown ? stream.commandsOff : texts.kept}</p>
      {failure}
      {writing.isSuccess ? (
        <p className="muted" role="status">
          {texts.recorded}
        </p>
      ) : null}
    </Form>
  );
}

/** Unread messages of this vehicle. Marking is by number over all vehicles, so it stands in the inbox. */
function Unread({ deviceID }: { readonly deviceID: string }) {
  const { messages: texts } = useWords(tabWords);
  const { pages } = useWords();
  const { data, readMs, error } = useUnreadMessages();
  const own = data?.messages.filter((message) => message.deviceID === deviceID).toReversed();
  return (
    <section className="card" aria-labelledby="unread-title">
      <header>
        <h2 id="unread-title">{texts.unread}</h2>
      </header>
      <View
        error={error}
        readMs={readMs}
        empty={
          own?.length === 0 ? (
            <Empty icon="message-square" title={texts.noneUnread}>
              <p>{texts.noneUnreadHint}</p>
            </Empty>
          ) : null
        }
      >
        <ul className="card-body thread">
          {own?.map(({ messageNo, message, timestamp }) => (
            <li key={messageNo}>
              <span className="avatar" aria-hidden="true">
                <Icon name="truck" />
              </span>
              <div>
                <p className="message-text">{message}</p>
                <small>
                  <Time at={timestamp} />
                </small>
              </div>
            </li>
          ))}
        </ul>
      </View>
      {data?.more === true ? <p className="card-body muted">{texts.more}</p> : null}
      <p className="card-body">
        <Link to="/inbox">{pages.inbox.go}</Link>
      </p>
    </section>
  );
}

export function VehicleMessages({ device }: { readonly device: Device }) {
  const { messages: texts } = useWords(tabWords);
  const role = useRole();
  const { deviceID, deviceDisplayName } = device;
  return (
    <div className="split">
      <SentList deviceID={deviceID} />
      <div className="stack">
        <section className="card" aria-labelledby="write-title">
          <header>
            <h2 id="write-title">{texts.new}</h2>
          </header>
          {role === 'viewer' ? (
            <Empty icon="lock" title={texts.viewer} />
          ) : (
            <WriteForm key={deviceID} deviceID={deviceID} name={deviceDisplayName || deviceID} />
          )}
        </section>
        <Unread deviceID={deviceID} />
      </div>
    </div>
  );
}
