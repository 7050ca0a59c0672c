// Finds what became of orders that have no answer: by their late answer, or in the ledger once the service is there again. An order that was
// taken back meanwhile is followed by a further restore or lock, for the service lets the newest one count.
import { foundIn, isGivenUp, isOverdue, type SentOrder } from '../../state/orders/sent-orders.ts';
import { call } from '../call.ts';
import { isLive } from '../live.ts';
import { serviceNowS } from '../session.ts';
import { askSafe } from './safe-orders.ts';
import { recordFound, sentOrders, settleSent } from './sent-orders.ts';

const lookMs = 2000;
/** The newest commands of a vehicle among which an order is looked for. */
const commandsMost = '50';
const requestsMost = '100';

/** The service has these parts of an order. @param deviceIDs undefined: all. */
export function handleArrival(key: string, deviceIDs?: readonly string[]): void {
  const sent = sentOrders.get().find((one) => one.key === key);
  if (sent === undefined) return;
  settleSent(key, deviceIDs);
  for (const deviceID of deviceIDs ?? sent.deviceIDs)
    if (sent.takenBack.includes(deviceID)) void askSafe({ deviceID, relay: sent.relay });
}

async function lookFor(sent: SentOrder): Promise<void> {
  const { relay, deviceIDs, key } = sent;
  const { approvals } =
    relay === 'enginecutoff'
      ? await call('listApprovals', { query: { state: 'all', limit: requestsMost } })
      : { approvals: [] };
  for (const deviceID of deviceIDs) {
    const { commands } = await call('listCommands', { params: { deviceID }, query: { limit: commandsMost } });
    const found = foundIn(sent, deviceID, { commands, approvals });
    // Its answer may have come meanwhile.
    if (found === null || !sentOrders.get().some((one) => one.key === key)) continue;
    recordFound(relay, deviceID, found);
    handleArrival(key, [deviceID]);
  }
  if (isGivenUp(sent, serviceNowS())) settleSent(key);
}

/** Looks until the returned function is called. */
export function followSentOrders(): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    const overdue = sentOrders.get().filter((one) => isOverdue(one, serviceNowS()));
    if (isLooking || overdue.length === 0 || !isLive()) return;
    isLooking = true;
    for (const sent of overdue) await lookFor(sent).catch(() => undefined);
    isLooking = false;
  };
  const timer = setInterval(() => void look(), lookMs);
  return () => clearInterval(timer);
}
