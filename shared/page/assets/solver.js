'use strict';
// Runs in a worker: finds the number whose SHA-256 behind the salt is the challenge. Hashing here, without
// a call to the browser for each attempt, is many times faster than with crypto.subtle.
const K = new Int32Array(64), START = new Int32Array(8), words = new Int32Array(64);
// The constants of SHA-256: the first bits of roots of the first primes.
for (let prime = 2, found = 0; found < 64; prime++) {
  let divisor = 2;
  while (divisor * divisor <= prime && prime % divisor) divisor++;
  if (divisor * divisor <= prime) continue;
  if (found < 8) START[found] = fraction(Math.sqrt(prime));
  K[found++] = fraction(Math.cbrt(prime));
}

function fraction(number) {
  return (number - Math.floor(number)) * 2 ** 32 | 0;
}

// Takes 16 words of `block` into `hash`.
function compress(hash, block) {
  for (let i = 0; i < 16; i++) words[i] = block[i];
  for (let i = 16; i < 64; i++) {
    const w = words[i - 15], v = words[i - 2];
    words[i] = words[i - 16] + words[i - 7]
      + ((w >>> 7 | w << 25) ^ (w >>> 18 | w << 14) ^ w >>> 3)
      + ((v >>> 17 | v << 15) ^ (v >>> 19 | v << 13) ^ v >>> 10) | 0;
  }
  let a = hash[0], b = hash[1], c = hash[2], d = hash[3];
  let e = hash[4], f = hash[5], g = hash[6], h = hash[7];
  for (let i = 0; i < 64; i++) {
    const t = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7))
      + (e & f ^ ~e & g) + K[i] + words[i] | 0;
    const u = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10))
      + (a & b ^ a & c ^ b & c) | 0;
    h = g; g = f; f = e; e = d + t | 0; d = c; c = b; b = a; a = t + u | 0;
  }
  hash[0] += a; hash[1] += b; hash[2] += c; hash[3] += d;
  hash[4] += e; hash[5] += f; hash[6] += g; hash[7] += h;
}

// The first words of the digest of `text`, which is ASCII.
const hash = new Int32Array(8), block = new Int32Array(16);
function digest(text) {
  const length = text.length, blocks = (length + 72) >> 6;
  hash.set(START);
  for (let b = 0; b < blocks; b++) {
    block.fill(0);
    for (let i = b * 64; i < Math.min(length, b * 64 + 64); i++) {
      block[(i & 63) >> 2] |= text.charCodeAt(i) << (24 - 8 * (i & 3));
    }
    if (length >> 6 === b) block[(length & 63) >> 2] |= 128 << (24 - 8 * (length & 3));
    if (b === blocks - 1) block[15] = length * 8;
    compress(hash, block);
  }
  return hash;
}

// The number; nothing if there is none, which no puzzle of ours has.
function find({challenge, salt, maxnumber}, progress) {
  const wanted = challenge.match(/.{8}/g).map(word => parseInt(word, 16) | 0);
  for (let number = 0; number <= maxnumber; number++) {
    if (digest(salt + number)[0] === wanted[0] && wanted.every((word, i) => word === hash[i])) return number;
    if (number % 5000 === 0) progress(number / maxnumber);
  }
}

if (typeof onmessage !== 'undefined') onmessage = ({data}) => {
  const number = find(data, done => postMessage({done}));
  postMessage({number});
};
