// The settings of the listener for Prometheus and the rules between them: off unless it has a port, on this machine only
// unless it has a token and the setting says so.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';

export const metricsSchema = Type.Object({
  port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description:
        'Port of /metrics for Prometheus (9464 is customary), 0 takes a free one; without it there is no such listener',
    }),
  ),
  host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'Address of that listener' }),
  tokenFile: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File with the token that it asks for, made by `admin-token`; without it none is asked for',
    }),
  ),
});

/** @throws AppError `config` for a listener that strangers could read. @param isOpen others reach its address. */
export function checkMetrics(
  { port, host, tokenFile }: Static<typeof metricsSchema>,
  isOpen: boolean,
  insecureListen: boolean,
): void {
  if (port === undefined || !isOpen) return;
  if (tokenFile === undefined) {
    throw new AppError('config', `--metrics-host ${host} would make the figures of the service public`, {
      hint: 'Give it a token: fleetward-broker admin-token --file <path>, then --metrics-token-file <path>.',
    });
  }
  if (insecureListen) return;
  throw new AppError('config', `--metrics-host ${host} would send its token over the network without TLS`, {
    hint: 'Put a TLS proxy in front and listen on 127.0.0.1, or add --insecure-listen to accept the risk.',
  });
}
