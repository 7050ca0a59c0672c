// A process that sends what its argument lists (JSON) and prints the outcomes: whom it trusts is decided when a process
// starts, by the environment of the broker.
import { createEmailSender } from '../../../dist/broker/adapters/delivery/email.js';
import { createGuardedPost } from '../../../dist/broker/adapters/delivery/guarded-post.js';

const http = createGuardedPost({ allowsPrivate: true, resolve: async () => [] });

async function send({ url, smtp }) {
  if (url !== undefined) return http.post({ url, headers: {}, body: Buffer.from('{}') });
  const sender = createEmailSender(smtp);
  const outcome = await sender.send({
    to: 'ops@example.com',
    subject: 'Panic',
    text: 'Panic\n',
    id: smtp.id,
  });
  sender.close();
  return outcome;
}

const outcomes = [];
for (const job of JSON.parse(process.argv[2])) outcomes.push(await send(job));
process.stdout.write(JSON.stringify(outcomes));
