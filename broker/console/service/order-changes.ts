// Notifies the screens that a command or a request for approval changed, as the stream says it.
import { createValue } from '../state/value.ts';

/** A new object for each message; `deviceID` null: any may have changed, because the stream begins anew. */
export const orderChanges = createValue<{ readonly deviceID: string | null }>({ deviceID: null });
