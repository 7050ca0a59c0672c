// The owner of the practice fleet and two persons of its list, made by the commands of a real owner. Their keys lie in the demo's folder and sign without
// a person, so they protect nothing: such code is in the simulator only.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import { join } from 'node:path';
import { type OwnerDocument, ownerSetID } from '../../src/core/persons/owner-document.ts';
import type { PersonsCrypto } from '../../src/core/persons/webauthn.ts';
import type { Assertion } from '../../src/core/wire/assertion.ts';

/** Files of the owner. */
export interface OwnerFiles {
  /** Empties the folder, or makes it. */
  renew(): Promise<void>;
  /** Null: there is none. */
  read(name: string): Promise<string | null>;
  write(name: string, text: string): Promise<void>;
}

/** A person of the list whose passkey is a file. */
export interface PracticePerson {
  readonly id: string;
  /** Agrees to an order. @param challenge base64url, as the service sent it. */
  assert(challenge: string): Assertion;
}

export interface PracticeOwner {
  /** For `[owner] key` of a vehicle. */
  readonly pin: string;
  /** The signed document, as a vehicle and the service take it. */
  readonly documentText: string;
  readonly persons: readonly PracticePerson[];
}

interface PracticeOwnerOptions {
  /** Folder of the owner, as `fleetward-broker owner --dir` has it. */
  readonly folder: string;
  readonly files: OwnerFiles;
  readonly crypto: PersonsCrypto;
  readonly accountID: string;
  readonly deviceID: string;
  /** Port of the console. */
  readonly httpPort: number;
  /** Runs `fleetward-broker owner`. */
  run(args: readonly string[]): Promise<string>;
}

interface KeptPerson {
  readonly id: string;
  readonly name: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
}

const rpID = 'localhost';
/** Persons who must agree to a cut. */
const neededForCut = 2;
const validDays = 1000;
const names = [
  ['colleague', 'Colleague (practice passkey)'],
  ['deputy', 'Deputy (practice passkey)'],
] as const;

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();

const spkiOf = (privateKey: string): Buffer =>
  createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'der' });
const credentialOf = (privateKey: string): string => base64url(sha256(spkiOf(privateKey)));

/** Flags of authenticator data: user present, user verified. */
const verifiedUser = 0x05;

/** A software authenticator after W3C Web Authentication Level 2, section 6.3.3. */
function personOf({ id, privateKey }: KeptPerson, origin: string): PracticePerson {
  const key = createPrivateKey(privateKey);
  return {
    id,
    assert(challenge) {
      const clientData = JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false });
      const authenticatorData = Buffer.concat([sha256(rpID), Buffer.from([verifiedUser, 0, 0, 0, 0])]);
      const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), key);
      return {
        credential: credentialOf(privateKey),
        clientData: base64url(clientData),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(signature),
      };
    },
  };
}

const newPerson = ([id, name]: (typeof names)[number]): KeptPerson => ({
  id,
  name,
  privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
});

/** Makes keys, persons and a signed list in a new folder. */
async function make({
  folder,
  files,
  accountID,
  deviceID,
  httpPort,
  run,
}: PracticeOwnerOptions): Promise<void> {
  // An earlier start may have been broken off.
  await files.renew();
  const persons = names.map(newPerson);
  const registered = {
    rpID,
    origins: [`http://localhost:${httpPort}`],
    persons: persons.map(({ id, name, privateKey }) => ({
      id,
      name,
      passkeys: [{ credential: credentialOf(privateKey), publicKey: base64url(spkiOf(privateKey)) }],
    })),
  };
  await files.write('passphrase', `${base64url(randomBytes(18))}\n`);
  await files.write('passkeys.json', JSON.stringify(registered));
  await files.write('practice-persons.json', JSON.stringify(persons));
  const pass = ['--passphrase-file', join(folder, 'passphrase')];
  await run(['create', '--dir', folder, ...pass]);
  const vehicles = ['--vehicles', `${accountID}/${deviceID}`];
  const counts = ['--cut', String(neededForCut), '--days', String(validDays)];
  await run(['people', join(folder, 'passkeys.json'), '--dir', folder, ...vehicles, ...counts]);
  await run(['sign', '--key', join(folder, 'key-1-1.json'), '--dir', folder, ...pass, '--yes']);
}

/** The owner of an earlier start; null: there is none, or its list is not signed. */
async function read({ files, crypto }: PracticeOwnerOptions): Promise<PracticeOwner | null> {
  const textOf = async (name: string): Promise<string> => (await files.read(name)) ?? 'null';
  const documentText = await textOf('owner.json');
  const { sets, list } = (JSON.parse(documentText) ?? {}) as Partial<OwnerDocument>;
  const persons = JSON.parse(await textOf('practice-persons.json')) as readonly KeptPerson[] | null;
  const [first] = sets ?? [];
  const [origin] = list?.origins ?? [];
  if (first === undefined || origin === undefined || persons === null) return null;
  return {
    pin: ownerSetID(first.set, crypto),
    documentText,
    persons: persons.map((one) => personOf(one, origin)),
  };
}

/** Opens the owner in its folder, or makes it. */
export async function openPracticeOwner(options: PracticeOwnerOptions): Promise<PracticeOwner> {
  const found = await read(options);
  if (found !== null) return found;
  await make(options);
  const made = await read(options);
  if (made === null) throw new Error(`${options.folder} holds no owner after it was made`);
  return made;
}
