"""The packaged data are what their docstrings say."""

from importlib.resources import files

import numpy as np

from dpstats.datasets import bike_hour, oi_microdata


def test_oi_microdata():
    people = oi_microdata()
    assert list(people.columns) == ["parent_rank", "kid_rank", "cell"]
    assert people.shape == (10_000, 3)
    sizes = people.groupby("cell").size()
    assert (len(sizes), sizes.min(), sizes.max()) == (111, 5, 200)
    assert people["cell"].agg(["min", "max"]).tolist() == [1, 111]
    assert not people.isna().any(axis=None)
    assert people[["parent_rank", "kid_rank"]].to_numpy().min() >= 0
    assert people[["parent_rank", "kid_rank"]].to_numpy().max() <= 1
    r2 = np.corrcoef(people["parent_rank"], people["kid_rank"])[0, 1] ** 2
    assert round(r2, 3) == 0.748


RANGES = {
    "instant": (1, 17379),
    "year": (2011, 2012),
    "month": (1, 12),
    "day": (1, 31),
    "season": (1, 4),
    "yr": (0, 1),
    "mnth": (1, 12),
    "hr": (0, 23),
    "holiday": (0, 1),
    "weekday": (0, 6),
    "workingday": (0, 1),
    "weathersit": (1, 4),
    "temp": (0.02, 1),
    "atemp": (0, 1),
    "hum": (0, 1),
    "windspeed": (0, 0.8507),
    "casual": (0, 367),
    "registered": (0, 886),
    "cnt": (1, 977),
}


def test_bike_hour():
    hours = bike_hour()
    assert hours.shape == (17_379, 19)
    assert not hours.isna().any(axis=None)
    assert {name: (hours[name].min(), hours[name].max()) for name in hours} == RANGES
    sizes = hours.groupby(["mnth", "hr"]).size()
    assert (len(sizes), sizes.min(), sizes.max()) == (288, 45, 62)
    assert (hours["month"] == hours["mnth"]).all()
    assert (hours["year"] - 2011 == hours["yr"]).all()


def test_each_call_gives_a_frame_of_its_own():
    people = oi_microdata()
    people["kid_rank"] = 0
    assert oi_microdata()["kid_rank"].max() > 0


def test_attribution_is_packaged():
    text = files("dpstats.datasets").joinpath("LICENSE.md").read_text(encoding="utf-8")
    for word in ("CC BY 4.0", "Opportunity Insights", "Fanaee-T", "Gama"):
        assert word in text
