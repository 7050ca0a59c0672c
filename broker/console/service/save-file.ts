// Files that the reader saves.

/** Hands content to the browser as a download. @param name of the file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the file once the turn is over.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
