"""Names of people and agents: those that nobody may take, and those that are too like another's.

Compared is what a reader sees: compatibility forms (fullwidth letters) and case are folded, and letters of other
scripts, digits and pairs of letters that look like Latin ones are taken for those, and signs at either end are taken
for those of the sentence around ("approved by ann."). Names of one script, Chinese ones too, are as free as before.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

FORM = re.compile(r"(?:(?![\u115f\u1160\u3164\uffa0])[\w.@-]){1,64}\Z")
"""The four are letters of which nothing is seen: with one behind it, a name would look like another's."""
RESERVED = frozenset({"system", "interlock", "server", "admin", "administrator", "operator", "root"})
"""Under which the server itself is seen, or would be taken for an operator."""
OF_ADMINS = frozenset({"admin", "administrator", "operator", "root"})
"""Of these, what an admin may be called."""

_ALIKE_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
_CYRILLIC = dict(zip("аеѕіјорсухһԁԛԝкмтнвѵӏԍ", "aesijopcyxhdqwkmthbvlg", strict=True))
_GREEK = dict(zip("αονιρυκτχεηβμγωϲϳ", "aovipuktxenbmywcj", strict=True))
_SMALL_CAPITALS = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True))
_CHEROKEE = dict(zip("ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᎽᎩᏃ", "abcdeghijklmprstvwyyz", strict=True))
_LISU = dict(zip("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "abcdefghijklmnoprstuvwxyz", strict=True))
_OTHERS = {"ı": "i", "ɑ": "a", "ɡ": "g", "օ": "o", "ո": "n", "ս": "u", "ց": "g", "ƽ": "s"}
_LETTERS = str.maketrans(_CYRILLIC | _GREEK | _SMALL_CAPITALS | _CHEROKEE | _LISU | _OTHERS)
_PAIRS = {"0": "o", "rn": "m", "vv": "w"}
_STROKES = str.maketrans("i1|", "lll")
_DIGITS = str.maketrans("35", "es")
_SIGNS = "._@-"
LONGEST_WISH = 256


def skeleton(name: str) -> str:
    """The same for two names that a reader may take for each other, strokes (I, l, 1) aside."""
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).translate(_LETTERS)
    for seen, meant in _PAIRS.items():
        normal = normal.replace(seen, meant)
    return normal.strip(_SIGNS)


def _strokes(name: str) -> str:
    """The same also for two that only differ in which stroke they have where."""
    return skeleton(name).translate(_STROKES)


def _is_doubtful(name: str) -> bool:
    """Whether a stroke in it may be read as another: a 1, an I among small letters, an l among capital ones.

    Else two that differ in it are read apart: neil is not nell.
    """
    letters = unicodedata.normalize("NFKC", name)
    has_small = any(letter.islower() for letter in letters)
    has_capitals = any(letter.isupper() for letter in letters[1:])
    return "1" in letters or ("I" in letters and has_small) or ("l" in letters and has_capitals)


def is_reserved(name: str, names: Iterable[str] = RESERVED) -> bool:
    """Whether it is, or looks like, one of the names; also with digits for letters or behind it, and signs around."""
    bare = "".join(filter(str.isalnum, _strokes(name)))
    numbered = "".join(filter(str.isalnum, _strokes(unicodedata.normalize("NFKC", name).rstrip("0123456789" + _SIGNS))))
    return not {bare, bare.translate(_DIGITS), numbered}.isdisjoint(map(_strokes, names))


def is_mixed(name: str) -> bool:
    """Whether it has letters of several scripts that look alike, as no word of any language has."""
    letters = filter(str.isalpha, unicodedata.normalize("NFKC", name))
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return len(scripts.intersection(_ALIKE_SCRIPTS)) > 1


def is_like_any(name: str, others: Iterable[str]) -> bool:
    return any(_is_like(name, other) for other in others)


def _is_like(name: str, other: str) -> bool:
    if skeleton(name) == skeleton(other):
        return True
    return (_is_doubtful(name) or _is_doubtful(other)) and _strokes(name) == _strokes(other)


def names_from(wishes: Iterable[str], tail: str) -> Iterator[str]:
    """Names to try for somebody, the best first: each wish with what a name cannot have taken out, then with a number
    behind it, then with `tail`, which is nobody else's."""
    for wish in (*wishes, "person"):
        normal = unicodedata.normalize("NFKC", wish[:LONGEST_WISH]).strip()
        plain = re.sub(r"[^\w.@-]+", ".", normal).strip(_SIGNS)[:48].rstrip(_SIGNS)
        if FORM.match(plain) and not is_mixed(plain):
            yield plain
            yield from (f"{plain}-{number}" for number in range(2, 6))
            yield f"{plain}-{tail}"
