"""The tables. Times are whole milliseconds since 1970, so that SQLite and PostgreSQL agree to the digit.

event is the log: rows are inserted, never updated, never deleted. Everything else can be rebuilt from it and from the
study file; slot and item exist so that assignment and progress need not read the log.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

VERSION = 1

metadata = MetaData()
# SQLite counts rows up by itself only for a column that is exactly INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")

setting = Table("setting", metadata, Column("key", String(40), primary_key=True), Column("value", Text, nullable=False))

item = Table(
    "item",
    metadata,
    Column("name", String(400), primary_key=True),
    # Place in the study file's order; -1 once the item is no longer in it.
    Column("place", Integer, nullable=False),
    # Raters who rate it now or have rated it.
    Column("load", Integer, nullable=False, default=0),
    # Raters who have rated it, all dimensions.
    Column("done", Integer, nullable=False, default=0),
)

rater = Table(
    "rater",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", String(40), nullable=False, unique=True),
    Column("source", String(20), nullable=False),
    # Who it is at Prolific or MTurk, or the researcher's word for an invitation. NULL for those who just came.
    Column("outside", String(200)),
    Column("session", String(200), nullable=False, default=""),
    Column("extra", Text, nullable=False, default="{}"),
    # joined, active, left, finished, declined, full
    Column("state", String(20), nullable=False),
    Column("joined_at", BigInteger, nullable=False),
    Column("seen_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("events", Integer, nullable=False, default=0),
    Column("returns", Integer, nullable=False, default=0),
    UniqueConstraint("source", "outside"),
)

slot = Table(
    "slot",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("rater_id", _Id, ForeignKey("rater.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("item", String(400), nullable=False),
    # item, reference, check
    Column("role", String(20), nullable=False),
    # How many times this rater met this item before; only references come back.
    Column("repetition", Integer, nullable=False, default=0),
    # Which pass over the item: traces take one dimension at a time.
    Column("part", Integer, nullable=False, default=0),
    # open, done, free (the rater left), dropped (the rater came back and the item was no longer needed), broken (it
    # could not be shown)
    Column("state", String(10), nullable=False),
    Column("done_at", BigInteger),
    UniqueConstraint("rater_id", "position"),
    Index("slot_by_item", "item", "role"),
)

event = Table(
    "event",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("rater_id", _Id, ForeignKey("rater.id"), nullable=False),
    Column("tab", String(40), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("slot_id", _Id, ForeignKey("slot.id")),
    # When the rater did it, put on our clock, and when it came in.
    Column("sent_at", BigInteger, nullable=False),
    Column("stored_at", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
    # Delivery is at least once; this makes it exactly once.
    UniqueConstraint("rater_id", "tab", "seq"),
    Index("event_by_slot", "slot_id", "kind"),
)
