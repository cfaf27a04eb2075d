const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/i;

/**
 * The name or address in a `Host` header, lower case, without port, brackets and final dot; null when there
 * is none.
 */
export function nameOfHost(host: string | undefined): string | null {
  if (host === undefined || host.length > 300) return null;
  const [, address, name] = HOST.exec(host) ?? [];
  return (address ?? name)?.toLowerCase().replace(/\.$/, '') ?? null;
}

/** Is this the name or address of the machine itself, which others cannot reach? */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
