// A cut or an unlock on one screen: a dialog over the page of the vehicle. Which order it shows stands in the address, by its relay.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import type { Device } from '../../api/operations.ts';
import { useFocusInSight } from '../../components/focus-in-sight.ts';
import { Notice, spanText, timeText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { connection } from '../../service/live.ts';
import { sentOf, sentOrders } from '../../service/orders/sent-orders.ts';
import { handleArrival } from '../../service/orders/sent-watch.ts';
import { useOrderChanges } from '../../service/orders.ts';
import { serviceNowS } from '../../service/session.ts';
import type { Vehicle } from '../../state/fleet.ts';
import {
  type CutTarget,
  cutText,
  orderIn,
  orderMembers,
  orderSearch,
  pendingOf,
  type Relay,
} from '../../state/orders/cut-view.ts';
import { isOverdue } from '../../state/orders/sent-orders.ts';
import { without } from '../../state/search.ts';
import { AskOrder } from './ask.tsx';
import { FollowCommand, FollowRequest } from './following.tsx';
import { useRehearsal } from './questions/use-rehearsal.ts';
import { useCloseWhenEnded } from './use-close-when-ended.ts';

/** Inside the dialog: the notice of the page is behind it. */
function StaleInside({ relay, deviceID }: { readonly relay: Relay; readonly deviceID: string }) {
  const words = useWords(cutWords);
  const sent = sentOf(useValue(sentOrders), relay, [deviceID]);
  const now = useNow();
  const { state, aliveMs } = useValue(connection);
  if (state !== 'down') return null;
  const title =
    aliveMs === 0
      ? words.error.unreachable
      : words.stream.down({ span: spanText(now - aliveMs / 1000, words) });
  return (
    <div className="body stale-inside">
      <Notice tone="look" icon="wifi-off" title={title}>
        {aliveMs === 0
          ? words.login.unreachableHint
          : words.orders[relay].stale({ time: timeText(aliveMs / 1000) })}
      </Notice>
      <p className="hidden" role="alert">
        {sent === undefined ? words.relays[relay].off : ''}
      </p>
    </div>
  );
}

interface ContentProps {
  readonly relay: Relay;
  readonly target: CutTarget;
  readonly device: Device;
  readonly vehicle: Vehicle;
  close(): void;
  show(order: string): void;
}

function Content({ relay, target, device, vehicle, close, show }: ContentProps) {
  const { state } = useValue(connection);
  const isDown = state !== 'live';
  const mayCommand = device.authorities['command'] === true;
  // A command that the vehicle judges by itself needs no question.
  const isAsked = mayCommand && target.kind !== 'command' && !isDown && vehicle.isOnline === true;
  const rehearsal = useRehearsal({ deviceID: device.deviceID, relay }, isAsked);
  useOrderChanges(device.deviceID);
  const showCommand = useCallback((commandID: string) => show(cutText('command', commandID)), [show]);
  const pending = target.kind === 'ask' ? pendingOf(device, relay) : null;
  // One that waits already is shown in place of the form: asking again would give the same. So is the one that an order without an answer became.
  const [isAsking] = useState(pending === null);
  const sent = sentOf(useValue(sentOrders), relay, [device.deviceID]);
  const isLate = sent !== undefined && isOverdue(sent, serviceNowS());
  useEffect(() => {
    if (pending === null || (isAsking && !isLate)) return;
    if (isLate) handleArrival(sent.key, [device.deviceID]);
    show(pending);
  }, [isAsking, isLate, sent, pending, show, device.deviceID]);
  const props = { relay, vehicle, mayCommand, rehearsal, isDown, close };
  if (target.kind === 'command') return <FollowCommand {...props} commandID={target.id} />;
  if (target.kind === 'request')
    return <FollowRequest {...props} approvalID={target.id} onCommand={showCommand} />;
  return (
    <AskOrder
      relay={relay}
      vehicle={vehicle}
      owner={device.owner}
      rehearsal={rehearsal}
      isDown={isDown}
      close={close}
      onAsked={show}
    />
  );
}

/** @param device as the service has it; @param vehicle as the stream has it. */
export function OrderDialog({ device, vehicle }: { readonly device: Device; readonly vehicle: Vehicle }) {
  const search = useSearch({ from: '/shell/vehicle/$deviceID' });
  const navigate = useNavigate({ from: '/vehicle/$deviceID' });
  const opened = orderIn(search);
  const relay = opened?.relay ?? 'enginecutoff';
  const target = opened?.target ?? null;
  const close = useCallback(
    () => void navigate({ search: (before) => without(without(before, 'cut'), 'unlock'), replace: true }),
    [navigate],
  );
  const show = useCallback(
    (next: string) =>
      void navigate({
        search: (before) => ({
          ...without(before, orderMembers[relay === 'enginecutoff' ? 'cargoaccess' : 'enginecutoff']),
          ...orderSearch(relay, next),
        }),
        replace: true,
      }),
    [navigate, relay],
  );
  useCloseWhenEnded(target?.kind === 'ask', close);
  const inSight = useFocusInSight();
  const isOpen = target !== null && (target.kind !== 'ask' || device.authorities['command'] === true);
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(wanted) => (wanted ? undefined : close())}
    >
      <Modal className="modal wide-modal">
        <Dialog className="dialog cut" ref={inSight}>
          <StaleInside relay={relay} deviceID={device.deviceID} />
          {target === null ? null : (
            <Content
              key={`${relay} ${target.kind === 'ask' ? 'ask' : 'follow'}`}
              relay={relay}
              target={target}
              device={device}
              vehicle={vehicle}
              close={close}
              show={show}
            />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
