// TLS of a listener. Types only.
import type { ClientCertPolicy } from '../core/accounts/client-certificate.ts';

/** What a TLS listener shows and trusts, as PEM; read and checked by the caller. */
export interface TlsMaterial {
  /** Its certificate and the chain to its authority. */
  readonly cert: string;
  readonly key: string;
  /** Authorities that sign certificates of clients; null when none is asked for. */
  readonly clientCa: string | null;
}

export interface TlsListening {
  readonly material: TlsMaterial;
  readonly clientCert: ClientCertPolicy;
  /** A device with a certificate needs no secret besides. */
  readonly certificateSuffices: boolean;
}
