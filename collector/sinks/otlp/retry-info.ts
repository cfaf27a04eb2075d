const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/**
 * The pause that a gRPC status asks for, in milliseconds; null: none, or bytes that are no status. Of
 * google.rpc.Status: `details = 3`, each a google.protobuf.Any { type_url = 1, value = 2 }; of
 * google.rpc.RetryInfo: `retry_delay = 1`, a google.protobuf.Duration { seconds = 1, nanos = 2 }.
 */
export function readRetryDelay(bytes: Uint8Array): number | null {
  try {
    for (const detail of readFields(bytes).filter(({ field }) => field === 3)) {
      const any = readFields(bytesOf(detail.value));
      const type = any.find(({ field }) => field === 1);
      if (type === undefined || new TextDecoder().decode(bytesOf(type.value)) !== RETRY_INFO) continue;
      const info = readFields(bytesOf(any.find(({ field }) => field === 2)?.value));
      const delay = readFields(bytesOf(info.find(({ field }) => field === 1)?.value));
      const [seconds, nanos] = [1, 2].map((wanted) =>
        numberOf(delay.find(({ field }) => field === wanted)?.value),
      );
      return (seconds ?? 0) * 1000 + (nanos ?? 0) / 1_000_000;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return null;
}

interface Field {
  readonly field: number;
  readonly value: number | Uint8Array;
}

/** Fields of a protobuf message which are varints or have a length; throws RangeError at any other. */
function readFields(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 53; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('no varint');
  };
  while (at < bytes.length) {
    const tag = varint();
    const value = varint();
    const field = Math.floor(tag / 8);
    if (tag % 8 === 0) fields.push({ field, value });
    else if (tag % 8 === 2 && at + value <= bytes.length)
      fields.push({ field, value: bytes.subarray(at, (at += value)) });
    else throw new RangeError('no field that is read here');
  }
  return fields;
}

function bytesOf(value: Field['value'] | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new RangeError('no bytes');
}

const numberOf = (value: Field['value'] | undefined): number => (typeof value === 'number' ? value : 0);
