// The broker of a run, and how the run gets into it. Types only.
import type { Login, Service } from './service.ts';

/** The broker that the vehicles of a run connect to. */
export interface Target {
  /** Of the HTTP service, such as `http://127.0.0.1:8080`. */
  readonly http: string;
  /** Of the MQTT listener, such as `mqtt://127.0.0.1:1883`. */
  readonly mqtt: string;
  readonly login: Login;
  /** The key that vehicles pin; null: known with the first device secret. */
  readonly publicKey: string | null;
  /** PEM of the authority to trust, for both; null: the system's list. */
  readonly ca?: string | null;
  /** A second user that approves cuts where the account requires that; null: none. */
  readonly approver?: Login | null;
}

export interface OwnBroker {
  readonly target: Target;
  /** Address of its Prometheus metrics. */
  readonly metricsUrl: string;
  /** The broker's public key, and a new secret of this device; the former secret is void. */
  keyWithSecret(deviceID: string): Promise<{ readonly secret: string; readonly publicKey: string }>;
  /** From now on a user counts as one of long ago: the rule of the second person wants a day. */
  ageUser(userID: string): Promise<void>;
  /** Fault of the audit log's chain; null: none. */
  auditFault(): Promise<string | null>;
  /** Creates another account. @returns the login of its administrator. */
  createAccount(name: string): Promise<Login>;
  /** Kills it (SIGKILL). */
  kill(): void;
  /** Starts it again on the same database and ports. */
  restart(): Promise<void>;
  /** Resolves with the reason when it ends without `close` or `kill`. */
  readonly died: Promise<string>;
  close(): Promise<void>;
}

export interface BrokerAccess {
  readonly own: OwnBroker | null;
  readonly target: Target;
  readonly service: Service;
  /** Logged in as a second user that approves cuts; null: none was given. */
  readonly approver: Service | null;
  /** Devices that the run has created, or is about to create. */
  readonly created: string[];
  /** Shares of the fleet whose links can be struck through the control socket. */
  readonly linkShares: readonly number[];
}
