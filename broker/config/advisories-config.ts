// The settings of the supplier's list of advisories and the rule between them. Off by default; nothing is ever fetched.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';

const file = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

export const advisoriesSchema = Type.Object({
  file: file(
    "Signed list of known vulnerabilities and support periods (advisories.jws), read while the operator's page is open",
  ),
  keyFile: file('Public key (PEM) of the releases, which signed that list'),
});

/** @throws AppError `config`. */
export function checkAdvisories({ file: path, keyFile }: Static<typeof advisoriesSchema>): void {
  if ((path === undefined) === (keyFile === undefined)) return;
  throw new AppError('config', 'advisories.file and advisories.keyFile need each other', {
    hint: 'Give both; the key is the one that release.pub of the agents holds.',
  });
}
