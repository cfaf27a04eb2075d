import {
  brotliDecompressSync,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
  type ZlibOptions,
} from 'node:zlib';

/**
 * Bodies in a content coding (RFC 9110, section 8.4). Nobody is asked to compress, but proxies and gateways
 * do so all the same.
 */
export type DecodedContent =
  | { readonly ok: true; readonly body: Buffer }
  /** `unknown`: a coding that is not among `CODINGS`; `damaged`: not what its coding says. */
  | { readonly ok: false; readonly reason: 'unknown' | 'damaged' | 'too_large' };

type Decode = (body: Buffer, options: ZlibOptions) => Buffer;

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateEither,
  br: brotliDecompressSync as Decode,
  zstd: zstdDecompressSync as Decode,
};
/** For an `Accept-Encoding` header that says what would be understood. */
export const CODINGS = 'gzip, deflate, br, zstd';
/** More codings in a row are no honest sender's. */
const MOST_CODINGS = 3;

/** @param maxBytes of the decoded body; what would be longer is not decoded to its end */
export function decodeContent(
  body: Buffer,
  contentEncoding: string | readonly string[] | undefined,
  maxBytes: number,
): DecodedContent {
  const header = typeof contentEncoding === 'object' ? contentEncoding.join(',') : (contentEncoding ?? '');
  const codings = header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (codings.length > MOST_CODINGS) return { ok: false, reason: 'unknown' };
  let decoded = body;
  // The last coding was applied last.
  for (const coding of codings.toReversed()) {
    const decode = DECODERS[coding];
    if (decode === undefined) return { ok: false, reason: 'unknown' };
    try {
      decoded = decode(decoded, { maxOutputLength: maxBytes });
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return { ok: false, reason: isTooLarge ? 'too_large' : 'damaged' };
    }
  }
  return { ok: true, body: decoded };
}

/** Some senders leave out the zlib wrapper that `deflate` means. */
function inflateEither(body: Buffer, options: ZlibOptions): Buffer {
  const hasWrapper = ((body[0] ?? 0) & 0x0f) === 8 && (((body[0] ?? 0) << 8) | (body[1] ?? 0)) % 31 === 0;
  return hasWrapper ? inflateSync(body, options) : inflateRawSync(body, options);
}
