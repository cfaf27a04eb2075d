/**
 * CityHash128 of version 1.0.2, which ClickHouse's compressed blocks are checked with; later versions differ.
 * Each lane is an unsigned number of 64 bits.
 */
export function cityHash128(bytes: Uint8Array): Lanes {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.byteLength;
  if (length >= 16) return withSeed(slice(view, 16, length - 16), [fetch64(view, 0) ^ K3, fetch64(view, 8)]);
  if (length >= 8) {
    const seed: Lanes = [fetch64(view, 0) ^ u64(BigInt(length) * K0), fetch64(view, length - 8) ^ K1];
    return withSeed(slice(view, length, 0), seed);
  }
  return withSeed(view, [K0, K1]);
}

/** Low and high half. */
export type Lanes = readonly [low: bigint, high: bigint];

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const K3 = BigInt.asUintN(64, -3942382747735136937n);
const MULTIPLIER = 0x9ddfea08eb382d69n;

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const fetch64 = (view: DataView, at: number): bigint => view.getBigUint64(at, true);
const rotate = (value: bigint, by: bigint): bigint => u64((value >> by) | (value << (64n - by)));
// With a constant the compiler of Node makes one instruction of it, and the loop ten times as fast.
const rotate21 = (value: bigint): bigint => u64((value >> 21n) | u64(value << 43n));
const rotate33 = (value: bigint): bigint => u64((value >> 33n) | u64(value << 31n));
const rotate37 = (value: bigint): bigint => u64((value >> 37n) | u64(value << 27n));
const rotate42 = (value: bigint): bigint => u64((value >> 42n) | u64(value << 22n));
const rotate44 = (value: bigint): bigint => u64((value >> 44n) | u64(value << 20n));
const shiftMix = (value: bigint): bigint => value ^ (value >> 47n);
const slice = (view: DataView, from: number, length: number): DataView =>
  new DataView(view.buffer, view.byteOffset + from, length);

function hash16(low: bigint, high: bigint): bigint {
  const a = shiftMix(u64((low ^ high) * MULTIPLIER));
  return u64(shiftMix(u64((high ^ a) * MULTIPLIER)) * MULTIPLIER);
}

function hashUpTo16(view: DataView): bigint {
  const length = view.byteLength;
  if (length > 8) {
    const a = fetch64(view, 0);
    const b = fetch64(view, length - 8);
    return hash16(a, rotate(u64(b + BigInt(length)), BigInt(length))) ^ b;
  }
  if (length >= 4) {
    const first = BigInt(view.getUint32(0, true));
    return hash16(u64(BigInt(length) + (first << 3n)), BigInt(view.getUint32(length - 4, true)));
  }
  if (length === 0) return K2;
  const y = BigInt(view.getUint8(0) + view.getUint8(length >> 1) * 256);
  const z = BigInt(length + view.getUint8(length - 1) * 4);
  return u64(shiftMix(u64(y * K2) ^ u64(z * K3)) * K2);
}

function weakHash32(view: DataView, at: number, a: bigint, b: bigint): Lanes {
  const z = fetch64(view, at + 24);
  const first = u64(a + fetch64(view, at));
  const second = rotate21(u64(u64(b + first) + z));
  const sum = u64(u64(first + fetch64(view, at + 8)) + fetch64(view, at + 16));
  return [u64(sum + z), u64(u64(second + rotate44(sum)) + first)];
}

function murmur(view: DataView, [low, high]: Lanes): Lanes {
  const length = view.byteLength;
  let [a, b] = [low, high];
  let c: bigint;
  let d: bigint;
  if (length <= 16) {
    a = u64(shiftMix(u64(a * K1)) * K1);
    c = u64(b * K1 + hashUpTo16(view));
    d = shiftMix(u64(a + (length >= 8 ? fetch64(view, 0) : c)));
  } else {
    c = hash16(u64(fetch64(view, length - 8) + K1), a);
    d = hash16(u64(b + BigInt(length)), u64(c + fetch64(view, length - 16)));
    a = u64(a + d);
    for (let at = 0; at < length - 16; at += 16) {
      a = u64((a ^ u64(shiftMix(u64(fetch64(view, at) * K1)) * K1)) * K1);
      b ^= a;
      c = u64((c ^ u64(shiftMix(u64(fetch64(view, at + 8) * K1)) * K1)) * K1);
      d ^= c;
    }
  }
  a = hash16(a, c);
  b = hash16(d, b);
  return [a ^ b, hash16(b, a)];
}

function withSeed(view: DataView, seed: Lanes): Lanes {
  const length = view.byteLength;
  if (length < 128) return murmur(view, seed);
  let [x, y] = seed;
  let z = u64(BigInt(length) * K1);
  const first = u64(rotate(y ^ K1, 49n) * K1 + fetch64(view, 0));
  let v: Lanes = [first, u64(rotate(first, 42n) * K1 + fetch64(view, 8))];
  let w: Lanes = [u64(rotate(u64(y + z), 35n) * K1 + x), u64(rotate(u64(x + fetch64(view, 88)), 53n) * K1)];
  let at = 0;
  for (; length - at >= 128; at += 128) {
    for (const from of [at, at + 64]) {
      x = u64(rotate37(u64(u64(u64(x + y) + v[0]) + fetch64(view, from + 16))) * K1) ^ w[1];
      y = u64(rotate42(u64(u64(y + v[1]) + fetch64(view, from + 48))) * K1) ^ v[0];
      z = rotate33(z ^ w[0]);
      v = weakHash32(view, from, u64(v[1] * K1), u64(x + w[0]));
      w = weakHash32(view, from + 32, u64(z + w[1]), y);
      [z, x] = [x, z];
    }
  }
  y = u64(y + rotate(w[0], 37n) * K0 + z);
  x = u64(x + rotate(u64(v[0] + z), 49n) * K0);
  for (let done = 32; done < length - at + 32; done += 32) {
    y = u64(rotate(u64(y - x), 42n) * K0 + v[1]);
    w = [u64(w[0] + fetch64(view, length - done + 16)), w[1]];
    x = u64(rotate(x, 49n) * K0 + w[0]);
    w = [u64(w[0] + v[0]), w[1]];
    v = weakHash32(view, length - done, v[0], v[1]);
  }
  x = hash16(x, v[0]);
  y = hash16(y, w[0]);
  return [u64(hash16(u64(x + v[1]), w[1]) + y), hash16(u64(x + w[1]), u64(y + v[1]))];
}
