// Decides that the line to the board is noisy, and names the remedy. Pure; the words are those of `status` and `doctor`.

/** One byte of noise in ten answers: more than a glitch now and then. */
export const isNoisy = (counted: { readonly answers?: number; readonly noiseBytes?: number }): boolean =>
  (counted.noiseBytes ?? 0) * 10 > (counted.answers ?? 0);

export const noiseText = (noiseBytes: number): string => `noise on the line: ${noiseBytes} bytes`;

export const noiseTodo =
  'Noise on RS-485: bias A and B at one end, put 120 ohms across them at both ends, join the grounds; else try another adapter.';
