// Why a delivery failed, from the text that the service keeps with it. Pure.

const patterns = [
  ['answered', /^answered (\d+)$/],
  ['mailAnswered', /^the mail server answered (\d+)$/],
  ['pushAnswered', /^the push service answered (\d+)$/],
  ['noAnswer', /^no answer within (\d+) s$/],
  ['unreachable', /^cannot be reached(?: \((\w+)\))?$/],
  ['mailUnreachable', /^the mail server cannot be reached \((\w+)\)$/],
  ['noAddress', /^the name has no address$/],
  ['private', /^the (?:name leads to a private address|address is private)$/],
  ['notHttps', /^the address is not https$/],
  ['connectionEnded', /^the connection ended without an answer$/],
  ['late', /^could not be delivered in time$/],
  ['tooMany', /^too many deliveries of the account wait$/],
  ['ruleDeleted', /^the rule was deleted$/],
  ['noWebhook', /^the rule has no webhook any more$/],
  ['noMailServer', /^no mail server is configured$/],
  ['noMailbox', /^the address is no mailbox$/],
  ['pushEnded', /^the push registration (?:has ended|is gone)$/],
  ['gone', /^rule, notification or device are gone$/],
] as const;

export type ReasonName = (typeof patterns)[number][0];

export interface DeliveryReason {
  /** Null: a reason without words of its own; `detail` is the service's text. */
  readonly name: ReasonName | null;
  /** Status, seconds or code; '' without one. */
  readonly detail: string;
}

/** @param text `lastError` of a delivery, or `reason` of a test; not empty. */
export function reasonOf(text: string): DeliveryReason {
  for (const [name, pattern] of patterns) {
    const found = pattern.exec(text);
    if (found !== null) return { name, detail: found[1] ?? '' };
  }
  return { name: null, detail: text };
}
