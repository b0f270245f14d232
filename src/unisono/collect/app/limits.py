"""How much one sender may do: a bucket of requests that refills, one per rater and one per address."""

from __future__ import annotations

import time
from collections import OrderedDict

from unisono.collect.studies.schema import Limits

MOST_BODY = 512 * 1024
# A browser that comes back after an outage has a queue to deliver.
_BURST_SECONDS = 10
_MOST_SENDERS = 50_000


class Bucket:
    """Refills at `rate` per second up to `size`."""

    __slots__ = ("_at", "_left")

    def __init__(self, size: float, now: float) -> None:
        self._left = size
        self._at = now

    def take(self, rate: float, size: float, now: float) -> bool:
        """Whether one more is allowed now."""
        if not self.has(rate, size, now):
            return False
        self._left -= 1
        return True

    def has(self, rate: float, size: float, now: float) -> bool:
        """Whether there is one to take."""
        self._left = min(size, self._left + (now - self._at) * rate)
        self._at = now
        return self._left >= 1


class Limiter:
    """Buckets by sender; those not used for longest are forgotten first, which only ever favours the sender."""

    def __init__(self, limits: Limits) -> None:
        self._rates = {
            "rater": limits.requests_per_second,
            "join": limits.joins_per_minute / 60,
            "admin": 5.0,
            # Wrong admin tokens, not compared any more once this is spent; and unknown links, by themselves, so that
            # nobody locks the researcher out with those.
            "wrong": 1.0,
            "link": 1.0,
        }
        self._buckets: OrderedDict[tuple[str, str], Bucket] = OrderedDict()

    def is_spent(self, kind: str, sender: str) -> bool:
        """Whether this sender has nothing left of this kind; asking costs nothing."""
        bucket = self._buckets.get((kind, sender))
        return bucket is not None and not bucket.has(self._rates[kind], self._size(kind), time.monotonic())

    def _size(self, kind: str) -> float:
        return max(self._rates[kind] * (60 if kind == "join" else _BURST_SECONDS), 10.0)

    def allows(self, kind: str, sender: str) -> bool:
        """Whether this sender may do one more thing of this kind."""
        rate, size, now = self._rates[kind], self._size(kind), time.monotonic()
        bucket = self._buckets.setdefault((kind, sender), Bucket(size, now))
        self._buckets.move_to_end((kind, sender))
        if len(self._buckets) > _MOST_SENDERS:
            self._buckets.popitem(last=False)
        return bucket.take(rate, size, now)
