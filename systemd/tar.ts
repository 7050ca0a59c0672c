// Writes a release or a layer of an image as a tar archive in the POSIX ustar form (POSIX.1-1988, pax(1) "ustar Interchange
// Format"), with fixed owner, mode and time, so that the same files give the same bytes.

const blockBytes = 512;

export interface TarFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
  /** User and group; absent: root. */
  readonly owner?: number;
}

/** Name (100 characters) and prefix (155), parted at a slash. Throws when it does not fit. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (path.length <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (prefix.length <= 155 && name.length <= 100) return { name, prefix };
  }
  throw new Error(`${path} is too long for a tar archive`);
}

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

function header(file: TarFile, epochS: number): Buffer {
  const { name, prefix } = splitPath(file.path);
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0, 'latin1');
  block.write(octal(file.mode, 7), 100, 'latin1');
  const owner = file.owner ?? 0;
  block.write(octal(owner, 7), 108, 'latin1');
  block.write(octal(owner, 7), 116, 'latin1');
  block.write(octal(file.bytes.length, 11), 124, 'latin1');
  block.write(octal(epochS, 11), 136, 'latin1');
  block.write(' '.repeat(8), 148, 'latin1');
  block.write('0ustar\x0000', 156, 'latin1');
  // Type flag at 156, link name (empty) up to 257, then the magic.
  block.fill(0, 157, 257);
  if (file.path.endsWith('/')) block.write('5', 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  // Names of user and group: where they are given, they win over the numbers.
  if (owner === 0) for (const at of [265, 297]) block.write('root', at, 'latin1');
  block.write(prefix, 345, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** The archive; a path that ends with a slash is a folder, any other a plain file. Their order is kept. */
export function writeTar(files: readonly TarFile[], epochS: number): Buffer {
  const parts = files.flatMap((file) => {
    const rest = file.bytes.length % blockBytes;
    return [header(file, epochS), file.bytes, Buffer.alloc(rest === 0 ? 0 : blockBytes - rest)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}
