// The source that attempts are counted for: an IPv4 address, or an IPv6 network of 64 bits, which one customer has. Pure.
// Single IPv6 addresses would give every client 2 to the 64 fresh starts.
import { addressBytes } from '../notifications/public-address.ts';

/** First 12 bytes of an IPv4 address that is written as IPv6. */
const mapped = '00000000000000000000ffff';

const hex = (bytes: readonly number[]): string =>
  bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The network of an address, as a key; the text itself when it is no address. */
export function networkOf(address: string): string {
  // IPv4, of nearly every request: nothing to take apart.
  if (!address.includes(':')) return address;
  const bytes = addressBytes(address);
  if (bytes === null) return address;
  if (hex(bytes.slice(0, 12)) === mapped) return bytes.slice(12).join('.');
  return `${hex(bytes.slice(0, 8))}/64`;
}
