// The settings of enrolment: how long a code is good, and what a vehicle gets besides its secret.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { enrolmentLimits, enrolmentPatterns } from '../../src/core/wire/enrolment.ts';

/** Longest life of a code in hours: a week. */
export const codeHoursMost = 168;

const file = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

export const enrolmentSchema = Type.Object({
  codeHours: Type.Integer({
    minimum: 1,
    maximum: codeHoursMost,
    default: 24,
    description: 'Hours that a new enrolment code is good',
  }),
  mqttUrls: Type.Array(Type.String({ pattern: enrolmentPatterns.mqttUrl }), {
    maxItems: enrolmentLimits.mqttUrls,
    default: [],
    description: 'Addresses that an enrolled vehicle connects to, the best first, with commas between them',
  }),
  mqttCaFile: file('Certificate authority (PEM) that an enrolled vehicle shall trust for mqtts://'),
  caCertFile: file(
    'Certificate (PEM) of the authority that signs certificates of vehicles; without it there are none',
  ),
  caKeyFile: file('Private key (PEM) of that authority, mode 0600'),
  caPassphraseFile: file('File whose first line is the passphrase of that key, mode 0600; where it has one'),
  certDays: Type.Integer({
    minimum: 1,
    maximum: 3650,
    default: 1095,
    description: 'Days that the certificate of a vehicle is good; never longer than that of the authority',
  }),
});

export type EnrolmentConfig = Static<typeof enrolmentSchema>;

/** @throws AppError `config` when only one half of the authority is given. */
export function checkEnrolment({ caCertFile, caKeyFile }: EnrolmentConfig): void {
  if ((caCertFile === undefined) === (caKeyFile === undefined)) return;
  throw new AppError('config', 'enrolment.caCertFile and enrolment.caKeyFile belong together', {
    hint: 'Give both to sign certificates of vehicles, or none.',
  });
}
