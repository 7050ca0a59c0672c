// Settings of the ways out to people, and the rules between them. Safe by default: no private addresses, push services
// that are known, mail only over TLS; a password stands in a file, never in a setting.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { mailboxSource } from '../core/notifications/delivery-targets.ts';

const text = (description: string, options: object = {}) =>
  Type.String({ default: '', description, ...options });

export const notifySchema = Type.Object({
  allowPrivateTargets: Type.Boolean({
    default: false,
    description: 'Let webhooks and push endpoints be at private addresses and plain http',
  }),
  pushHosts: Type.Array(Type.String({ pattern: '^(\\*\\.)?[a-z0-9.-]+$' }), {
    default: [
      'fcm.googleapis.com',
      'updates.push.services.mozilla.com',
      'web.push.apple.com',
      '*.push.apple.com',
      '*.notify.windows.com',
    ],
    description: 'Hosts of push services that browsers may name, with commas between them',
  }),
  contact: text('Address (mailto: or https:) that push services may complain to; some insist on one', {
    pattern: '^(|mailto:[^\\s@]+@[^\\s@]+|https://\\S+)$',
  }),
  consoleUrl: text(
    'Address of the console as users reach it (https://fleet.example.com/console/), for links in mails with reports; empty: no links',
    { maxLength: 200, pattern: '^$|^https?://[A-Za-z0-9.:\\[\\]_-]+(/[A-Za-z0-9._~-]+)*/$' },
  ),
  smtp: Type.Object({
    host: text('Mail server; without it nothing is mailed'),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 587, description: 'Port of the mail server' }),
    security: Type.Enum(['starttls', 'tls', 'none'], {
      default: 'starttls',
      description: 'TLS to the mail server: asked for after the greeting, from the first byte, or none',
    }),
    user: text('User at the mail server; empty for no login'),
    passwordFile: text('File with the password of that user in its first line'),
    from: text('Address that mails come from', { pattern: `^$|${mailboxSource}` }),
  }),
});

export type NotifyConfig = Static<typeof notifySchema>;

/** @throws AppError `config` when settings contradict each other. */
export function checkNotify({ smtp }: NotifyConfig): void {
  if (smtp.host === '') return;
  if (smtp.from === '') {
    throw new AppError('config', 'notify.smtp.host is set but notify.smtp.from is not', {
      hint: 'Set the address that mails come from, as --notify-smtp-from.',
    });
  }
  if ((smtp.user === '') !== (smtp.passwordFile === '')) {
    throw new AppError('config', 'notify.smtp.user and notify.smtp.passwordFile need each other', {
      hint: 'Set both, or neither for a server that asks for no login.',
    });
  }
  if (smtp.security === 'none' && smtp.user !== '') {
    throw new AppError(
      'config',
      'notify.smtp.security none would send the password over the network without TLS',
      {
        hint: 'Use starttls or tls, or no login.',
      },
    );
  }
}
