// The newest lines of a log, kept in memory for later requests. Bounded by bytes; the oldest lines are removed first.
// It keeps lines as they were written, so it holds nothing that the log does not.

const limits = {
  bytes: 256 * 1024,
  /** Of one line; a longer line is cut. */
  lineCharacters: 8192,
} as const;

/** A ring of at most `mostBytes` (UTF-8) of whole lines. */
export function createLogRing(mostBytes: number = limits.bytes) {
  const lines: { readonly text: string; readonly bytes: number }[] = [];
  let from = 0;
  let bytes = 0;
  return {
    add(line: string): void {
      const text =
        line.length <= limits.lineCharacters ? line : `${line.slice(0, limits.lineCharacters)}...\n`;
      const size = Buffer.byteLength(text);
      lines.push({ text, bytes: size });
      bytes += size;
      while (bytes > mostBytes && from < lines.length) {
        bytes -= lines[from]?.bytes ?? 0;
        from += 1;
      }
      // Dropped ones are cut off in strides, so that a line costs little however many there are.
      if (from > 1024 || from > lines.length / 2) {
        lines.splice(0, from);
        from = 0;
      }
    },
    /** All that is kept, oldest first. */
    text: (): string =>
      lines
        .slice(from)
        .map((line) => line.text)
        .join(''),
  };
}
