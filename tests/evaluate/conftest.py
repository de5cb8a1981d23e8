"""The public table of the tests of references and of error bounds."""

import pytest

import dpstats as dp


@pytest.fixture(scope="module")
def people():
    return dp.datasets.oi_microdata()
