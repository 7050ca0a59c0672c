// Secrets of the bench's devices: derived from their names, so that clients and database agree without a file. They open
// nothing but a bench's own database.
import { createHash } from 'node:crypto';

/** 43 characters, like a real one. */
export const benchSecretOf = (deviceID: string): string =>
  createHash('sha256').update(`bench ${deviceID}`).digest('base64url');
