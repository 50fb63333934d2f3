#!/usr/bin/env python3
"""Writes Vestibule's public keys as HAProxy reads them.

    jwks-to-pem.py http://vestibule-admission:8080/.well-known/jwks.json DIRECTORY

DIRECTORY/key-1.pem is the key that signs; key-2.pem and key-3.pem are the next one, published before it
signs, and the one before (where there are fewer, the last one again). They are replaced only when they
change. Exit code 0: nothing has changed; 10: something has, reload HAProxy; anything else: nothing was
written. Needs Python 3 and no package.
"""

import base64
import json
import os
import sys
import urllib.request

NAMES = ("key-1.pem", "key-2.pem", "key-3.pem")
# rsaEncryption, without parameters: the algorithm identifier of every RSA public key.
RSA = bytes.fromhex("300d06092a864886f70d0101010500")
# ecPublicKey on the curve prime256v1: that of every P-256 public key.
P256 = bytes.fromhex("301306072a8648ce3d020106082a8648ce3d030107")


def element(tag, content):
    """One element of DER."""
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def decoded(text):
    """A part of a JSON Web Key."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def integer(text):
    """A number of a JSON Web Key."""
    number = decoded(text).lstrip(b"\0")
    return element(0x02, (b"\0" if number[0] & 0x80 else b"") + number)


def is_known(key):
    """Whether HAProxy can verify by it: keys for RS256 and ES256."""
    return key.get("kty") == "RSA" or (key.get("kty"), key.get("crv")) == ("EC", "P-256")


def public(key):
    """The algorithm and the bits of a public key."""
    if key["kty"] == "EC":
        return P256, b"\4" + decoded(key["x"]) + decoded(key["y"])
    return RSA, element(0x30, integer(key["n"]) + integer(key["e"]))


def pem(key):
    """A JSON Web Key as PEM."""
    algorithm, bits = public(key)
    der = element(0x30, algorithm + element(0x03, b"\0" + bits))
    text = base64.encodebytes(der).decode().replace("\n", "")
    lines = [text[start:start + 64] for start in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN PUBLIC KEY-----", *lines, "-----END PUBLIC KEY-----", ""])


def replace(path, text):
    """Whether the file had to be written."""
    try:
        with open(path, encoding="ascii") as file:
            if file.read() == text:
                return False
    except FileNotFoundError:
        pass
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.replace(path + ".new", path)
    return True


def main(url, directory):
    with urllib.request.urlopen(url, timeout=10) as answer:
        keys = [key for key in json.load(answer)["keys"] if is_known(key)]
    if not keys:
        sys.exit(f"{url} has no keys")
    # Those that matter most come first.
    keys += keys[-1:] * len(NAMES)
    paths = (os.path.join(directory, name) for name in NAMES)
    changed = [replace(path, pem(key)) for path, key in zip(paths, keys)]
    return 10 if any(changed) else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
