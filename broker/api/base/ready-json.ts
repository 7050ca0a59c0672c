// An answer that lies ready as bytes of JSON, in pieces that many answers share. A piece never changes once it was made.

export interface ReadyJson {
  readonly kind: 'ready-json';
  /** Gives the whole text, in the order of the pieces; asked for when it is sent, so not for an answer that is unchanged. */
  readonly pieces: () => readonly Buffer[];
  /** Tag of the text's inputs, for the ETag: equal tags mean equal texts; null: no tag. */
  readonly tag: string | null;
}

export function readyJson(pieces: () => readonly Buffer[], tag: string | null = null): ReadyJson {
  return { kind: 'ready-json', pieces, tag };
}

export function isReadyJson(value: unknown): value is ReadyJson {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as { readonly kind?: unknown }).kind === 'ready-json'
  );
}
