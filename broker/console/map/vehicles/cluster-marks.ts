// Clusters as map features. Each has a number that no other cluster gets: the map goes on drawing clusters of before until its worker is done, and a press
// on one of these must not open another. Pure.
import type { Feature, Point } from 'geojson';
import type { Place } from '../../state/here.ts';
import type { Cluster } from './clusters.ts';

export interface ShownClusters {
  /** @returns the features to draw; null: what is drawn looks the same. */
  show(clusters: readonly Cluster[]): readonly Feature<Point>[] | null;
  /** The map draws nothing. */
  clear(): void;
  /** Places of the vehicles of a cluster that is drawn or was drawn just before, by its number; empty for any other. */
  placesIn(number: number): readonly Place[];
}

interface Picture {
  /** Number of its first cluster. */
  readonly first: number;
  readonly clusters: readonly Cluster[];
}

/** Pictures that may still be seen: one is drawn a second, or with each whole zoom. */
const picturesKept = 8;

const featureOf = (
  { place, members: { length }, alarms, worst, radius }: Cluster,
  number: number,
): Feature<Point> => ({
  type: 'Feature',
  properties: { number, worst, radius, text: alarms > 0 ? `! ${alarms} / ${length}` : String(length) },
  geometry: { type: 'Point', coordinates: [...place] },
});

export function createShownClusters(): ShownClusters {
  /** The newest first. */
  let pictures: readonly Picture[] = [];
  let [drawn, next] = ['', 0];
  return {
    show(clusters) {
      const text = JSON.stringify(clusters.map((cluster) => featureOf(cluster, 0)));
      const [newest, ...older] = pictures;
      if (text === drawn && newest !== undefined) {
        // Their vehicles may be others, or elsewhere in them.
        pictures = [{ ...newest, clusters }, ...older];
        return null;
      }
      drawn = text;
      const first = next;
      next += clusters.length;
      pictures = [{ first, clusters }, ...pictures].slice(0, picturesKept);
      return clusters.map((cluster, at) => featureOf(cluster, first + at));
    },
    clear() {
      drawn = '';
    },
    placesIn(number) {
      const picture = pictures.find(({ first }) => number >= first);
      const members = picture?.clusters[number - picture.first]?.members ?? [];
      return members.flatMap(({ place }) => (place === null ? [] : [place]));
    },
  };
}
