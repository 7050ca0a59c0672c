// The settings of a Traccar server. What it forwards needs none of them: with them the service also fetches what it could not forward.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { isLoopback } from './listener-config.ts';

export const traccarSchema = Type.Object({
  url: Type.String({
    default: '',
    maxLength: 500,
    description:
      'Address of the Traccar server (https://traccar.example.com) whose lost positions are fetched; empty: none are',
  }),
  tokenFile: Type.String({
    default: '',
    maxLength: 500,
    description: 'File with a token of a Traccar user who sees the trackers, in its first line, mode 0600',
  }),
  account: Type.String({
    default: '',
    pattern: '^[A-Za-z0-9_-]{0,64}$',
    description: 'Account that the server forwards to',
  }),
  everyS: Type.Integer({
    minimum: 1,
    maximum: 86_400,
    default: 300,
    description: 'Seconds between two looks for lost positions',
  }),
});

export type TraccarConfig = Static<typeof traccarSchema>;

const hint = 'Set traccar.url, traccar.tokenFile and traccar.account together, or none of them.';

/** @throws AppError `config`. */
export function checkTraccar({ url, tokenFile, account }: TraccarConfig): void {
  const given = [url, tokenFile, account].filter((text) => text !== '').length;
  if (given === 0) return;
  if (given < 3) throw new AppError('config', 'The settings of traccar are incomplete', { hint });
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  // The token goes there with every request.
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return;
  throw new AppError('config', `traccar.url ${JSON.stringify(url)} is no https URL`, {
    hint: 'Write it in full, as https://traccar.example.com. Plain http is for a server on this machine only.',
  });
}
