// The one sentence that says where a cut or an unlock stands. Only the ledger's own state says that something happened.
import type { Approval, CommandRecord } from '../../api/operations.ts';
import { timeText } from '../../components/texts.tsx';
import { cutStateOf, type Relay, requestState } from '../../state/cut-view.ts';
import { metOf } from '../../state/evidence.ts';
import type { cutWords } from '../../words/cut/words.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { whyText } from './verdict-words.ts';

export interface Said {
  readonly title: string;
  readonly hint: string;
}

/** Where a command stands. @param vehicle its name. */
export function commandSays(
  record: CommandRecord,
  vehicle: string,
  relay: Relay,
  words: WordsWith<[typeof cutWords]>,
): Said {
  const { says, met, withdrawAsked } = words.order;
  const { says: own, hints } = words.orders[relay];
  const { verdict, detail, reported, updated, cancelledBy, hasEnded } = record;
  const state = cutStateOf(record.commandState);
  // Units of other makes send a sentence in place of rules.
  const why = whyText(verdict, words) || detail;
  const asked = cancelledBy === '' || hasEnded ? '' : withdrawAsked(cancelledBy);
  switch (state) {
    case 'armed': {
      const counted = verdict === null ? '' : met(metOf(verdict).met, metOf(verdict).all);
      return { title: why === '' ? own.armedPlain : says.armed(why), hint: asked || counted };
    }
    case 'confirmed':
      return { title: own.confirmed(timeText(reported === 0 ? updated : reported)), hint: hints.confirmed };
    case 'refused':
      return {
        title: own.refused(vehicle, why || words.common.unknown),
        hint: hints.nothingRepeated,
      };
    case 'expired':
    case 'cancelled':
      return { title: own[state], hint: hints.nothingRepeated };
    case 'executing':
      return { title: own.executing, hint: asked };
    case 'superseded':
      return { title: says.superseded, hint: '' };
    case 'unknown':
      return { title: says.unknown, hint: hints.unknown };
    default:
      return { title: says[state], hint: asked };
  }
}

/** Where a request to a second person stands that gave no command. */
export function requestSays(request: Approval, relay: Relay, words: WordsWith<[typeof cutWords]>): Said {
  const { says: own, hints } = words.orders[relay];
  switch (requestState(request)) {
    case 'refused':
      return {
        title: own.refusedBy(request.decidedBy),
        hint: request.decidedReason || hints.nothingRepeated,
      };
    case 'cancelled':
      return { title: own.cancelled, hint: hints.nothingRepeated };
    case 'expired':
      return { title: own.expiredRequest, hint: hints.nothingRepeated };
    default:
      return {
        title: words.order.says.approval,
        hint: words.order.hints.approveUntil(timeText(request.expires)),
      };
  }
}
