"""The connector nexmark: the events of the benchmark's own generator."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.tables import NEXMARK, NOW, declared, frame, nexmark, read
from tests.searching import searched
from tidemark.connectors import registry
from tidemark.connectors.base import Part
from tidemark.connectors.nexmark.made import strings
from tidemark.connectors.nexmark.made.event_ids import Proportions
from tidemark.errors import OptionError, PlanError

# The hundred events of two epochs.
HUNDRED = frame(nexmark(events__num="100", first_event__rate="500"))
MANY = frame(nexmark(events__num="100000"))


def of_kind(events: pl.DataFrame, kind: str) -> pl.DataFrame:
    return events.select(pl.col(kind).drop_nulls()).unnest(kind)


# --- which events there are --------------------------------------------------------------------


def test_each_fifty_events_are_a_person_three_auctions_and_bids():
    """The first event of the generator has the ID 2, so that the first person is missing."""
    kinds = HUNDRED["event_type"].to_list()

    assert kinds == [1] * 2 + [2] * 46 + [0] + [1] * 3 + [2] * 46 + [0, 1]


def test_an_event_has_only_the_row_of_its_kind():
    for place, kind in enumerate(("person", "auction", "bid")):
        has_row = HUNDRED[kind].is_not_null().to_list()
        assert has_row == [event == place for event in HUNDRED["event_type"]]


def test_ids_count_from_1000():
    assert of_kind(HUNDRED, "person")["id"].to_list() == [1001, 1002]
    assert of_kind(HUNDRED, "auction")["id"].to_list() == [*range(1001, 1007)]


def test_event_times_follow_from_the_rate():
    """At 500 events a second there is one each 2 ms, the first of them after the base time."""
    start = NOW.replace(tzinfo=None)
    times = [
        time
        for kind in ("person", "auction", "bid")
        for time in of_kind(HUNDRED, kind)["dateTime"].to_list()
    ]

    assert sorted(times) == [start + dt.timedelta(milliseconds=2 * n) for n in range(1, 101)]
    assert of_kind(HUNDRED, "auction")["dateTime"][0] == start + dt.timedelta(milliseconds=2)


def test_the_time_of_the_first_event_can_be_set():
    table = nexmark(events__num="3", tidemark__base_time="2024-01-01 00:00:00")

    assert of_kind(frame(table), "bid")["dateTime"].to_list() == [dt.datetime(2024, 1, 1)]


@dataclass
class Slow:
    """The generator's own steps, one event after the other."""

    persons: int
    auctions: int
    bids: int

    def event(self, number: int) -> tuple[int, int | None, int | None]:
        event, total = number + 2, self.persons + self.auctions + self.bids
        rest = event % total
        kind = 0 if rest < self.persons else 1 if rest < self.persons + self.auctions else 2
        return kind, self.last_person(event, total), self.last_auction(event, total)

    def last_person(self, event: int, total: int) -> int:
        epoch, offset = event // total, event % total
        if offset >= self.persons:
            offset = self.persons - 1
        return epoch * self.persons + offset

    def last_auction(self, event: int, total: int) -> int:
        epoch, offset = event // total, event % total
        if offset < self.persons:
            epoch, offset = epoch - 1, self.auctions - 1
        elif offset >= self.persons + self.auctions:
            offset = self.auctions - 1
        else:
            offset -= self.persons
        return epoch * self.auctions + offset


@searched(40)
@given(
    st.tuples(*[st.integers(0, 5)] * 3).filter(any),
    st.lists(st.integers(0, 10**12), min_size=1, max_size=60),
)
def test_ids_are_those_of_the_generators_own_steps(proportions, numbers):
    made, slow = Proportions(*proportions), Slow(*proportions)
    columns = np.array(numbers, np.int64)

    found = zip(
        made.kinds(columns), made.last_person(columns), made.last_auction(columns), strict=True
    )
    assert [tuple(map(int, event)) for event in found] == [slow.event(n) for n in numbers]


# --- what is random ----------------------------------------------------------------------------


def test_values_are_the_same_in_each_run_and_others_with_a_seed():
    again = frame(nexmark(events__num="100", first_event__rate="500"), seed="other")
    seeded = frame(nexmark(events__num="100", first_event__rate="500", tidemark__seed="x"))

    assert again.equals(HUNDRED)
    assert seeded["event_type"].equals(HUNDRED["event_type"])
    prices = [of_kind(made, "bid")["price"].to_list() for made in (seeded, HUNDRED)]
    assert set(prices[0]).isdisjoint(prices[1])


def test_an_event_is_the_same_in_whatever_part_it_is_made(monkeypatch):
    table = nexmark(events__num="100", first_event__rate="500")
    ms = int(NOW.timestamp() * 1000)
    parts = [Part("", start, end, ms) for start, end in ((60, 100), (0, 13), (13, 60))]
    monkeypatch.setattr("tidemark.connectors.made_rows.columns.rows._ROWS", 7)

    assert frame(table, parts=parts).equals(pl.concat([HUNDRED[60:], HUNDRED[:60]]))


def test_prices_have_each_order_of_magnitude():
    prices = of_kind(MANY, "bid")["price"]

    assert prices.min() >= 100
    assert prices.max() <= 100_000_000
    of_magnitude = (prices.log10().floor().cast(int)).value_counts(normalize=True)
    assert of_magnitude["price"].n_unique() in (6, 7)
    assert all(
        0.15 < share < 0.18 for magnitude, share in of_magnitude.iter_rows() if magnitude < 8
    )


def test_half_of_the_bids_are_for_hot_auctions_and_by_hot_bidders_three_quarters():
    bids = of_kind(MANY, "bid")

    hot_auctions = (bids["auction"] % 100 == 0).mean()
    hot_bidders = (bids["bidder"] % 100 == 1).mean()
    assert 0.49 < hot_auctions < 0.52
    assert 0.74 < hot_bidders < 0.77


def test_bids_are_for_auctions_that_are_open_or_soon_will_be():
    events = MANY.with_row_index("number")
    auctions = events.filter(event_type=1).select(
        "number", pl.col("auction").struct.field("id").alias("latest")
    )
    bids = events.filter(event_type=2).select("number", pl.col("bid").struct.field("auction"))
    since = bids.join_asof(auctions, on="number").select(pl.col("latest") - pl.col("auction"))

    assert since["latest"].min() >= -10
    assert since["latest"].max() <= 100
    assert since["latest"].n_unique() == 111


def test_auctions_expire_after_a_hundred_others_have_begun_on_the_average():
    auctions = of_kind(MANY, "auction")
    open_ms = (auctions["expires"] - auctions["dateTime"]).dt.total_milliseconds()

    assert open_ms.min() >= 1
    assert open_ms.mean() == pytest.approx(100 / 3 * 50 / 10, rel=0.05)  # ten events in 1 ms
    assert (auctions["reserve"] > auctions["initialBid"]).all()
    assert set(auctions["category"]) == {10, 11, 12, 13, 14}


def test_sizes_are_those_of_the_options_on_the_average():
    table = nexmark(
        events__num="100000", person__avg_size="300", auction__avg_size="800", bid__avg_size="40"
    )
    events = frame(table)

    def mean_size(kind: str, longs: int, *names: str) -> float:
        made = of_kind(events, kind)
        return 8 * longs + sum(made[name].str.len_bytes().mean() for name in names)

    texts = ("name", "emailAddress", "creditCard", "city", "state", "extra")
    assert mean_size("person", 1, *texts) == pytest.approx(300, abs=3)
    assert mean_size("auction", 6, "itemName", "description", "extra") == pytest.approx(800, abs=6)
    assert mean_size("bid", 4, "extra") == pytest.approx(40, abs=1)


def test_events_that_are_larger_than_their_size_are_not_filled():
    events = frame(nexmark(events__num="100", bid__avg_size="20", person__avg_size="0"))

    assert set(of_kind(events, "bid")["extra"]) == {""}
    assert set(of_kind(events, "person")["extra"]) == {""}


def test_texts_look_like_those_of_the_generator():
    person = of_kind(MANY, "person")
    for column, pattern in {
        "name": r"[A-Z][a-z]+ [A-Z][a-z]+",
        "emailAddress": r"[a-z ]{0,6}@[a-z ]{0,4}\.com",
        "creditCard": r"\d{4}( \d{4}){3}",
        "state": r"[A-Z]{2}",
    }.items():
        assert all(re.fullmatch(pattern, value) for value in person[column]), column
    names = of_kind(MANY, "auction")["itemName"]
    assert names.str.len_bytes().max() == 19
    assert all(name == name.strip() for name in names)


def test_channels_and_fillings_are_those_that_java_makes_of_its_seeds():
    """Recorded from java.util.SplittableRandom of Java 17, with the seeds and steps of the
    generator: in all of its runs they are the same.
    """
    names, urls = (column.to_pylist() for column in strings.channels())
    filling = strings._filling().tobytes()

    assert urls[2].endswith("/hirz/dmdx/ce_g/item.htm?query=1&channel_id=1073741824")
    assert [*zip(names, urls, strict=True)][10_000:] == [
        ("Google", "https://www.nexmark.com/mgi/ze_/moks/item.htm?query=1"),
        ("Facebook", "https://www.nexmark.com/vev/rzs/amc/item.htm?query=1"),
        ("Baidu", "https://www.nexmark.com/ulk_/csln/bux/item.htm?query=1"),
        ("Apple", "https://www.nexmark.com/hycn/tfzr/mofv/item.htm?query=1"),
    ]
    lines = "".join(f"{url}\n" for url in urls[:10_000]).encode()
    assert hashlib.md5(lines).hexdigest() == "4a111c2ce0414aa0e33224014abc29d5"
    assert hashlib.md5(filling).hexdigest() == "006f8c04d8d7b3b3397db3c262dce810"


# --- tables ------------------------------------------------------------------------------------


def test_bids_of_the_first_versions_have_no_channel():
    plain = NEXMARK.replace("channel STRING, url STRING,", "")
    table = declared(f"CREATE TABLE t ({plain}) WITH ('connector'='nexmark', 'events.num'='100')")
    with_channel = of_kind(frame(nexmark(events__num="100")), "bid")

    bids = of_kind(frame(table), "bid")
    assert bids.columns == ["auction", "bidder", "price", "dateTime", "extra"]
    assert (with_channel["bidder"] - bids["bidder"]).unique().to_list() == [1000]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"person__proportion": "-1"}, "'person.proportion' must be at least 0"),
        ({"first_event__rate": "0"}, "'first-event.rate' must be at least 1"),
        ({"bid__hot_ratio__bidders": "0"}, "'bid.hot-ratio.bidders' must be at least 1"),
        ({"bid__avg_size": "1 mb"}, "must be at most 400000 bytes"),
        ({"tidemark__base_time": "soon"}, "invalid value 'soon'"),
        (
            {"person__proportion": "0", "auction__proportion": "0", "bid__proportion": "0"},
            "at least one proportion",
        ),
    ],
)
def test_options_that_make_no_events_are_refused(options, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        registry.options_of(nexmark(**options))


def test_other_columns_are_refused():
    table = declared("CREATE TABLE t (a INT) WITH ('connector' = 'nexmark')")

    with pytest.raises(OptionError, match="are not those of Nexmark's events"):
        registry.options_of(table)


@pytest.mark.parametrize(
    ("options", "bounded", "count"),
    [
        ({}, False, None),
        ({"events__num": "7"}, True, 7),
        ({"events__num": "7", "stop_at": "5"}, True, 5),
        ({"stop_at": "5"}, True, 5),
        ({"events__num": "7", "stop_at": "9", "keep_alive": "true"}, False, 7),
    ],
)
def test_tables_end_after_the_last_event_unless_they_are_kept_alive(options, bounded, count):
    table = nexmark(**options)

    assert registry.traits(table).bounded == bounded
    if count is not None:
        assert len(frame(table)) == count


def test_spark_reads_the_same_events(spark):
    table = nexmark(events__num="100", first_event__rate="500", tidemark__base_time="2024-01-01")

    found = read(spark, table).selectExpr("event_type", "bid.price", "person.name").collect()
    expected = frame(table).select(
        "event_type",
        pl.col("bid").struct.field("price"),
        pl.col("person").struct.field("name"),
    )
    assert [tuple(row) for row in found] == expected.rows()


def test_an_unbounded_table_cannot_be_read_in_batch_mode(spark):
    with pytest.raises(PlanError, match="is unbounded"):
        read(spark, nexmark())
