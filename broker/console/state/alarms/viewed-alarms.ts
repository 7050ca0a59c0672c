// New alarms that the user has seen, by their ids: those that the screen of the alarms showed last, and those of a toast that was closed. Pure.
import { createValue } from '../value.ts';

export const viewedAlarms = createValue<ReadonlySet<string>>(new Set());
