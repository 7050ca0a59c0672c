// Every interface to the outside world, on one page. Product code reaches time, randomness, disk, network and hardware only through these. The
// adapters are in `src/adapters`, `agent/adapters` and `broker/adapters`, the simulated ones in `simulator/`. This file holds types only and must
// never import anything.

export type Cancel = () => void;

/** Time. `monoMs` never steps and has an arbitrary origin; `utcMs` is the system's wall clock and may be wrong. */
export interface Clock {
  monoMs(): number;
  utcMs(): number;
  /** Runs once after `delayMs` (>= 0) of monotonic time unless cancelled. */
  after(delayMs: number, run: () => void): Cancel;
}

/** Randomness: `bytes` is suitable for keys and ids, `fraction` is uniform in [0, 1). */
export interface Entropy {
  bytes(count: number): Uint8Array;
  fraction(): number;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log: a stable event name first, then fields. Never log a secret or a token, nor a position at info. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  with(fields: LogFields): Log;
}

export interface SerialSettings {
  readonly path: string;
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: 'none' | 'even' | 'odd';
  readonly stopBits: 1 | 2;
  /** Pause after each read, ms, so that small pieces cost one read; absent: none. */
  readonly gatherMs?: number;
}

export interface ByteLinkHandlers {
  onBytes(bytes: Uint8Array): void;
  /** Called at most once; the link is then dead for good and a new one must be opened. */
  onDown(reason: string): void;
}

/** The hardware port: bytes out, bytes in. One object lives from one open to one close and is never reused. */
export interface ByteLink {
  /** False when the link is not open. Such bytes are dropped and never kept for later, because a stale relay write can kill. */
  write(bytes: Uint8Array): boolean;
  /** Resolves within a few seconds even if the driver hangs. Does not call `onDown`. */
  close(): Promise<void>;
}

/** Rejects with an AppError that names the path and the cause when the port cannot be opened. */
export type OpenByteLink = (settings: SerialSettings, handlers: ByteLinkHandlers) => Promise<ByteLink>;

export interface MqttMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1;
  /** True: the server keeps it for later subscribers; an empty payload removes what it keeps. Absent: it does not. */
  readonly retain?: boolean;
}

export interface MqttLinkOptions {
  readonly url: string;
  readonly clientId: string;
  /** Empty: none is sent; likewise the password. */
  readonly username: string;
  readonly password: string;
  readonly keepaliveS: number;
  readonly connectTimeoutMs: number;
  readonly will?: MqttMessage;
  /** PEM of the certificate authority to trust for mqtts; absent: the system's list. */
  readonly ca?: string;
  /** PEM of the client's certificate and its private key, for a server that requires them; both or none. */
  readonly cert?: string;
  readonly key?: string;
}

export interface MqttLinkHandlers {
  onUp(): void;
  /** The PUBACK of a QoS 1 message leaves only when `acknowledge` is called: after the message is persisted. */
  onMessage(message: MqttMessage, acknowledge: () => void): void;
  /**
   * Called exactly once: the link is dead and every publish in flight counts as not sent.
   * @param isSilent a keep-alive got no answer.
   */
  onDown(reason: string, isSilent?: boolean): void;
}

/** One connection attempt and, if it succeeds, one connection. It never reconnects and stores nothing. */
export interface MqttLink {
  /** Resolves on PUBACK (QoS 1) or once written to the socket (QoS 0); never settles once the link is down. */
  publish(message: MqttMessage): Promise<void>;
  subscribe(topics: readonly string[]): Promise<void>;
  /** Sends DISCONNECT if possible (the last will is not published), then closes. Does not call `onDown`. */
  close(): Promise<void>;
  /** Drops the socket at once; `onDown` follows. */
  destroy(reason: string): void;
}

export type OpenMqttLink = (options: MqttLinkOptions, handlers: MqttLinkHandlers) => MqttLink;

export type SqlValue = string | number | null | Uint8Array;

/**
 * One column of many rows: numbers (NaN is NULL), or indexes into a list of texts (0 is NULL, 1 the first text). Without an
 * object per row, columns pass to the database thread unchanged.
 */
export type RowsColumn =
  | { readonly name: string; readonly type: 'BIGINT' | 'DOUBLE PRECISION'; readonly numbers: Float64Array }
  | {
      readonly name: string;
      readonly type: 'TEXT';
      readonly texts: readonly string[];
      readonly places: Uint32Array;
    };

/** Built by `toRows` of `src/rows.ts`. */
export interface Rows {
  readonly count: number;
  readonly columns: readonly RowsColumn[];
}

/** One SQL statement with `$1`..`$n` parameters; built by the `sql` template of `src/sql.ts`. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /** Rows that the SQL text reads as a table `r`; for statements that write. The statement may process them in several steps. */
  readonly rows?: Rows;
  /** Number of rows that it must change. With any other number the batch is rejected, and the code of the cause is `CONFLICT`. */
  readonly mustChange?: number;
  /** Topic of the notification after the commit, if the statement changed rows. See `CommitNotifications`. */
  readonly topic?: string;
  /**
   * True: the best plan depends on the values (ranges that may be narrow or cover everything), so each execution is planned for them. A database
   * would otherwise plan the statement once for all values.
   */
  readonly isPlannedAnew?: boolean;
  /** A read of low priority, which never delays an ordinary read. See `lowPriorityReads`. */
  readonly isPatient?: true;
  /** A read of a few rows by their keys, which takes some microseconds: see `pointRead`. */
  readonly isPointRead?: true;
  /** A read whose rows the reading thread writes as text, returned as one row. */
  readonly form?: RowForm;
}

/** Format for writing rows as text: plain data, so that it passes to a database thread. */
export interface RowForm {
  /** Kind of the rows, and of their text; see `eventTextWriter` of `src/core/events/event-text.ts`. */
  readonly of: 'events';
  /** Requested members; null: all. */
  readonly fields: readonly string[] | null;
  /** True: also as entries of metadata. */
  readonly hasPins: boolean;
  /** Column -> its value in every row; the statement gives NULL for it. */
  readonly known: Readonly<Record<string, string>>;
}

export type Row = Readonly<Record<string, SqlValue>>;

export interface WriteResult {
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
  /** Rows of RETURNING; empty without it. */
  readonly rows: readonly Row[];
}

/** A relational store. There are no interactive transactions: conditions are part of the statements. */
export interface Database {
  read(statement: Statement): Promise<readonly Row[]>;
  /**
   * All or nothing, durable (fsync) when it resolves. It rejects with an AppError, and then nothing was written. The exception is a cause with the
   * code `UNKNOWN_OUTCOME`: a server received the commit and was gone for half a minute before it answered. An empty batch writes nothing; it rejects
   * when the files of the database are no longer at their paths.
   */
  write(batch: readonly Statement[]): Promise<readonly WriteResult[]>;
  close(): Promise<void>;
}

/** A commit. It names topics and carries no data: readers query the store. */
export interface CommitNotice {
  /** Topics of the statements; null: notifications may have been lost, so read everything. */
  readonly topics: readonly string[] | null;
  /** It was committed through this object. */
  readonly isOwn: boolean;
}

/** Notifications of commits of all processes. They may be lost with a connection, so listeners poll as well. */
export interface CommitNotifications {
  /** Calls the listener after each commit, never after a rollback; it must not throw. Returns the unsubscribe function. */
  onCommit(listener: (commit: CommitNotice) => void): Cancel;
}

/** A relational store that notifies listeners of its commits. */
export interface NotifyingDatabase extends Database, CommitNotifications {}

/** The service manager (systemd). */
export interface Supervisor {
  ready(): void;
  alive(): void;
  status(text: string): void;
  stopping(): void;
}

/** Ed25519 over JSON Web Signatures in compact form (RFC 7515, RFC 8037). */
export interface Verifier {
  /** The payload's bytes when signature, key and `type` fit; null otherwise. Never throws. */
  verify(token: string, type: string): Uint8Array | null;
}

export interface Signer {
  sign(payload: Uint8Array, type: string): string;
}
