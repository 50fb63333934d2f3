"""Writes vectors.json: places of many draws, computed by the letter of the specification.

An implementation of its own, with nothing in common with the one it checks: big integers instead
of 64 bits, every hash made anew, no pivots kept. Run it as `python3 vectors.py > vectors.json`.
"""

import json
from hashlib import sha256


def compute_shuffled_index(index: int, count: int, seed: bytes) -> int:
    for number in range(90):
        round_ = number.to_bytes(1, "little")
        pivot = int.from_bytes(sha256(seed + round_).digest()[0:8], "little") % count
        flip = (pivot + count - index) % count
        position = max(index, flip)
        source = sha256(seed + round_ + (position // 256).to_bytes(4, "little")).digest()
        if source[position % 256 // 8] >> position % 8 & 1:
            index = flip
    return index


def chance(text: str, below: int) -> int:
    return int.from_bytes(sha256(text.encode()).digest(), "big") % below


COUNTS = [1, 2, 3, 7, 255, 256, 257, 1000, 65535, 65536, 65537, 1000000, 2**32 - 1, 2**32 + 1,
          10**10, 2**36 - 1, 2**36]


def vectors():
    for count in COUNTS:
        for which in range(4):
            seed = sha256(f"seed {count} {which}".encode()).digest()
            indices = {0, count - 1, count // 2}
            indices.update(chance(f"{count} {which} {i}", count) for i in range(8))
            pairs = [[i, compute_shuffled_index(i, count, seed)] for i in sorted(indices)]
            yield {"count": count, "seed": seed.hex(), "shuffled": pairs}


print("[" + ",\n".join(json.dumps(vector) for vector in vectors()) + "]")
