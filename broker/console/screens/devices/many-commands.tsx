// Commands for the picked vehicles: restore and lock at once, cuts by their form; and what came of each. What was not commanded stays picked.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { manyWords } from '../../../../build/words/many.ts';
import { randomKey } from '../../../client/idempotency-key.ts';
import { Icon } from '../../components/icon.tsx';
import { DialogButton, useDialog } from '../../components/patterns/address.tsx';
import { Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { abandonReads, call } from '../../service/call.ts';
import { isLive, vehicles } from '../../service/live.ts';
import { takeBack } from '../../service/orders/sent-orders.ts';
import { cutText } from '../../state/orders/cut-view.ts';
import { AskManyDialog, type CommandItems } from '../cut/ask-many.tsx';
import { usePicked } from './use-picked.ts';

type Order = 'restore' | 'lock' | 'cut';

interface Outcome {
  readonly order: Order;
  readonly items: CommandItems;
}

/** A second press comes no later than this, ms. */
const doublePressMs = 500;

const features = { restore: 'enginecutoff', lock: 'cargoaccess' } as const;

export function useManyCommands() {
  const queries = useQueryClient();
  const { ids, pick } = usePicked();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const show = (order: Order, items: CommandItems): void => {
    setOutcome({ order, items });
    pick(items.filter(({ error }) => error !== null).map(({ deviceID }) => deviceID));
  };
  const pressed = useRef({ order: '', ms: 0 });
  // Towards the safe state: it has no condition, and waits neither for the stream nor for an answer.
  const sending = useMutation({
    mutationFn: (order: keyof typeof features) => {
      for (const deviceID of ids) takeBack(features[order], deviceID);
      if (!isLive()) abandonReads();
      return call('commandDevices', {
        body: { deviceIDs: [...ids], feature: features[order], state: '0' },
        idempotencyKey: randomKey(),
      });
    },
    onSuccess: ({ items }, order) => show(order, items),
    onSettled: () => queries.invalidateQueries({ queryKey: ['orders'] }),
  });
  return {
    ids,
    pick,
    outcome,
    failure: sending.error,
    isAsking: sending.isPending,
    show,
    forget: (): void => setOutcome(null),
    // The second press of a double press asks for nothing: the first has.
    send(order: keyof typeof features): void {
      const { order: before, ms } = pressed.current;
      if (before === order && performance.now() - ms < doublePressMs) return;
      pressed.current = { order, ms: performance.now() };
      setOutcome(null);
      sending.mutate(order);
    },
  };
}

export type ManyCommands = ReturnType<typeof useManyCommands>;

export function CommandButtons({ commands }: { readonly commands: ManyCommands }) {
  const { commands: texts } = useWords(manyWords).many;
  const { ids, send } = commands;
  return (
    <>
      <Button className="button restore small" onPress={() => send('restore')}>
        <Icon name="power" />
        {texts.restore({ count: ids.length })}
      </Button>
      <Button className="button secondary small" onPress={() => send('lock')}>
        <Icon name="lock" />
        {texts.lock({ count: ids.length })}
      </Button>
      <DialogButton name="cut" icon="power-off" className="button secondary small">
        {texts.cut({ count: ids.length })}
      </DialogButton>
    </>
  );
}

type Item = CommandItems[number];

function FollowLink({ item: { deviceID, command }, order }: { readonly item: Item; readonly order: Order }) {
  const { commands: texts } = useWords(manyWords).many;
  if (command === null) return null;
  const { commandID, approvalID } = command;
  const cut = commandID === '' ? cutText('request', approvalID) : cutText('command', commandID);
  return (
    <Link
      to="/vehicle/$deviceID"
      params={{ deviceID }}
      search={order === 'cut' ? { cut } : { tab: 'commands' as const, command: commandID }}
    >
      {texts.follow}
    </Link>
  );
}

/** What the service said of each; a command that was asked for is not yet carried out. */
export function CommandResults({ commands }: { readonly commands: ManyCommands }) {
  const { many, error } = useWords(manyWords);
  const { commands: texts } = many;
  const fleet = useValue(vehicles);
  const failed = useFailure(commands.failure);
  const { outcome, isAsking } = commands;
  const failure = isAsking ? (
    <Notice tone="look" icon="hourglass" role="status" title={error.unanswered} />
  ) : (
    failed
  );
  if (outcome === null) return failure === null ? null : <div className="card-body">{failure}</div>;
  const { order, items } = outcome;
  const refused = items.filter((item) => item.error !== null);
  const done = items.length - refused.length;
  return (
    <section className="card-body stack" aria-label={many.results}>
      {done === 0 ? null : (
        <Notice tone="busy" icon="hourglass" role="status" title={texts.done[order]({ count: done })} />
      )}
      {refused.length === 0 ? null : (
        <Notice
          tone="look"
          icon="triangle-alert"
          role="alert"
          title={texts.failed({ count: refused.length })}
        />
      )}
      <ul className="stack tight">
        {items.map((item) => (
          <li key={item.deviceID} className="row wrap">
            <Icon name={item.error === null ? 'hourglass' : 'circle-x'} />
            <strong>
              <bdi>{fleet.get(item.deviceID)?.name ?? item.deviceID}</bdi>
            </strong>
            {item.error === null ? (
              <FollowLink item={item} order={order} />
            ) : (
              <bdi>
                {item.error.detail}
                {item.error.hint === null ? '' : `. ${item.error.hint}`}
              </bdi>
            )}
          </li>
        ))}
      </ul>
      <div className="row">
        <Button className="button secondary small" onPress={commands.forget}>
          {many.dismiss}
        </Button>
      </div>
    </section>
  );
}

/** Over the list, where the address names it. */
export function CutPicked({ commands, mayCommand }: { commands: ManyCommands; mayCommand: boolean }) {
  const { opened, close } = useDialog();
  const { ids, pick } = commands;
  return (
    <AskManyDialog
      isOpen={mayCommand && opened === 'cut' && ids.length > 0}
      deviceIDs={ids}
      takeOut={(deviceID) => pick(ids.filter((id) => id !== deviceID))}
      close={close}
      onAsked={(items) => {
        commands.show('cut', items);
        close();
      }}
    />
  );
}
