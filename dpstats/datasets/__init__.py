"""Load two public data sets under CC BY 4.0, for examples and tests.

Their authors and licence are in LICENSE.md beside the files. Synthetic tables are in
``simulate``.
"""

import gzip
from importlib.resources import files

import pandas as pd


def oi_microdata() -> pd.DataFrame:
    """Load 10,000 fictitious people in 111 cells: one small regression per cell.

    Returns
    -------
    pandas.DataFrame
        (10000, 3), no missing value:

        - ``parent_rank``: income rank of the parents, 0 (lowest) to 1 (highest)
        - ``kid_rank``: income rank of the child as an adult, 0 to 1
        - ``cell``: the cell, 1 to 111, of 5 to 200 people

    Notes
    -----
    From the implementation guide of the repository OpportunityInsights/Differential-Privacy, file
    ``example_code_implementation_guide/private_data_by_cells.dta``; none of these people exists.
    By Opportunity Insights, licensed under CC BY 4.0
    (https://creativecommons.org/licenses/by/4.0/); converted to CSV.

    Examples
    --------
    >>> people = oi_microdata()
    >>> people.shape, people["cell"].nunique()
    ((10000, 3), 111)
    >>> bool(people[["parent_rank", "kid_rank"]].stack().between(0, 1).all())
    True
    """
    return _load("oi_microdata.csv.gz")


def bike_hour() -> pd.DataFrame:
    """Load the hourly count of rented bicycles in Washington, D.C., in 2011 and 2012.

    Alabi et al. (2022, section 3.1.2) regress ``cnt`` on ``temp``, both rescaled to [0, 1], in
    each of the 288 groups of ``(mnth, hr)``, of 45 to 62 hours each. A row is an hour, not a
    person: privacy at the level of rows protects no cyclist here.

    Returns
    -------
    pandas.DataFrame
        (17379, 19), no missing value:

        - ``instant``: number of the row, 1 to 17379
        - ``year``, ``month``, ``day``: the date, 2011-01-01 to 2012-12-31
        - ``season``: 1 winter, 2 spring, 3 summer, 4 autumn
        - ``yr``: 0 for 2011, 1 for 2012; ``mnth``: 1 to 12; ``hr``: hour of the day, 0 to 23
        - ``holiday``, ``workingday``: 0 or 1; ``weekday``: 0 (Sunday) to 6
        - ``weathersit``: 1 clear, 2 mist, 3 light rain or snow, 4 heavy rain or snow
        - ``temp``: temperature, (degrees Celsius + 8)/47; ``atemp``: felt temperature, (degrees
          Celsius + 16)/66; both 0 to 1
        - ``hum``: humidity, per cent/100; ``windspeed``: wind speed/67; both 0 to 1
        - ``casual``, ``registered``: bicycles rented in the hour, 0 to 367 and 0 to 886
        - ``cnt``: their sum, 1 to 977

    Notes
    -----
    Fanaee-T, H. and Gama, J. (2013), Event labeling combining ensemble detectors and background
    knowledge, Progress in Artificial Intelligence; UCI Machine Learning Repository, Bike Sharing
    (https://doi.org/10.24432/C5W894), licensed under CC BY 4.0
    (https://creativecommons.org/licenses/by/4.0/); the date split into three columns.

    Examples
    --------
    >>> hours = bike_hour()
    >>> hours.shape, hours.groupby(["mnth", "hr"]).ngroups
    ((17379, 19), 288)
    >>> bool((hours["casual"] + hours["registered"] == hours["cnt"]).all())
    True
    """
    return _load("bike_hour.csv.gz")


def _load(name: str) -> pd.DataFrame:
    """Read a compressed CSV file of this package."""
    with files("dpstats.datasets").joinpath(name).open("rb") as packed, gzip.open(packed) as text:
        return pd.read_csv(text)
