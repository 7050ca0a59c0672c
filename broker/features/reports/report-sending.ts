// Sends one mail with a report, if its owner may still see what it contains.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { mailboxesOf } from '../../core/notifications/delivery-targets.ts';
import type { SendMail } from '../../notify/senders.ts';
import { reportMailOf } from './report-mails.ts';
import { sightOf } from './report-sight.ts';

const unpack = promisify(gunzip);

/** A user who lost a right meanwhile, or a device that left the user's groups, ends the delivery: the next report is read anew. */
export const sendReport: SendMail = async ({ db, senders }, deliveryNo) => {
  const mail = await reportMailOf(db, deliveryNo);
  if (mail === null) return { kind: 'gone', fault: 'gone' };
  const { scope, target, id, subject, body, fileName, csv } = mail;
  if (scope === null || (await sightOf(db, scope)) !== mail.sight) {
    return { kind: 'gone', fault: 'report_changed' };
  }
  if (senders.email === null) return { kind: 'gone', fault: 'no_mail_server' };
  if (mailboxesOf(target).join() !== target) return { kind: 'gone', fault: 'no_mailbox' };
  const file = csv === null ? {} : { file: { name: fileName, content: await unpack(csv) } };
  return senders.email({ to: target, id, subject, text: body, ...file });
};
