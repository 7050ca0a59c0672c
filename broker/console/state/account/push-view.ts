// Notifications of one browser: their state and faults. Pure.

export type PushState = 'insecure' | 'unsupported' | 'refused' | 'off' | 'on' | 'other';

export type PushFaultCode = 'refused' | 'no_service' | 'undeliverable';

/** A failure of the browser; faults of the service are other errors. */
export class PushFault extends Error {
  readonly code: PushFaultCode;
  constructor(code: PushFaultCode, detail = '') {
    super(detail === '' ? code : detail);
    this.code = code;
  }
}

/** The registration that this browser holds. */
export interface KeptPush {
  readonly pushID: string;
  readonly accountID: string;
  readonly userID: string;
}

/** @returns null for what is no registration. */
export function parsePush(text: string | null): KeptPush | null {
  try {
    const { pushID, accountID, userID } = JSON.parse(text ?? 'null') as Partial<KeptPush>;
    if (typeof pushID !== 'string' || typeof accountID !== 'string' || typeof userID !== 'string')
      return null;
    return { pushID, accountID, userID };
  } catch {
    return null;
  }
}
