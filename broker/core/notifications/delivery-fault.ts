// Why a notification was not delivered, as data: a code, and a detail where it has one. It is kept as one text, `answered 503`; sentences
// are made of it where people read them.

const sentences = {
  answered: (status: string) => `answered ${status}`,
  mail_answered: (status: string) => `the mail server answered ${status}`,
  push_answered: (status: string) => `the push service answered ${status}`,
  no_answer: (seconds: string) => `no answer within ${seconds} s`,
  unreachable: (code: string) => `cannot be reached${code === '' ? '' : ` (${code})`}`,
  mail_unreachable: (code: string) => `the mail server cannot be reached (${code})`,
  no_address: 'the name has no address',
  private_address: 'the address is private, or the name leads to one that is',
  not_https: 'the address is not https',
  connection_ended: 'the connection ended without an answer',
  late: 'could not be delivered in time',
  too_many: 'too many deliveries of the account wait',
  rule_deleted: 'the rule was deleted',
  no_webhook: 'the rule has no webhook any more',
  no_mail_server: 'no mail server is configured',
  no_mailbox: 'the address is no mailbox',
  push_keys: 'the keys of the subscription are no keys',
  push_ended: 'the push registration has ended',
  report_deleted: 'the report schedule was deleted',
  report_changed: 'what the owner of the report may see has changed since it was read',
  gone: 'rule, notification or device are gone',
} as const;

export type FaultCode = keyof typeof sentences;
export const faultCodes = Object.keys(sentences) as readonly FaultCode[];

/** A code, and its detail after a space: status, seconds, or the code of a failed connection. */
export type DeliveryFault = FaultCode | `${FaultCode} ${string | number}`;

/** A fault in answers: as data, and as a sentence. */
export interface FaultView {
  /** '' without a fault. */
  readonly code: FaultCode | '';
  /** '' where the code says all. */
  readonly detail: string;
  readonly sentence: string;
}

/** @param text as kept; '' without a fault. */
export function viewFault(text: string): FaultView {
  const [first = '', ...rest] = text.split(' ');
  const code = faultCodes.find((one) => one === first);
  if (code === undefined) return { code: '', detail: '', sentence: text };
  const detail = rest.join(' ');
  const said = sentences[code];
  return { code, detail, sentence: typeof said === 'string' ? said : said(detail) };
}
