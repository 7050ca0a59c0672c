// The file of a firmware job: what the unit gets of it, and what records show.

/** A release for units, as its bytes. */
export interface FirmwareFile {
  readonly version: string;
  readonly url: string;
  /** Lower case hexadecimal. */
  readonly sha256: string;
}

/** The content of a job; the same text for the same file. */
export const firmwareContent = ({ version, url, sha256 }: FirmwareFile): string =>
  JSON.stringify({ version, url, sha256 });

/** The address without what follows its path, which may be a key to the file. */
export const shownUrl = (url: string): string => url.split('?')[0] ?? '';
