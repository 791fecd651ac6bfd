"""Whether a kit's certificate is what the kit says: mistakes show before anything is dialled.

What a caller says of itself proves nothing to the server, which goes by TLS and the certificate.
This is for people: who mixed up two kits reads so, in place of a failed handshake.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID

from fedmf.errors import FileFormatError, MissingDataError, RefusedError

SOON = 30  # days before the end of a certificate in which every start says so
log = logging.getLogger("fedmf.network")


def secret(folder: Path, name: str) -> bytes:
    """Return the bytes of one of a kit's .pem files."""
    path = folder / name
    if not path.is_file():
        raise MissingDataError(f"{path} is missing: the kit is not complete")
    return path.read_bytes()


def check_identity(folder: Path, wanted: str) -> None:
    """Refuse a kit whose certificate is another's, another authority's, or not valid now."""
    authorities, (own, *_) = (_certificates(folder, name) for name in ("ca.pem", "certificate.pem"))
    path = folder / "certificate.pem"
    names = own.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    name = names[0].value if names else ""
    if name != wanted:
        raise RefusedError(f"{path} is the certificate of {name!r}, and this is {wanted!r}")
    if not any(_made_by(authority, own) for authority in authorities):
        raise RefusedError(f"{path} was not made by the authority in {folder / 'ca.pem'}")
    if _public(folder) != _spki(own):
        raise RefusedError(f"{folder / 'key.pem'} is not the key of {path}")
    _check_dates(own, path)


def _check_dates(own: x509.Certificate, path: Path) -> None:
    now, first, last = datetime.now(UTC), own.not_valid_before_utc, own.not_valid_after_utc
    if now < first:
        raise RefusedError(f"{path} is valid from {first:%Y-%m-%d} on: is the clock right?")
    if now > last:
        raise RefusedError(f"{path} was valid until {last:%Y-%m-%d}: new kits have to be made")
    if (last - now).days < SOON:
        log.warning("%s is valid until %s: have new kits made", path, f"{last:%Y-%m-%d}")


def _made_by(authority: x509.Certificate, own: x509.Certificate) -> bool:
    try:
        own.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _certificates(folder: Path, name: str) -> list[x509.Certificate]:
    """Return those of a file; while they are renewed there are two authorities in it."""
    try:
        return x509.load_pem_x509_certificates(secret(folder, name))
    except ValueError:
        raise FileFormatError(f"{folder / name}: not a certificate") from None


def _public(folder: Path) -> bytes:
    """Return the public half of the kit's key."""
    try:
        key = serialization.load_pem_private_key(secret(folder, "key.pem"), None)
    except (ValueError, TypeError):
        raise FileFormatError(f"{folder / 'key.pem'}: not a key without a password") from None
    return _encoded(key.public_key())


def _spki(own: x509.Certificate) -> bytes:
    return _encoded(own.public_key())


def _encoded(key: object) -> bytes:
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    data: bytes = key.public_bytes(serialization.Encoding.DER, kind)  # type: ignore[attr-defined]
    return data
