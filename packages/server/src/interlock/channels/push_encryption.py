"""What a push service passes on and cannot read: `aes128gcm` (RFC 8188) for one browser (RFC 8291), one record."""

import secrets

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_key
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = SECP256R1()
LONGEST_BODY = 4096
"""Of a push service at the least; more need not be taken."""
_SALT, _TAG = 16, 16
_POINT = 65
LONGEST_TEXT = LONGEST_BODY - (_SALT + 4 + 1 + _POINT) - _TAG - 1
"""In bytes."""


def encrypt(
    text: bytes,
    receiver: bytes,
    auth: bytes,
    *,
    sender: EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """`receiver` is the browser's public key, `auth` what it shares; the rest is made anew for each message."""
    sender, salt = sender or generate_key(CURVE), salt or secrets.token_bytes(_SALT)
    public = point(sender.public_key())
    shared = sender.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(CURVE, receiver))
    material = _derived(auth, shared, b"WebPush: info\0" + receiver + public, 32)
    key = _derived(salt, material, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(salt, material, b"Content-Encoding: nonce\0", 12)
    header = salt + LONGEST_BODY.to_bytes(4, "big") + bytes([len(public)]) + public
    # The last record, which is the only one, ends so.
    return header + AESGCM(key).encrypt(nonce, text + b"\x02", None)


def point(key: EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derived(salt: bytes, material: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(material)
