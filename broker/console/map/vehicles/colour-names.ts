// The tokens that maps are drawn with.

export const colourNames = [
  'map-land',
  'map-water',
  'map-park',
  'map-built',
  'map-street',
  'map-road',
  'map-motorway',
  'map-rail',
  'map-casing',
  'map-label',
  'map-halo',
  'mark-moving',
  'mark-standing',
  'mark-edge',
  'act-fill',
  'on-act',
  'look',
  'look-soft',
  'accent',
  'track',
  'zone',
  'surface',
  'text',
] as const;

export type Colours = Readonly<Record<(typeof colourNames)[number], string>>;
