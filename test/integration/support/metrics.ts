/** The value of one series at `/metrics`; null when it is not there. Labels not given may have any value. */
export async function metric(
  address: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = text
    .split('\n')
    .find((one) => /^[^#{ ]+/.exec(one)?.[0] === name && wanted.every((pair) => one.includes(pair)));
  return line === undefined
    ? null
    : Number(
        line
          .slice(line.lastIndexOf('}') + 1)
          .trim()
          .split(' ')[0],
      );
}
