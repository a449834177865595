"""Every key of the configuration: its type, its limits, and which keys must be consistent.

config/README.md explains the keys, and `configuration` turns the first mistake into one line. Types are
strict: "4" is a text and no number.
"""

import difflib
import math
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, model_validator

from scripts.shared.font import writable

MOST_CELLS = 1_000_000
MOST_USERS = 999_999_999  # of a population: `histograms.NUMPYS_LIMIT`
MOST_VALUES = 20_000_000  # of parity.repetitions x cells: a job holds a few arrays of this size


class Section(BaseModel):
    """A section of the configuration, with its keys in the order of config/config.yaml."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)
    # Pairs of keys: the first value must be the smaller.
    rising: ClassVar[tuple[tuple[str, str], ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, section: object) -> object:
        """The section as it is. Raises ValueError if it has a key that it cannot have.

        The message has the most similar key, and all keys of the section (``cls.model_fields``). pydantic
        calls this before it checks any value. It refuses by itself what is not a section (a dict) at all.
        """
        if not isinstance(section, dict):
            return section
        unknown = sorted(set(section) - set(cls.model_fields), key=str)
        if unknown:
            near = difflib.get_close_matches(str(unknown[0]), cls.model_fields, n=1)
            advice = f"; did you mean {near[0]!r}?" if near else "."
            keys = ", ".join(sorted(cls.model_fields))
            raise ValueError(f"has no key {unknown[0]!r}{advice} Its keys: {keys}")
        return section

    @model_validator(mode="after")
    def _rises(self) -> Self:
        """The section as it is. Raises ValueError if of two keys in ``self.rising`` the first is not less."""
        for low, high in self.rising:
            smaller = getattr(self, low)
            larger = getattr(self, high)
            if smaller >= larger:
                raise ValueError(f"{low} must be less than {high} ({larger}); got {smaller}")
        return self


def _users(value: object) -> object:
    """A number of users, or all of a dataset; ValueError for anything else."""
    if value != "all" and not (type(value) is int and 1 <= value <= 10**12):
        raise ValueError("must be a whole number from 1 to 10^12, or all")
    return value


def _different(values: list[Any]) -> list[Any]:
    """The values; ValueError if two of them are equal."""
    if len(set(values)) < len(values):
        raise ValueError("must not name anything twice")
    return values


T = TypeVar("T")
Several = Annotated[list[T], Field(min_length=1), AfterValidator(_different)]
Few = Annotated[list[T], Field(min_length=1, max_length=6), AfterValidator(_different)]

Positive = Annotated[float, Field(gt=0)]
Hundred = Annotated[float, Field(gt=0, le=100)]
Budget = Annotated[float, Field(gt=0, le=20)]
Confidence = Annotated[float, Field(gt=0, lt=1)]
Delta = Annotated[float, Field(ge=1e-30, lt=1)]
Exponents = Annotated[list[Annotated[float, Field(gt=0, le=10)]], AfterValidator(_different)]
Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]
Step = Annotated[float, Field(ge=1e-6)]
Count = Annotated[int, Field(ge=0)]
One = Annotated[int, Field(ge=1)]
Side = Annotated[int, Field(ge=1, le=10_000)]
Million = Annotated[int, Field(ge=1, le=1_000_000)]
Users = Annotated[int | Literal["all"], PlainValidator(_users)]
Resamples = Annotated[int, Field(ge=2, le=100_000)]
Thousand = Annotated[int, Field(ge=2, le=1000)]
# Parts of paths, rules, shells and pages: no braces (Snakemake's wildcards), no control characters.
File = Annotated[str, Field(pattern=r"^[^{}\x00-\x1f\x7f-\x9f]{0,1000}$")]
Title = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,60}$"), AfterValidator(writable)]
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,39}$")]
Figure = Literal["fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7"]


class Range(Section):
    """The ends of an axis, both above 0."""

    rising = (("start", "stop"),)
    start: Positive
    stop: Positive


class Axis(Range):
    """The ends of an axis, and its number of points."""

    steps: Thousand


class Download(Section):
    """SNAP's file of check-ins: its address, and its MD5 sum in hexadecimal digits."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$")]
    md5: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]


class Gowalla(Section):
    """Where the check-ins of both cities come from, and which grid cuts their boxes into cells."""

    source: Literal["bundled", "snap", "file"]
    file: File
    grid: Literal["uniform", "stepped"]
    bad_rows_at_most: Annotated[float, Field(ge=0, le=1)]
    download: Download

    @model_validator(mode="after")
    def _has_a_file(self) -> Self:
        """The section as it is. Raises ValueError if the check-ins come from a file that has no name."""
        if self.source == "file" and not self.file:
            raise ValueError("file must name a file in SNAP's format, as source is 'file'; got ''")
        return self


class Pair(Section):
    """A budget: eps0, that of the local reports, and eps, that of the shuffled histogram."""

    eps0: Hundred
    eps: Hundred


class Estimates(Section):
    """One run of the mechanisms at every budget, cell by cell, for heatmaps."""

    budgets: Several[Pair]
    n: Users


class Tv(Section):
    """Trials of the total variation error, at every budget and n."""

    budgets: Several[Pair]
    n: Several[Users]
    repetitions: Million


class Individual(Tv):
    """Trials of the errors of single cells, which are numbered from 1, at every budget and n."""

    cells: Several[One]


class Grid(Section):
    """Trials at every n and every pair of eps0 and eps with eps <= eps0."""

    eps0: Several[Positive]
    eps: Several[Positive]
    n: Several[Users]
    repetitions: Million
    points_per_job: One | None = None

    @model_validator(mode="after")
    def _has_points(self) -> Self:
        """The section as it is. Raises ValueError if every eps is above every eps0.

        Trials are run for pairs with eps <= eps0, of which there would be none.
        """
        if min(self.eps) > max(self.eps0):
            raise ValueError(
                f"eps must have one up to the largest eps0 ({max(self.eps0)}); got {self.eps}"
            )
        return self


class DeltaHat(Section):
    """Trials with delta-hat where it is not 0, for every eps0 and n at ``steps`` values of eps below eps0."""

    eps0: Several[Budget]
    n: Several[Users]
    steps: Thousand
    repetitions: Resamples  # a standard error needs two


class Dataset(Section):
    """A dataset: its title, and the experiments on it."""

    title: Title
    figures: dict[Literal["tv", "estimates"], Figure | None] = {}
    tv: Tv | None = None
    estimates: Estimates | None = None
    individual: Individual | None = None
    delta_hat: DeltaHat | None = None
    grid: Grid | None = None

    def number_of_cells(self, grid: str) -> int | None:
        """How many cells the histogram has; None if only a file of counts can tell.

        ``grid``: the kind of grid that cuts the boxes of cities, "uniform" or "stepped".
        """

    def sizes(self) -> Iterator[int]:
        """The numbers of users n of all experiments on the dataset, without "all"."""
        for section in (self.tv, self.estimates, self.individual, self.delta_hat, self.grid):
            if section is None:
                continue
            sizes = section.n if isinstance(section.n, list) else [section.n]
            for n in sizes:
                if n != "all":
                    yield n


class Normal(Dataset):
    """A random dataset: a population with normal values, which are counted in cells of equal width."""

    kind: Literal["normal"]
    mean: float
    spread: Positive
    spread_is: Literal["standard deviation", "variance"]
    range: Annotated[list[float], Field(min_length=2, max_length=2)]
    cells: Annotated[int, Field(ge=2, le=MOST_CELLS)]
    population: Annotated[int, Field(ge=1, le=MOST_USERS)]

    def number_of_cells(self, grid: str) -> int:
        return self.cells

    @model_validator(mode="after")
    def _check_users_and_range(self) -> Self:
        """The dataset as it is. Raises ValueError if its range is empty, or if it has too few users.

        ``self.range`` are the ends of the interval that is cut into cells. ``self.sizes()`` gives the number
        of users n of every experiment, and these are drawn from ``self.population`` users.
        """
        if self.range[0] >= self.range[1]:
            raise ValueError(f"range must be [low, high] with low < high; got {self.range}")
        largest = max(self.sizes(), default=0)
        if largest > self.population:
            raise ValueError(
                f"every n must be at most the population ({self.population}); got {largest}"
            )
        return self


class Box(Section):
    """The box of a city, in degrees."""

    rising = (("south", "north"), ("west", "east"))
    south: Latitude
    north: Latitude
    west: Longitude
    east: Longitude


class Uniform(Section):
    """A grid of equal cells over the whole box."""

    columns: Side
    rows: Side


class Stepped(Section):
    """A grid of cells of a fixed size, in degrees."""

    latitude_step: Step
    longitude_step: Step


class City(Dataset):
    """The check-ins in a box, which are counted in the cells of a uniform grid, and maybe a stepped one."""

    kind: Literal["gowalla"]
    box: Box
    uniform: Uniform
    stepped: Stepped | None = None

    def number_of_cells(self, grid: str) -> int:
        return self._numbers_of_cells()[grid]

    def _numbers_of_cells(self) -> dict[str, int]:
        """The number of cells of each of the city's grids, by kind of grid."""
        cells = {"uniform": self.uniform.columns * self.uniform.rows}
        if self.stepped:
            rows = _steps_below(self.box.south, self.box.north, self.stepped.latitude_step)
            columns = _steps_below(self.box.west, self.box.east, self.stepped.longitude_step)
            cells["stepped"] = rows * columns
        return cells

    @model_validator(mode="after")
    def _check_grids(self) -> Self:
        """The city as it is. Raises ValueError if one of its grids has fewer than 2 or too many cells."""
        for name, number in self._numbers_of_cells().items():
            if not 2 <= number <= MOST_CELLS:
                raise ValueError(
                    f"{name} must cut the box into 2 to {MOST_CELLS:,} cells; got {number:,}"
                )
        return self


def _steps_below(low: float, high: float, step: float) -> int:
    """How many whole steps there are between the edges np.arange(low, high, step), which end below high."""
    return math.ceil((high - low) / step) - 1


class Counts(Dataset):
    """A histogram of your own, in a file."""

    kind: Literal["counts"]
    file: File


AnyDataset = Annotated[Normal | City | Counts, Field(discriminator="kind")]


class Protocol(Section):
    """How the noise of the Gaussian mechanism is chosen in the paper's trials."""

    delta_form: Literal["published", "exact"]
    delta_floor: Annotated[float, Field(ge=1e-300, lt=1)]
    sensitivity: Positive


class Constants(Section):
    """Other values of the protocol's floor of delta and sensitivity, under which errors are compared."""

    floors: Several[Annotated[float, Field(ge=1e-300, lt=1)]]
    sensitivities: Few[Positive]
    repetitions: Resamples
    confidence: Confidence


class Parity(Section):
    """The comparison of mechanisms at equal privacy: budgets, rules for delta, repetitions and intervals."""

    eps0: Few[Budget]
    delta: Several[Delta]
    delta_exponents: Exponents
    repetitions: Resamples
    bootstrap: Resamples
    confidence: Confidence


class DesignSetting(Section):
    """A setting in which the designs are compared: ``rounds`` is how often each user reports."""

    n: Annotated[int, Field(ge=10, le=1_000_000_000)]
    k: Annotated[int, Field(ge=2, le=100_000)]
    eps: Annotated[float, Field(ge=0.01, le=10)]
    delta: Delta
    rounds: Annotated[int, Field(ge=1, le=1000)]


class Study(Section):
    """The study of randomizers, in which every combination of n, k and eps is one setting."""

    n: Several[Annotated[int, Field(ge=10, le=1_000_000_000)]]
    k: Several[Annotated[int, Field(ge=2, le=100_000)]]
    eps: Several[Annotated[float, Field(ge=0.001, le=10)]]
    delta: Several[Delta]
    delta_exponents: Exponents
    designs: Annotated[
        list[DesignSetting], Field(min_length=1, max_length=3), AfterValidator(_different)
    ]


class DeltaSurface(Section):
    """Figure 1: n, k, the count n_x0, and both axes."""

    rising = (("count", "n"),)
    n: Annotated[int, Field(ge=1, le=1_000_000_000)]
    k: Annotated[int, Field(ge=2)]
    count: Count
    eps: Axis
    eps0: Axis


class BoundsSetting(Section):
    """A setting in which all bounds on delta are drawn over eps; ``count`` is n_x0."""

    rising = (("count", "n"),)
    n: Annotated[int, Field(ge=2, le=10_000_000)]
    k: Annotated[int, Field(ge=2)]
    eps0: Budget
    count: Count
    eps: Range

    @model_validator(mode="after")
    def _ends_below_eps0(self) -> Self:
        """The section as it is. Raises ValueError if the axis of eps reaches eps0, where delta is 0."""
        if self.eps.stop >= self.eps0:
            raise ValueError(f"eps.stop must be less than eps0 ({self.eps0}); got {self.eps.stop}")
        return self


class DeltaBounds(Section):
    """The figure of all bounds on delta: its settings, and the number of eps in each."""

    steps: Thousand
    settings: Annotated[list[BoundsSetting], Field(min_length=1, max_length=3)]


class AuditSetting(Section):
    """A setting of the simulated attack: ``count`` is n_x0, and ``runs`` the runs in each of two worlds."""

    rising = (("count", "n"),)
    n: Annotated[int, Field(ge=1, le=2000)]
    k: Annotated[int, Field(ge=2, le=65_536)]
    eps0: Budget
    count: Count
    runs: Annotated[int, Field(ge=2, le=1_000_000_000)]


class Audit(Section):
    """A simulated attack in several settings, and the eps at which it bounds delta from below."""

    confidence: Confidence
    remaining: Literal["x1", "x2"]
    eps: Several[Hundred]
    settings: Annotated[list[AuditSetting], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def _check_games(self) -> Self:
        """The section as it is. Raises ValueError if its settings or its eps do not fit together.

        In a setting an attacker guesses whether the target user holds x0 or x1. Of the n - 1 other users,
        ``count`` hold x0, and all else hold the value ``self.remaining``: "x1", or a third value, "x2", for
        which k must be at least 3. Two settings must differ in n, k, eps0 or count. At least one of the eps
        at which delta is bounded must be below the largest eps0, since delta is 0 from eps0 on.
        """
        played = set()
        for number, setting in enumerate(self.settings):
            if setting.k == 2 and self.remaining == "x2":
                raise ValueError(
                    f"settings[{number}].k must be at least 3, as remaining x2 is a third value"
                )
            game = (setting.n, setting.k, setting.eps0, setting.count)
            if game in played:
                raise ValueError(
                    f"settings[{number}] repeats n, k, eps0 and count: keep one, with all runs"
                )
            played.add(game)

        largest = max(setting.eps0 for setting in self.settings)
        if min(self.eps) >= largest:
            text = f"eps must have one below the largest eps0 of the settings ({largest:g})"
            raise ValueError(f"{text}, as delta is 0 from eps0 on; got {self.eps}")
        return self


class Settings(Section):
    """All settings of a run: the whole configuration."""

    seed: Annotated[int, Field(ge=0, le=2**63 - 1)]
    gowalla: Gowalla
    datasets: Annotated[dict[Name, AnyDataset], Field(min_length=1)]
    protocol: Protocol
    constants: Constants
    parity: Parity
    study: Study
    delta_surface: DeltaSurface
    delta_bounds: DeltaBounds
    audit: Audit

    @model_validator(mode="after")
    def _check_datasets(self) -> Self:
        """The settings as they are. Raises ValueError if a dataset contradicts settings of other sections.

        - A city needs a section stepped if gowalla.grid is "stepped".
        - With parity.delta_exponents, by which delta = n^-exponent, every n of the dataset's section tv (the
          trials of the total variation error) must be at least 2: delta would be 1 for n = 1.
        - The number of cells, if it is known without the data, must fit the experiments.
        """
        for name, dataset in self.datasets.items():
            if self.gowalla.grid == "stepped" and isinstance(dataset, City) and not dataset.stepped:
                raise ValueError(
                    f"datasets.{name}.stepped is missing; gowalla.grid: stepped needs it"
                )
            if dataset.tv and 1 in dataset.tv.n and self.parity.delta_exponents:
                text = f"datasets.{name}.tv.n must be at least 2 with parity.delta_exponents"
                raise ValueError(
                    f"{text}, as delta = 1^-{self.parity.delta_exponents[0]:g} is 1; got 1"
                )
            cells = dataset.number_of_cells(self.gowalla.grid)
            if cells is not None:
                self._check_number_of_cells(name, dataset, cells)
        return self

    def _check_number_of_cells(self, name: str, dataset: Dataset, cells: int) -> None:
        """Raise ValueError if the experiments on a dataset do not fit its number of ``cells``.

        The section individual asks for the errors of single cells, whose numbers, from 1, must exist. The
        comparison at equal privacy (parity) has an estimate of every cell for every repetition in memory at
        once. These must be at most `MOST_VALUES`.
        """
        if dataset.individual and max(dataset.individual.cells) > cells:
            largest = max(dataset.individual.cells)
            text = f"datasets.{name}.individual.cells must be at most the number of cells ({cells})"
            remedy = "choose other cells, or leave the section out with individual: null"
            raise ValueError(f"{text}; got {largest}: {remedy}")
        repetitions = self.parity.repetitions
        if dataset.tv and repetitions * cells > MOST_VALUES:
            text = f"datasets.{name}: cells ({cells:,}) times parity.repetitions ({repetitions:,})"
            raise ValueError(f"{text} must be at most {MOST_VALUES:,}, or memory runs out")
