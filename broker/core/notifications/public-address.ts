// Network addresses that users may make the service call: only public unicast ones (IANA special-purpose registries, RFC
// 6890). Pure; an unreadable address is not public. It must be asked about the address that is connected to, never about a
// name.

type Bytes = readonly number[];

interface Block {
  readonly prefix: Bytes;
  readonly bits: number;
}

function parseV4(text: string): Bytes | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/** Groups of one side of `::`; the last may be an IPv4 address. */
function parseGroups(text: string): Bytes | null {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    const tail = index === groups.length - 1 && group.includes('.') ? parseV4(group) : null;
    if (tail !== null) bytes.push(...tail);
    else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    } else return null;
  }
  return bytes;
}

function parseV6(text: string): Bytes | null {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return null;
  const first = parseGroups(head);
  const last = tail === undefined ? [] : parseGroups(tail);
  if (first === null || last === null) return null;
  const gap = 16 - first.length - last.length;
  if (tail === undefined ? gap !== 0 : gap < 2) return null;
  return [...first, ...Array.from({ length: gap }, () => 0), ...last];
}

function block(text: string): Block {
  const [address = '', bits = ''] = text.split('/');
  return { prefix: parseV4(address) ?? parseV6(address) ?? [], bits: Number(bits) };
}

function isIn({ prefix, bits }: Block, bytes: Bytes): boolean {
  if (prefix.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const left = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - left)) & 0xff;
    return (byte & mask) === ((prefix[index] ?? 0) & mask);
  });
}

/** This network, private, shared (CGNAT), loopback, link-local, protocol, documentation, relay, benchmark, multicast, reserved. */
const closedV4 =
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`
    .split(/\s+/)
    .map(block);

/** The only global unicast block, and what is special inside of it: protocol, Teredo, documentation, 6to4. */
const globalV6 = block('2000::/3');
const closedV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(block);

/**
 * True for an address of the public internet. IPv6 that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) is
 * never public: it would be a way around the rules of IPv4.
 */
export function isPublicAddress(text: string): boolean {
  const v4 = parseV4(text);
  if (v4 !== null) return !closedV4.some((one) => isIn(one, v4));
  const v6 = parseV6(text);
  return v6 !== null && isIn(globalV6, v6) && !closedV6.some((one) => isIn(one, v6));
}

/** The bytes of an IPv4 (4) or IPv6 address (16), without brackets; null for anything else. */
export function addressBytes(text: string): Bytes | null {
  return parseV4(text) ?? parseV6(text);
}

/** True when the text is an IPv4 or IPv6 address, without brackets. */
export function isAddress(text: string): boolean {
  return addressBytes(text) !== null;
}
