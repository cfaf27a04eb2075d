/**
 * Reads protobuf's wire format without a schema, independently of the library that wrote it. A message is a
 * list of fields: key varint (number << 3 | wire type), then varint (0), 8 bytes (1), length and bytes (2) or
 * 4 bytes (5). https://protobuf.dev/programming-guides/encoding/
 */
export interface Message {
  /** Values of a field in order: numbers as bigint, the rest as bytes. */
  all(field: number): (bigint | Uint8Array)[];
  message(field: number): Message;
  messages(field: number): Message[];
  text(field: number): string;
  hex(field: number): string;
  /** 0 when the field is missing, as protobuf 3 leaves out zeros. */
  number(field: number): bigint;
  has(field: number): boolean;
}

export function readMessage(bytes: Uint8Array): Message {
  const fields = new Map<number, (bigint | Uint8Array)[]>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('message ends within a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  function value(wireType: number): bigint | Uint8Array {
    if (wireType === 0) return varint();
    const length = wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint());
    const start = at;
    at += length;
    if (at > bytes.length) throw new Error('message ends within a field');
    if (wireType === 1) return view.getBigUint64(start, true);
    if (wireType === 5) return BigInt(view.getUint32(start, true));
    return bytes.subarray(start, at);
  }
  while (at < bytes.length) {
    const key = Number(varint());
    const values = fields.get(key >> 3) ?? [];
    values.push(value(key & 7));
    fields.set(key >> 3, values);
  }
  const all = (field: number): (bigint | Uint8Array)[] => fields.get(field) ?? [];
  const bytesOf = (field: number): Uint8Array =>
    (all(field).at(-1) as Uint8Array | undefined) ?? new Uint8Array();
  return {
    all,
    has: (field) => fields.has(field),
    messages: (field) => all(field).map((one) => readMessage(one as Uint8Array)),
    message: (field) => readMessage(bytesOf(field)),
    text: (field) => Buffer.from(bytesOf(field)).toString('utf8'),
    hex: (field) => Buffer.from(bytesOf(field)).toString('hex'),
    number: (field) => (all(field).at(-1) as bigint | undefined) ?? 0n,
  };
}
