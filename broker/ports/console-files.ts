// The built files of the web console, as they are served.

export interface ConsoleFile {
  /** Media type, with its charset where it is text. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Weak validator of the content. */
  readonly etag: string;
  /** True for a name with a hash of the content: it never changes. */
  readonly isHashed: boolean;
  /** True for what shrinks: text, not pictures or fonts. */
  readonly isCompressible: boolean;
}

/** By path below `/console/`, `assets/index-Bx3kL9aQ.js`; there is always an `index.html`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;
