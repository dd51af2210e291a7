/** SHA-256 (FIPS 180-4) for where the platform offers none. */

const ROUNDS = 64;

/** The first 32 bits of a fractional part. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;

function primes(count: number): number[] {
  const found: number[] = [];
  for (let next = 2; found.length < count; next += 1) if (found.every((prime) => next % prime !== 0)) found.push(next);
  return found;
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** `Math.cbrt` is the engine's own approximation, but 32 bits of 53 are far from where engines differ. */
const CONSTANTS = primes(ROUNDS).map((prime) => fraction(Math.cbrt(prime)));
const START = primes(8).map((prime) => fraction(Math.sqrt(prime)));

function padded(bytes: Uint8Array): DataView {
  const size = (bytes.length + 9 + 63) & ~63;
  const whole = new Uint8Array(size);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  const view = new DataView(whole.buffer);
  view.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(size - 4, bytes.length << 3);
  return view;
}

function schedule(view: DataView, block: number): Int32Array {
  const words = new Int32Array(ROUNDS);
  for (let t = 0; t < 16; t += 1) words[t] = view.getInt32(block + 4 * t);
  for (let t = 16; t < ROUNDS; t += 1) {
    const early = words[t - 15] as number;
    const late = words[t - 2] as number;
    const small = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const large = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[t] = (words[t - 16] as number) + small + (words[t - 7] as number) + large;
  }
  return words;
}

/** The 32 bytes of the digest. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const view = padded(bytes);
  let hash = START;
  for (let block = 0; block < view.byteLength; block += 64) {
    const words = schedule(view, block);
    let [a, b, c, d, e, f, g, h] = hash as [number, number, number, number, number, number, number, number];
    for (let t = 0; t < ROUNDS; t += 1) {
      const first = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + (CONSTANTS[t] as number) + (words[t] as number)) | 0;
      const second = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    hash = [a, b, c, d, e, f, g, h].map((word, index) => (word + (hash[index] as number)) | 0);
  }
  const digest = new DataView(new ArrayBuffer(32));
  hash.forEach((word, index) => digest.setInt32(4 * index, word));
  return new Uint8Array(digest.buffer);
}
