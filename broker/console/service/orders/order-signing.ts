// One touch signs one order: the challenge is computed here, from the order that the screen shows. What the service sent is only compared.
import type { Assertion } from '../../../../src/core/wire/assertion.ts';
import {
  challengeOf,
  type Difference,
  differenceOf,
  type SeenOrder,
  type Signing,
  type SignOptions,
} from '../../state/orders/signing.ts';
import { createValue } from '../../state/value.ts';
import { askForPasskey } from '../passkeys.ts';

/** An order as the form of this page asked for it. */
export interface AskedOrder extends SeenOrder {
  readonly approvalID: string;
  /** The passkey was asked for once without a press. */
  readonly isTried: boolean;
}
/** The newest; null: none since the page was loaded. */
export const askedOrder = createValue<AskedOrder | null>(null);

/** The service wants a signature over something else than the screen shows. */
export class AlteredOrder extends Error {
  readonly difference: Difference;
  constructor(difference: Difference) {
    super(`The order to sign differs in ${difference}`);
    this.difference = difference;
  }
}

/** True where browsers offer passkeys: https, and localhost. */
export const hasPasskeys = (): boolean => window.PublicKeyCredential !== undefined;

/** Has a person sign what was seen. @throws AlteredOrder, NoPasskey */
export async function signOrder(
  { order, options }: { readonly order: Signing['order']; readonly options: SignOptions },
  seen: SeenOrder,
): Promise<Assertion> {
  const difference = differenceOf(order, seen);
  if (difference !== null) throw new AlteredOrder(difference);
  const { rpID, challenge, credentials } = options;
  if ((await challengeOf(order)) !== challenge) throw new AlteredOrder('challenge');
  const { id, response } = await askForPasskey({
    challenge,
    rpId: rpID,
    // Never empty: a browser would offer every passkey then.
    allowCredentials: credentials.map((one) => ({ type: 'public-key', id: one })),
    userVerification: 'required',
  });
  return {
    credential: id,
    clientData: response.clientDataJSON,
    authenticatorData: response.authenticatorData,
    signature: response.signature,
  };
}
