"""The values that code in this process was lent, and may still have: a tool keeps a client, a thread is left behind.

They are kept in memory for as long as there is room, and nowhere else: what kept one ends with the process too.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from interlock.agents.silence import Silence
from interlock.domain.redaction import CombinedRedaction, Redaction, Span

_MOST_RUNS = 150_000
"""How many runs of characters a generation holds, some three hundred keys: 20 MB."""
_MOST_CHARACTERS = 1_000_000
"""Of all values that are remembered for later runs, some twenty thousand keys."""


class ProcessSecrets(Redaction):
    """All values that code in this process was lent: those of runs under way, and as many of runs that ended as there
    is room for. What has ended is forgotten by generations, the older one at once."""

    def __init__(self) -> None:
        super().__init__()
        self._under_way: list[Redaction] = []
        self._newer, self._older = Redaction(), Redaction()
        # What is logged while it is held, by a destructor say, comes from the same thread.
        self._lock = threading.RLock()

    def lend(self, values: Redaction) -> None:
        if not values:
            return
        with self._lock:
            self._under_way.append(values)
            self._newer.extend(values)
            if self._newer.size > _MOST_RUNS:
                self._newer, self._older = Redaction(), self._newer
                for one in self._under_way:
                    self._newer.extend(one)

    def give_back(self, values: Redaction) -> None:
        with self._lock:
            if values in self._under_way:
                self._under_way.remove(values)

    def __len__(self) -> int:
        return len(self._newer) + len(self._older)

    def spans(self, text: str) -> list[Span]:
        with self._lock:
            return [*self._newer.spans(text), *self._older.spans(text)]


class ThreadSecrets:
    """What people gave to each thread, for its later runs and for those of the owner's other threads.

    Not for everybody's: who sees what is hidden can guess, and who gives a common word would hide it from all. In other
    threads only whole values are hidden, or a word of one would be missing in every later conversation.
    """

    def __init__(self, room: int = _MOST_CHARACTERS) -> None:
        self._room = room
        self._threads: OrderedDict[tuple[str, str], set[str]] = OrderedDict()
        self._texts: dict[tuple[str, str], Redaction] = {}
        self._owners: dict[str, Redaction] = {}

    def hear(self, owner_id: str, thread_id: str, values: Iterable[str] = ()) -> Redaction:
        """Remember these too; what runs of the thread hide every part of."""
        key, new = (owner_id, thread_id), set(values)
        known = self._threads.get(key, set[str]())
        if not known and not new:
            return Redaction()
        self._threads[key] = known | new
        self._threads.move_to_end(key)
        if not new <= known:
            self._texts.pop(key, None)
            self._owners.pop(owner_id, None)
            self._forget()
        if key not in self._texts:
            self._texts[key] = Redaction(known | new)
        return self._texts[key]

    def silence(self, owner_id: str, thread_id: str) -> Silence:
        if owner_id not in self._owners:
            known = [values for (owner, _), values in self._threads.items() if owner == owner_id]
            if not known:
                return Silence()
            self._owners[owner_id] = Redaction(wholes=set[str]().union(*known))
        everywhere = self._owners[owner_id]
        return Silence(CombinedRedaction(self.hear(owner_id, thread_id), everywhere), everywhere)

    def _forget(self) -> None:
        """The threads that were quiet for longest, but never the one that speaks."""
        while len(self._threads) > 1 and sum(len(one) for some in self._threads.values() for one in some) > self._room:
            key, _ = self._threads.popitem(last=False)
            self._texts.pop(key, None)
            self._owners.pop(key[0], None)


process_secrets = ProcessSecrets()
