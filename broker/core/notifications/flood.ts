// Devices with so many events that notifications of the others would wait for theirs. Pure.

/** A device with more events than this on a full page is decided apart. */
const floodLeast = 25;

/** Devices with so many events of the page that the others would wait for them, and the page without what is too much of theirs. */
export function floodOf<T extends { readonly deviceNo: number }>(
  events: readonly T[],
  limits: { readonly fullPage: number; readonly placesLeft: number },
): { readonly kept: readonly T[]; readonly flooding: readonly number[] } {
  const counts = new Map<number, number>();
  const kept: T[] = [];
  for (const event of events) {
    const count = (counts.get(event.deviceNo) ?? 0) + 1;
    counts.set(event.deviceNo, count);
    if (count <= floodLeast) kept.push(event);
  }
  const flooding = [...counts].filter(([, count]) => count > floodLeast).map(([deviceNo]) => deviceNo);
  return events.length < limits.fullPage || flooding.length > limits.placesLeft
    ? { kept: events, flooding: [] }
    : { kept, flooding };
}
