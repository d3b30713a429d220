"""Data frames of pandas, polars and pyarrow have the profile and events of a mapping of columns."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import evenkeel  # noqa: E402
import numpy as np  # noqa: E402
from world import HAS, RULES, Arrays, Hotel  # noqa: E402


class Stream:
    """Nothing but the Arrow PyCapsule interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Frames(Hotel):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.features = evenkeel.Manifest(cls.manifest)
        cls.columns = Arrays(cls.generate("lists.jsonl", 1200, 2, "--fault", "price=x100,from=700")).columns(cls.features)
        cls.missing = np.arange(len(cls.columns["price"])) % 50 == 0
        cls.columns["stars"] = np.where(cls.missing, np.nan, cls.columns["stars"])
        cls.expected = cls.results(cls.columns)

    @classmethod
    def results(cls, frame):
        keys = {"query": "query", "segments": ["arm", "market"], "time": "time"}
        profile = evenkeel.Profile.fit(frame, features=cls.features, stratify_by="market", item_ids="id", **keys)
        return profile._data, evenkeel.replay(frame, cls.features, cls.profile, RULES, item_id="id", **keys).events

    def same(self, frame):
        data, events = self.results(frame)
        self.assertEqual(data, self.expected[0])
        self.assertEqual(events, self.expected[1])
        self.assertIn("confirmed", {event.get("state") for event in events})

    @unittest.skipUnless(HAS["pandas"], "no pandas")
    def test_pandas(self):
        import pandas
        frame = pandas.DataFrame(self.columns)
        self.same(frame)
        frame["time"] = pandas.to_datetime(frame["time"], unit="ms")
        for zone in ("UTC", "Asia/Kolkata"):
            self.same(frame.assign(time=frame["time"].dt.tz_localize("UTC").dt.tz_convert(zone)))
        frame["arm"] = frame["arm"].astype("category")
        frame["stars"] = frame["stars"].astype("Int64")
        self.same(frame)

    @unittest.skipUnless(HAS["pandas"], "no pandas")
    def test_times_of_pandas_may_have_a_zone(self):
        import pandas
        times = pandas.Series(pandas.to_datetime([1700000000123, None, 0], unit="ms", utc=True)).dt.tz_convert("Asia/Kolkata")
        for values in (times, times.array, pandas.DatetimeIndex(times)):
            self.assertEqual(evenkeel._lists.times_of(values, 3).tolist(), [1700000000123, 0, 0])

    @unittest.skipUnless(HAS["pandas"], "no pandas")
    def test_a_gap_in_the_list_ids_is_refused(self):
        import pandas
        for kind in ("float64", "Int64", "string", "object"):
            frame = pandas.DataFrame({"q": pandas.Series([1, None, 2], dtype=kind), "x": [1, 2, 3]})
            with self.subTest(kind), self.assertRaisesRegex(ValueError, "'query': row 1 has no list id"):
                evenkeel.Profile.fit(frame, query="q", features=["x"])

    @unittest.skipUnless(HAS["polars"], "no polars")
    def test_polars(self):
        import polars
        frame = polars.DataFrame(self.columns)
        self.same(frame)
        self.same(frame.with_columns(polars.col("stars").fill_nan(None).cast(polars.Int32), polars.col("arm").cast(polars.Categorical),
                                     polars.col("time").cast(polars.Datetime("ms"))))
        self.same(frame.with_columns(polars.col("time").cast(polars.Datetime("ms")).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Kolkata")))

    @unittest.skipUnless(HAS["pyarrow"], "no pyarrow")
    def test_pyarrow(self):
        import pyarrow
        table = pyarrow.table(self.columns)
        self.same(table)
        stars = pyarrow.array([None if gone else int(x) for x, gone in zip(self.columns["stars"], self.missing)])
        table = table.set_column(table.column_names.index("stars"), "stars", stars)
        self.same(table.combine_chunks().set_column(table.column_names.index("arm"), "arm", table["arm"].dictionary_encode()))
        self.same(Stream(table))


if __name__ == "__main__":
    unittest.main()
