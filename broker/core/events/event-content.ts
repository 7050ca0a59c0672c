// The content of an event as one text: the difference between a repeat and another event of a tracker that uses its numbers again. Two
// events with the same text say the same, whatever the order of the members in which they were sent. Pure.
import {
  type AttributeValue,
  type FleetEvent,
  featureNames,
  inputNames,
  measureNames,
} from '../../../src/core/events/event.ts';

/** An event as sent, or as it was read back from the store. */
export type EventContent = Pick<FleetEvent, 'timestamp' | 'upMs' | 'statusCode'> &
  Partial<
    Readonly<
      Record<(typeof measureNames)[number], number | null> & {
        timeQuality: string;
        inputs: Readonly<Record<string, unknown>> | null;
        outputs: Readonly<Record<string, unknown>> | null;
        geozoneID: string;
        commandID: string | null;
        commandState: string | null;
        attributes: Readonly<Record<string, unknown>> | null;
      }
    >
  >;

const inOrder = (names: readonly string[], flags: EventContent['inputs']): readonly unknown[] =>
  flags == null ? [] : names.map((name) => flags[name] ?? null);

const byName = (attributes: EventContent['attributes']): readonly unknown[] =>
  Object.entries((attributes ?? {}) as Readonly<Record<string, AttributeValue>>).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );

/** All that an event says, but for its number. */
export function contentOf(event: EventContent): string {
  return JSON.stringify([
    event.timestamp,
    event.upMs,
    event.timeQuality,
    event.statusCode,
    measureNames.map((name) => event[name] ?? null),
    inOrder(inputNames, event.inputs),
    inOrder(featureNames, event.outputs),
    event.geozoneID ?? '',
    event.commandID ?? null,
    event.commandState ?? null,
    byName(event.attributes),
  ]);
}
