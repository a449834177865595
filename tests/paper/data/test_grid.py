"""Grids: the authors' cells, in which cell a point counts, and points that are spread in their cells."""

from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.paper.data import grid
from scripts.paper.data.grid import Box
from scripts.paper.data.sub_cells import FINENESS, sub_grid
from scripts.shared.settings import City

SAN_FRANCISCO = Box(37.7228, 37.7946, -122.5153, -122.3789)
PARIS = Box(48.8286, 48.8798, 2.2855, 2.3909)


@pytest.mark.parametrize(
    ("box", "steps", "columns", "rows", "north", "east"),
    [
        (SAN_FRANCISCO, (0.0044875, 0.005683), 24, 16, 37.7946, -122.378908),
        (PARIS, (0.00427, 0.0066), 15, 11, 48.87557, 2.3845),
    ],
)
def test_stepped_grid_has_the_authors_cells(box, steps, columns, rows, north, east):
    cells = grid.stepped_grid(box, *steps)
    assert (cells.columns, cells.rows) == (columns, rows)
    assert (cells.latitudes[-1], cells.longitudes[-1]) == (north, east)
    # Within a billionth of a degree of what arange gives, and exactly the decimals that are meant.
    expected = np.arange(box.south, box.north, steps[0])
    np.testing.assert_allclose(cells.latitudes, expected, rtol=0, atol=1e-9)
    assert all(float(f"{edge:.7f}") == edge for edge in [*cells.latitudes, *cells.longitudes])


def test_point_on_a_stepped_edge_belongs_to_the_cell_beyond_it():
    cells = grid.stepped_grid(SAN_FRANCISCO, 0.0044875, 0.005683)
    edge = -122.464153  # the 9th step from the west; arange's own edge lies 4e-14 further east
    assert np.arange(SAN_FRANCISCO.west, SAN_FRANCISCO.east, 0.005683)[9] > edge
    counts = grid.count_points(cells, [37.75], [edge])
    assert np.argwhere(counts).tolist() == [[6, 9]]


# South, north, west, east and the height and width of cells, in degrees.
LATTICES = [
    ("48.17", "48.25", "16.30", "16.45", "0.01"),
    ("48.1", "48.3", "16.2", "16.5", "0.01"),
    ("40.5", "41.0", "-74.3", "-73.7", "0.01"),
    ("35.5", "35.9", "139.4", "140.0", "0.01"),
    ("0", "1", "0", "1", "0.1"),
]


def decimals_from(low, high, step):
    """low, low + step and so on below high, each as the float that its decimals are read as."""
    return [float(low + number * step) for number in range(round((high - low) / step))]


@pytest.mark.parametrize("kind", ["uniform", "stepped", "sub-cells"])
@pytest.mark.parametrize("lattice", LATTICES)
def test_each_cell_counts_the_check_in_on_its_south_west_corner(lattice, kind):
    south, north, west, east, step = map(Decimal, lattice)
    box = Box(*map(float, (south, north, west, east)))
    if kind == "stepped":
        cells = grid.stepped_grid(box, float(step), float(step))
    else:
        cells = grid.uniform_grid(box, round((east - west) / step), round((north - south) / step))
    if kind == "sub-cells":
        cells = sub_grid({"uniform": cells})
        step /= FINENESS
    # The stepped grid has no cell north or east of its last step.
    latitudes = decimals_from(south, Decimal(repr(cells.latitudes[-1].item())), step)
    longitudes = decimals_from(west, Decimal(repr(cells.longitudes[-1].item())), step)
    corners = np.meshgrid(latitudes, longitudes)
    counts = grid.count_points(cells, *(degrees.ravel() for degrees in corners))
    np.testing.assert_array_equal(counts, np.ones((cells.rows, cells.columns)))


def test_the_edges_of_a_box_stay_as_given():
    """Else a check-in in the box might be in no cell."""
    box = Box(south=48.123456789012, north=48.223456789012, west=2.000000000049, east=2.1)
    cells = grid.uniform_grid(box, columns=3, rows=3)
    assert grid.count_points(cells, [box.south, box.north], [box.west, box.east]).sum() == 2


BOX_OF_3_X_4_DEGREES = Box(south=0, north=3, west=10, east=14)


def test_cells_are_numbered_row_by_row_from_the_south_west():
    cells = grid.uniform_grid(BOX_OF_3_X_4_DEGREES, columns=4, rows=3)
    # One point in each of the cells (row, column) = (0, 0), (0, 1), (1, 0) and (2, 3).
    latitudes = [0.5, 0.5, 1.5, 2.5]
    longitudes = [10.5, 11.5, 10.5, 13.5]
    table = grid.cell_table(cells, grid.count_points(cells, latitudes, longitudes))
    assert table["cell"].tolist() == list(range(1, 13))
    assert table.loc[table["count"] > 0, "cell"].tolist() == [1, 2, 5, 12]


def test_row_of_a_cell_has_its_count_its_place_in_the_grid_and_its_edges():
    cells = grid.uniform_grid(BOX_OF_3_X_4_DEGREES, columns=4, rows=3)
    table = grid.cell_table(cells, grid.count_points(cells, [1.5], [10.5]))
    header, *rows = table.to_csv(index=False).splitlines()
    assert header == "cell,count,row,column,south,north,west,east"
    assert rows[4] == "5,1,1,0,1.0,2.0,10.0,11.0"


# So many points lie on edges of the box's cells, and some outside of the box.
LATITUDE_AND_LONGITUDE_IN_HALF_DEGREES = st.tuples(st.integers(-2, 8), st.integers(18, 30))


@given(
    st.lists(LATITUDE_AND_LONGITUDE_IN_HALF_DEGREES, max_size=30),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_a_cell_counts_the_points_on_its_south_and_west_edges_and_a_last_one_on_all(
    points, columns, rows
):
    """The last row has its northern edge, too, and the last column its eastern one."""
    # The shape gives an empty list of points two columns, too.
    latitude, longitude = np.array(points, dtype=float).reshape(-1, 2).T / 2
    cells = grid.uniform_grid(BOX_OF_3_X_4_DEGREES, columns, rows)
    counts = grid.count_points(cells, latitude, longitude)
    # The last edges count to the cells before them: here they are a hair further out.
    edges_of_rows = [*cells.latitudes[:-1], np.nextafter(cells.latitudes[-1], np.inf)]
    edges_of_columns = [*cells.longitudes[:-1], np.nextafter(cells.longitudes[-1], np.inf)]
    for row, (south, north) in enumerate(pairwise(edges_of_rows)):
        for column, (west, east) in enumerate(pairwise(edges_of_columns)):
            in_row = (south <= latitude) & (latitude < north)
            in_column = (west <= longitude) & (longitude < east)
            assert counts[row, column] == np.sum(in_row & in_column)
    in_the_box = BOX_OF_3_X_4_DEGREES.contains(latitude, longitude)
    assert counts.sum() == in_the_box.sum()


def test_spread_points_lie_in_their_cells_and_depend_on_the_generator_only():
    cells = grid.uniform_grid(SAN_FRANCISCO, columns=24, rows=17)
    counts = np.random.default_rng(1).integers(0, 40, (17, 24))
    latitude, longitude = grid.random_places(cells, counts, np.random.default_rng(2))
    assert len(latitude) == counts.sum()
    np.testing.assert_array_equal(grid.count_points(cells, latitude, longitude), counts)
    again = grid.random_places(cells, counts.ravel(), np.random.default_rng(2))
    np.testing.assert_array_equal(again, [latitude, longitude])


# All in hundredths of a degree: the sizes of the box, and steps that cut it into at least 2 x 1 cells.
SIZES = st.integers(21, 40)


@given(SIZES, SIZES, st.integers(1, 10), st.integers(1, 20))
def test_a_city_knows_how_many_cells_its_stepped_grid_has(
    height, width, latitude_step, longitude_step
):
    """Also where arange has an edge more than the decimals have, because its numbers are rounded."""
    box = {"south": 48.1, "north": 48.1 + height / 100, "west": 2, "east": 2 + width / 100}
    steps = {"latitude_step": latitude_step / 100, "longitude_step": longitude_step / 100}
    cells = grid.stepped_grid(Box(**box), **steps)
    uniform = {"columns": 2, "rows": 2}
    settings = {"kind": "gowalla", "title": "A", "box": box, "uniform": uniform, "stepped": steps}
    assert City.model_validate(settings).number_of_cells("stepped") == cells.rows * cells.columns
