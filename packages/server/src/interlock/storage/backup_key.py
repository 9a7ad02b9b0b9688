"""The master key in a backup: sealed under a passphrase, and bound to the manifest that it came with."""

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from interlock.domain.errors import InvalidInput
from interlock.storage.sealing import KEY_BYTES, decrypt, encrypt

SHORTEST = 12
_VERSION = b"\x01"
_SALT_BYTES = 16
# A hundred megabytes and some tenths of a second for each guess.
_COST = 2**17


def seal_key(key: bytes, passphrase: str, manifest: bytes) -> bytes:
    check_passphrase(passphrase)
    salt = os.urandom(_SALT_BYTES)
    return _VERSION + salt + encrypt(_cipher(passphrase, salt), key, _bind(manifest))


def unseal_key(sealed: bytes, passphrase: str, manifest: bytes) -> bytes:
    """The key; `InvalidInput` with another passphrase, or beside another manifest."""
    salt, rest = sealed[1 : 1 + _SALT_BYTES], sealed[1 + _SALT_BYTES :]
    try:
        if sealed[:1] != _VERSION or len(salt) != _SALT_BYTES:
            raise ValueError("no key of this format")
        key = decrypt(_cipher(passphrase, salt), rest, _bind(manifest))
    except (InvalidTag, ValueError) as error:
        raise InvalidInput(
            "the key in the backup does not open: the passphrase is another, or the file was changed"
        ) from error
    if len(key) != KEY_BYTES:
        raise InvalidInput("what is sealed in the backup is no key")
    return key


def check_passphrase(passphrase: str) -> None:
    if len(passphrase) < SHORTEST:
        raise InvalidInput(f"the passphrase needs {SHORTEST} characters at the least: whoever has the file may guess")


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    text = passphrase.encode("utf-8", "surrogatepass")
    return AESGCM(Scrypt(salt=salt, length=KEY_BYTES, n=_COST, r=8, p=1).derive(text))


def _bind(manifest: bytes) -> bytes:
    return _VERSION + hashlib.sha256(manifest).digest()
