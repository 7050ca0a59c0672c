// The one sentence that says where a cut or an unlock stands. Only the ledger's own state says that something happened.

import type { cutWords } from '../../../../build/words/cut.ts';
import type { Approval, CommandRecord } from '../../api/operations.ts';
import { timeText } from '../../components/texts.tsx';
import { metOf } from '../../state/evidence.ts';
import { type Aftermath, requestState } from '../../state/orders/cut-course.ts';
import { cutStateOf, type Relay } from '../../state/orders/cut-view.ts';
import type { Signing } from '../../state/orders/signing.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { reportTime } from './order-times.ts';
import { whyText } from './verdict-words.ts';

export interface Said {
  readonly title: string;
  readonly hint: string;
}

/** Where a command stands, and what stands of it since. @param vehicle its name. */
export function commandSays(
  record: CommandRecord,
  { vehicle, relay, after }: { readonly vehicle: string; readonly relay: Relay; readonly after: Aftermath },
  words: WordsWith<[typeof cutWords]>,
): Said {
  const { says, met, withdrawAsked } = words.order;
  const { says: own, hints, after: since } = words.orders[relay];
  const { verdict, detail, cancelledBy, hasEnded } = record;
  const state = cutStateOf(record.commandState);
  // Units of other makes send a sentence in place of rules.
  const why = whyText(verdict, words) || detail;
  const asked = cancelledBy === '' || hasEnded ? '' : withdrawAsked({ user: cancelledBy });
  const time = after.at === null ? '' : timeText(after.at);
  const nothing = after.kind === 'replaced' ? since.replaced : hints.nothingRepeated;
  switch (state) {
    case 'armed': {
      const { met: proven, all } = verdict === null ? { met: 0, all: 0 } : metOf(verdict, relay);
      const counted = verdict === null ? '' : met({ met: proven, all });
      return { title: why === '' ? own.armedPlain : says.armed({ why }), hint: asked || counted };
    }
    case 'confirmed':
      if (after.kind === 'undone')
        return {
          title: since.undone({ time: reportTime(record, words) }),
          hint: after.by === '' ? since.readBack : since.by({ user: after.by, time }),
        };
      return {
        title: own.confirmed({ time: reportTime(record, words) }),
        hint:
          after.kind === 'undoing'
            ? since.undoing({ user: after.by, time })
            : after.kind === 'replaced'
              ? since.replaced
              : hints.confirmed,
      };
    case 'refused':
      return {
        title: own.refused({ vehicle, why: why || words.common.unknown }),
        hint: nothing,
      };
    case 'expired':
    case 'cancelled':
      return { title: own[state], hint: nothing };
    case 'executing':
      return { title: own.executing, hint: asked };
    case 'superseded':
      return { title: says.superseded, hint: after.kind === 'replaced' ? since.replaced : '' };
    case 'unknown':
      return { title: says.unknown, hint: hints.unknown };
    default:
      return { title: says[state], hint: asked };
  }
}

/** Why an order that persons sign ended before it was sent. */
const endCauses = ['restarted', 'counter', 'list'] as const;

const countsOf = ({ given, needed }: Signing) => ({ given: given.length, needed });

/** Where a request to a second person, or to persons of the owner's list, stands that gave no command. */
export function requestSays(
  request: Approval,
  {
    relay,
    isOn,
  }: { readonly relay: Relay /** The relay reads back as asked for. */; readonly isOn: boolean },
  words: WordsWith<[typeof cutWords]>,
): Said {
  const { says: own, hints, after } = words.orders[relay];
  const { signing } = request;
  const nothing = isOn ? after.replaced : hints.nothingRepeated;
  switch (requestState(request)) {
    case 'refused':
      return {
        title: own.refusedBy({ user: request.decidedBy }),
        hint: request.decidedReason || nothing,
      };
    case 'cancelled':
      return { title: own.cancelled, hint: nothing };
    case 'expired': {
      const cause = endCauses.find((one) => one === request.endCause);
      return cause === undefined
        ? { title: own.expiredRequest, hint: nothing }
        : { title: own.void, hint: words.persons.ended[cause] };
    }
    default:
      return {
        title: signing === null ? words.order.says.approval : words.persons.says(countsOf(signing)),
        hint: words.order.hints.approveUntil({ time: timeText(request.expires) }),
      };
  }
}
