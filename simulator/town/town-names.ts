// Names of the town, which is invented: it is no place on earth. Each direction of streets has a row of names.
export const townName = 'Alderbridge';
export const riverName = 'River Alder';
export const squareName = 'Market Square';
export const districtNames = ['Old Town', 'Priors Field', 'Tanyard Works', 'Northgate', 'Weir Hill'] as const;

/** By column. */
export const streetNames = [
  'Orchard',
  'Mill',
  'Cooper',
  'Lantern',
  'Abbey',
  'Wren',
  'Chandler',
  'Quarry',
  'Station',
  'Thistle',
  'Foundry',
  'Juniper',
  'Kings',
  'Saddler',
  'Meadow',
  'Harrow',
  'College',
  'Rowan',
  'Tanner',
  'Beacon',
  'Castle',
  'Plover',
  'Weaver',
  'Linden',
  'Granary',
  'Heron',
] as const;

/** By row. */
export const laneNames = [
  'Barley',
  'Fuller',
  'Hazel',
  'Cross',
  'Bridgewater',
  'Falcon',
  'Glover',
  'Larch',
  'Victoria',
  'Marsh',
  'Sexton',
  'Willow',
  'Exchange',
  'Bramble',
  'Otter',
  'Ferry',
  'Riverside',
  'Embankment',
  'Sorrel',
  'Dyer',
  'Observatory',
  'Kestrel',
  'Potter',
  'Clover',
  'Belvedere',
  'Finch',
] as const;
