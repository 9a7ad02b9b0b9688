"""The frames of Feishu's long connection: six fields of protocol buffers, by hand."""

from dataclasses import dataclass, field, replace

CONTROL, DATA = 0, 1
_VARINT, _BYTES = 0, 2
_SEQ, _LOG, _SERVICE, _METHOD, _HEADERS, _PAYLOAD = 1, 2, 3, 4, 5, 8
_KEY, _VALUE = 1, 2
_FIXED = {1: 8, 5: 4}
_LONGEST_NUMBER = 10
"""Bytes of one of 64 bits."""


class BadFrame(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class Frame:
    method: int
    service: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    payload: bytes = b""
    seq: int = 0
    log: int = 0

    def with_reply(self, payload: bytes) -> "Frame":
        """What answers it has its numbers and headers."""
        return replace(self, payload=payload)

    def write(self) -> bytes:
        numbers = {_SEQ: self.seq, _LOG: self.log, _SERVICE: self.service, _METHOD: self.method}
        written = b"".join(_number(tag << 3 | _VARINT) + _number(value) for tag, value in numbers.items())
        for name, value in self.headers.items():
            written += _bytes(_HEADERS, _bytes(_KEY, name.encode()) + _bytes(_VALUE, value.encode()))
        return written + (_bytes(_PAYLOAD, self.payload) if self.payload else b"")

    @classmethod
    def read(cls, data: bytes) -> "Frame":
        """Fields that it does not know are left out; `BadFrame` where it is none."""
        numbers, headers, payload = dict.fromkeys((_SEQ, _LOG, _SERVICE, _METHOD), 0), dict[str, str](), b""
        for tag, value in _fields(data):
            if tag in numbers and isinstance(value, int):
                numbers[tag] = value
            elif tag == _HEADERS and isinstance(value, bytes):
                pair = {inner: one for inner, one in _fields(value) if isinstance(one, bytes)}
                headers[_text(pair.get(_KEY, b""))] = _text(pair.get(_VALUE, b""))
            elif tag == _PAYLOAD and isinstance(value, bytes):
                payload = value
        return cls(numbers[_METHOD], numbers[_SERVICE], headers, payload, numbers[_SEQ], numbers[_LOG])


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        key, at = _read_number(data, at)
        tag, form = key >> 3, key & 7
        if form == _VARINT:
            value, at = _read_number(data, at)
            found.append((tag, value))
            continue
        if form == _BYTES:
            length, at = _read_number(data, at)
        elif form in _FIXED:
            length = _FIXED[form]
        else:
            raise BadFrame(f"a field has the form {form}")
        if at + length > len(data):
            raise BadFrame("it ends within a field")
        if form == _BYTES:
            found.append((tag, data[at : at + length]))
        at += length
    return found


def _number(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(_LONGEST_NUMBER):
        if at + place >= len(data):
            raise BadFrame("it ends within a number")
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at + place + 1
    raise BadFrame("a number does not end")


def _bytes(tag: int, data: bytes) -> bytes:
    return _number(tag << 3 | _BYTES) + _number(len(data)) + data


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
