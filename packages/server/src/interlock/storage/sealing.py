"""Encryption at rest. Each value has a data key of its own, which is wrapped by one of the server's keys.

A sealed value is: version, number of the wrapping key, nonce and wrapped data key, nonce and ciphertext. Its context is
authenticated with it, so a sealed value that is moved to another place does not open there. Version 1 has no number:
it was wrapped by the first key.
"""

import os
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import InvalidInput, Unreadable

KEY_BYTES = 32
FIRST = 1
"""The number of the first key."""
_UNNUMBERED = b"\x01"
_NUMBERED = b"\x02"
_NUMBER_BYTES = 4
_NONCE_BYTES = 12
_WRAPPED_BYTES = _NONCE_BYTES + KEY_BYTES + 16


class UnknownKey(Unreadable):
    """What was sealed under a key that is not loaded; it may have been made since."""


def derive(master: bytes, purpose: str) -> bytes:
    """A key for one purpose, from which neither the master key nor that of another purpose can be found."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=f"interlock/{purpose}".encode()).derive(master)


class Sealer:
    """Seals under its newest key, and opens what any of its keys sealed."""

    def __init__(self, keys: bytes | Mapping[int, bytes]) -> None:
        self.use({FIRST: keys} if isinstance(keys, bytes) else keys)

    def use(self, keys: Mapping[int, bytes]) -> None:
        for key in keys.values():
            if len(key) != KEY_BYTES:
                raise InvalidInput(f"a key must have {KEY_BYTES} bytes, not {len(key)}")
        self._ciphers = {number: AESGCM(key) for number, key in keys.items()}
        self.newest = max(keys)

    async def ready(self, connection: AsyncConnection) -> None:
        """Before a transaction seals: what is sealed in it will be opened later. A given key is always ready."""

    async def reload(self, connection: AsyncConnection) -> None:
        """After `UnknownKey`: look for keys that were made since. To a given key nothing is added."""

    def seal(self, text: str, *, context: str) -> bytes:
        data_key = AESGCM.generate_key(bit_length=KEY_BYTES * 8)
        # Half a surrogate pair cannot be sent anywhere, but a person may have pasted one.
        clear = text.encode("utf-8", "surrogatepass")
        return self._wrap(data_key, context) + encrypt(AESGCM(data_key), clear, _bind(_UNNUMBERED, context))

    def open(self, blob: bytes, *, context: str) -> str:
        """The text; `Unreadable` when no key of ours or another context sealed it, or it was changed since."""
        data_key, sealed = self._unwrap(blob, context)
        try:
            clear = decrypt(AESGCM(data_key), sealed, _bind(_UNNUMBERED, context))
        except (InvalidTag, ValueError) as error:
            raise _unreadable() from error
        return clear.decode("utf-8", "surrogatepass")

    def rewrap(self, blob: bytes, *, context: str) -> bytes:
        """The same sealed value with its data key under the newest key; the value itself is not opened."""
        data_key, sealed = self._unwrap(blob, context)
        return self._wrap(data_key, context) + sealed

    def _wrap(self, data_key: bytes, context: str) -> bytes:
        head = _NUMBERED + self.newest.to_bytes(_NUMBER_BYTES)
        return head + encrypt(self._ciphers[self.newest], data_key, _bind(head, context))

    def _unwrap(self, blob: bytes, context: str) -> tuple[bytes, bytes]:
        """The data key, and what is sealed with it."""
        number, head = wrapping_key(blob)
        cipher = self._ciphers.get(number)
        if cipher is None:
            raise UnknownKey(f"a secret cannot be opened: it is sealed under key {number}, which is not known here")
        rest = blob[len(head) :]
        try:
            return decrypt(cipher, rest[:_WRAPPED_BYTES], _bind(head, context)), rest[_WRAPPED_BYTES:]
        except (InvalidTag, ValueError) as error:
            raise _unreadable() from error


def wrapping_key(blob: bytes) -> tuple[int, bytes]:
    """The number of the key that a sealed value is wrapped by, and the bytes that say so."""
    if blob[:1] == _UNNUMBERED:
        return FIRST, _UNNUMBERED
    head = blob[: 1 + _NUMBER_BYTES]
    if head[:1] != _NUMBERED or len(head) != 1 + _NUMBER_BYTES:
        raise _unreadable()
    return int.from_bytes(head[1:]), head


def _unreadable() -> Unreadable:
    return Unreadable("a secret cannot be opened: it was sealed under another key, or changed since")


def _bind(head: bytes, context: str) -> bytes:
    return head + context.encode("utf-8", "surrogatepass")


def encrypt(cipher: AESGCM, clear: bytes, bound: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, clear, bound)


def decrypt(cipher: AESGCM, sealed: bytes, bound: bytes) -> bytes:
    """What `encrypt` was given; `InvalidTag` or `ValueError` when it is not that."""
    return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound)
