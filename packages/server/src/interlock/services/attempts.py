"""How often somebody tried to answer a request with what cannot be taken, since this server started."""

from collections import OrderedDict

REMEMBERED = 10_000


class Attempts:
    def __init__(self) -> None:
        self._failed: OrderedDict[str, int] = OrderedDict()

    def fail(self, request_id: str) -> int:
        """One more; how many there are now."""
        count = self._failed.pop(request_id, 0) + 1
        self._failed[request_id] = count
        while len(self._failed) > REMEMBERED:
            self._failed.popitem(last=False)
        return count
