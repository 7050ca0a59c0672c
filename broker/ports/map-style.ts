// A map of another host, which the browsers of users read themselves.

export interface MapStyle {
  /** A MapLibre style. */
  readonly url: string;
  /** The only origins that the console may ask for it, that of the style first. */
  readonly origins: readonly string[];
}
