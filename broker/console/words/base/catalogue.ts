// What the catalogues of all languages have in common.

/** The texts of another language: the same keys, and functions of the same values. */
export type Widened<T> = T extends string
  ? string
  : T extends (...given: infer A) => string
    ? (...given: A) => string
    : { readonly [K in keyof T]: Widened<T[K]> };
