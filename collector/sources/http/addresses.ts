import { BlockList, isIP } from 'node:net';

/** Is this IP address one of the list? */
export type AddressList = (address: string) => boolean;

/** @param ranges IP addresses and CIDR ranges, as the configuration's schema lets through */
export function addressList(ranges: readonly string[]): AddressList {
  if (ranges.length === 0) return () => false;
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(bits), family);
  }
  return (address) => {
    const plain = unmapped(address);
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/**
 * The key of a sender: an IPv4 address, or the /64 of an IPv6 address, which providers give to one customer.
 */
export function senderOf(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain;
  // The URL parser normalizes every address to one spelling.
  const groups = new URL(`http://[${plain.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [before = '', after] = groups.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: zeros }, () => '0'), ...tail].slice(0, 4).join(':');
}

/** A dual-stack socket shows IPv4 as `::ffff:192.0.2.1`. */
function unmapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
