// The folder with the operator's map files (PMTiles). Read only, by name, never by path.
import type { Readable } from 'node:stream';

/** Names of map files. */
export const mapNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}\.pmtiles$/;

export interface MapFile {
  /** Name without a path, ending in `.pmtiles`. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly changedMs: number;
}

/** A map file that was opened; it holds a file handle until `close`, or until its stream has ended. */
export interface OpenMapFile extends MapFile {
  /** Strong validator: another one after every change of the file (RFC 9110 section 8.8.3). */
  readonly etag: string;
  /** The bytes from `start` to `end`, both included. To be called at most once. */
  read(range: { readonly start: number; readonly end: number }): Readable;
  close(): Promise<void>;
}

export interface MapFolder {
  /** The files in the order of their names, at most 100. */
  list(): Promise<readonly MapFile[]>;
  /** Null for a name that is none, or of no file. */
  open(name: string): Promise<OpenMapFile | null>;
}
