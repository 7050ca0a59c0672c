// An answer that lies ready as bytes of JSON, in pieces that many answers share. A piece never changes once it was made.

export interface ReadyJson {
  readonly kind: 'ready-json';
  /** Gives the whole text, in the order of the pieces; asked for when it is sent, so not for an answer that is unchanged. */
  readonly pieces: () => readonly Buffer[];
  /** What the text depends on, for the ETag: the same tag stands for the same text; null: it has none. */
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
