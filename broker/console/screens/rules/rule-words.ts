// What a rule is about and what it does, in words.

import type { ruleWords } from '../../../../build/words/rule.ts';
import { codeText } from '../../components/texts.tsx';
import type { Delivery, Rule } from '../../state/rules/rule-draft.ts';
import type { WordsWith } from '../../words/word-set.ts';

/** Events and occurrences that the rule notifies of. */
export function aboutOf(
  { statusCodes, kinds }: Rule,
  words: WordsWith<[typeof ruleWords]>,
): readonly string[] {
  const { rules: texts } = words;
  const events =
    typeof statusCodes === 'string'
      ? [texts.events[statusCodes]]
      : statusCodes.map((code) => codeText(code, words));
  return [...events, ...kinds.map((kind) => texts.kinds[kind])];
}

/** Its channels and its alarm. */
export function actsOf(
  rule: Rule,
  { rules: texts, deliveries }: WordsWith<[typeof ruleWords]>,
): readonly string[] {
  const { webhook, email, push, alarm, escalatesAfterS } = rule;
  return [
    ...(webhook === null ? [] : [deliveries.channels.webhook]),
    ...(email === null ? [] : [deliveries.channels.email]),
    ...(push === null ? [] : [deliveries.channels.push]),
    ...(alarm === null ? [] : [`${texts.alarm}: ${texts.priorities[alarm.priority]}`]),
    ...(escalatesAfterS === null ? [] : [texts.afterSeconds({ count: escalatesAfterS })]),
  ];
}

/** Why a delivery failed; '' when it did not. @param detail of the code: a status, seconds, or the code of a connection. */
export function reasonText(
  code: Delivery['lastErrorCode'],
  detail: string,
  { rules: texts }: WordsWith<[typeof ruleWords]>,
): string {
  if (code === '') return '';
  const said = texts.deliveries.reasons[code];
  return typeof said === 'string'
    ? said
    : said({ status: detail, seconds: detail, code: detail, hasCode: detail !== '' });
}
