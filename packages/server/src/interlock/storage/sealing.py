"""Encryption at rest. Each value has a data key of its own, which is wrapped by the master key.

A sealed value is: version, nonce and wrapped data key, nonce and ciphertext. Its context is authenticated with it, so a
sealed value that is moved to another place does not open there.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from interlock.domain.errors import InvalidInput, Unreadable

KEY_BYTES = 32
_VERSION = b"\x01"
_NONCE_BYTES = 12
_WRAPPED_BYTES = _NONCE_BYTES + KEY_BYTES + 16


def derive(master: bytes, purpose: str) -> bytes:
    """A key for one purpose, from which neither the master key nor that of another purpose can be found."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=f"interlock/{purpose}".encode()).derive(master)


class Sealer:
    def __init__(self, master_key: bytes) -> None:
        if len(master_key) != KEY_BYTES:
            raise InvalidInput(f"the master key must have {KEY_BYTES} bytes, not {len(master_key)}")
        self._master = AESGCM(master_key)

    def seal(self, text: str, *, context: str) -> bytes:
        bound = _bound(context)
        data_key = AESGCM.generate_key(bit_length=KEY_BYTES * 8)
        # Half a surrogate pair cannot be sent anywhere, but a person may have pasted one.
        clear = text.encode("utf-8", "surrogatepass")
        return _VERSION + _encrypt(self._master, data_key, bound) + _encrypt(AESGCM(data_key), clear, bound)

    def open(self, blob: bytes, *, context: str) -> str:
        """The text; `Unreadable` when this key or this context did not seal it, or it was changed since."""
        bound = _bound(context)
        try:
            if blob[:1] != _VERSION:
                raise InvalidTag
            data_key = _decrypt(self._master, blob[1 : 1 + _WRAPPED_BYTES], bound)
            clear = _decrypt(AESGCM(data_key), blob[1 + _WRAPPED_BYTES :], bound)
        except (InvalidTag, ValueError) as error:
            raise Unreadable("a secret cannot be opened: was the master key changed?") from error
        return clear.decode("utf-8", "surrogatepass")


def _bound(context: str) -> bytes:
    return _VERSION + context.encode("utf-8", "surrogatepass")


def _encrypt(cipher: AESGCM, clear: bytes, bound: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, clear, bound)


def _decrypt(cipher: AESGCM, sealed: bytes, bound: bytes) -> bytes:
    return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound)
