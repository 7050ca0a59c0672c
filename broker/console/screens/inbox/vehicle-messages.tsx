// What vehicles wrote and this user has not marked as read, of all vehicles, and the one mark of it.
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formWords } from '../../../../build/words/form.ts';
import { inboxWords } from '../../../../build/words/inbox.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { connection, vehicles } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';
import { unreadMessagesKey, useUnreadMessages } from '../../service/unread-messages.ts';

function useRead() {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const reading = useSending({
    mutationKey: ['messages-read'],
    mutationFn: (upTo: number) => call('readMessages', { body: { upTo } }),
    onSettled: () => queries.invalidateQueries({ queryKey: unreadMessagesKey }),
  });
  return {
    isOff: state !== 'live' || reading.isBusy,
    isDown: state !== 'live',
    failure: reading.failure,
    read: reading.send,
  };
}

/** The mark is up to the newest message that is shown: what comes meanwhile stays unread. */
export function VehicleMessages() {
  const { inbox, forms, messages: common, stream } = useWords(inboxWords, formWords, tabWords);
  const { fromVehicles: texts } = inbox;
  const fleet = useValue(vehicles);
  const { data, readMs, error } = useUnreadMessages();
  const marking = useRead();
  const failure = useFailure(marking.failure, forms.failed);
  const shown = data?.messages;
  return (
    <section className="card" aria-labelledby="from-vehicles-title">
      <header>
        <h2 id="from-vehicles-title">{texts.title}</h2>
      </header>
      <View
        error={error}
        readMs={readMs}
        empty={
          shown?.length === 0 ? (
            <Empty icon="message-square" title={texts.none}>
              <p>{texts.hint}</p>
            </Empty>
          ) : null
        }
      >
        <ul className="card-body thread">
          {shown?.toReversed().map(({ messageNo, deviceID, message, timestamp }) => (
            <li key={messageNo}>
              <span className="avatar" aria-hidden="true">
                <Icon name="truck" />
              </span>
              <div>
                <p className="message-text">
                  <bdi>{message}</bdi>
                </p>
                <small>
                  <Link to="/vehicle/$deviceID" params={{ deviceID }} search={{ tab: 'messages' }}>
                    {fleet.get(deviceID)?.name ?? deviceID}
                  </Link>{' '}
                  · <Time at={timestamp} />
                </small>
              </div>
            </li>
          ))}
        </ul>
        {data?.more === true ? <p className="card-body muted">{common.more}</p> : null}
        <div className="card-body row wrap">
          <span className="muted">{marking.isDown ? stream.commandsOff : texts.own}</span>
          <ActionButton
            className="button secondary push"
            isOff={marking.isOff}
            onPress={() => {
              const newest = shown?.at(-1);
              if (newest !== undefined) marking.read(newest.messageNo);
            }}
          >
            <Icon name="check" />
            {texts.read}
          </ActionButton>
        </div>
      </View>
      {failure}
    </section>
  );
}
