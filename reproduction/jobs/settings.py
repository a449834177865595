"""Every key of the configuration: its type, its limits, and which keys must be consistent.

Numbers stay as written: 4 is not 4.0, and "4" is text. Errors are `Contradiction`, or pydantic's;
`configuration` turns them into one line. config/README.md explains the keys.
"""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

MOST_CELLS = 1_000_000
MOST_VALUES = 20_000_000  # parity's repetitions x cells: a job holds a few arrays of this size


def contradiction(text: str, key: str = "") -> PydanticCustomError:
    """The error for a section, or for its key ``key``: ``text`` says what is wrong."""
    return PydanticCustomError(
        "contradiction", "contradiction", {"key": key and f".{key}", "text": f" {text}"}
    )


class Section(BaseModel):
    """A section of the configuration, with its keys in the order of config/config.yaml."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)
    rising: ClassVar[tuple[tuple[str, str], ...]] = ()  # pairs of keys: the first value must be the smaller

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, section: object) -> object:
        unknown = sorted(set(section) - set(cls.model_fields), key=str) if isinstance(section, dict) else []
        if unknown:
            names = {"unknown": unknown[0], "allowed": sorted(cls.model_fields)}
            raise PydanticCustomError("unknown", "unknown key", names)
        return section

    @field_validator("*", mode="wrap")
    @classmethod
    def _as_written(cls, value: Any, check: Callable[[Any], Any]) -> Any:
        checked = check(value)
        if value is None:
            raise PydanticCustomError("null", "null")
        return value if checked == value else checked

    @model_validator(mode="after")
    def _rises(self) -> Self:
        for low, high in self.rising:
            if (least := getattr(self, low)) >= (most := getattr(self, high)):
                raise contradiction(f"must be less than {high} ({most}); got {least}", low)
        return self

    def plain(self, *keys: str) -> dict[str, Any]:
        """The section, or these keys of it, as written in the file. Rules hand this to their scripts."""
        return self.model_dump(include=set(keys) or None, exclude_unset=True)


def _matching(pattern: str, description: str) -> AfterValidator:
    def match(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise PydanticCustomError("text", "{wanted}", {"wanted": description})
        return text

    return AfterValidator(match)


def _users(value: object) -> object:
    if value != "all" and not (type(value) is int and 1 <= value <= 10**12):
        raise PydanticCustomError("text", "{wanted}", {"wanted": "a whole number from 1 to 10^12, or all"})
    return value


def _different(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("repeated", "repeated")
    return values


T = TypeVar("T")
Different = Annotated[list[T], AfterValidator(_different)]  # may be empty
Several = Annotated[list[T], Field(min_length=1), AfterValidator(_different)]
Few = Annotated[list[T], Field(min_length=1, max_length=6), AfterValidator(_different)]

Positive = Annotated[float, Field(gt=0)]
Hundred = Annotated[float, Field(gt=0, le=100)]
Budget = Annotated[float, Field(gt=0, le=20)]
Confidence = Annotated[float, Field(gt=0, lt=1)]
Delta = Annotated[float, Field(ge=1e-30, lt=1)]
TinyDelta = Annotated[float, Field(ge=1e-300, lt=1)]
Exponent = Annotated[float, Field(gt=0, le=10)]
Lowest = Annotated[float, Field(ge=-100, le=-1)]  # where an axis of log10 delta ends
Count = Annotated[int, Field(ge=0)]
Cells = Annotated[int, Field(ge=2)]
Million = Annotated[int, Field(ge=1, le=1_000_000)]
Billion = Annotated[int, Field(ge=1, le=1_000_000_000)]
Users = Annotated[int | Literal["all"], PlainValidator(_users)]
Resamples = Annotated[int, Field(ge=2, le=100_000)]
Thousand = Annotated[int, Field(ge=2, le=1000)]
Rounds = Annotated[int, Field(ge=1, le=1000)]
# These become parts of paths, rules, shells, pages and figures.
File = Annotated[
    str,
    _matching(
        r"[^{}\x00-\x1f\x7f-\x9f]{0,1000}",
        "a path of at most 1,000 characters without braces, which mean wildcards to Snakemake, "
        "and without control characters",
    ),
]
Title = Annotated[
    str, _matching(r"[^\x00-\x1f\x7f-\x9f]{1,60}", "1 to 60 characters, none of them a control character")
]
Figure = Annotated[str, _matching("fig[1-7]", "one of fig1 to fig7")]
Name = Annotated[
    str,
    _matching("[a-z][a-z0-9_]{0,39}", "made of a to z, 0 to 9 and _, at most 40 of them, the first a letter"),
]


class Range(Section):
    rising = (("start", "stop"),)
    start: Positive
    stop: Positive


class Axis(Range):
    steps: Thousand


# Datasets --------------------------------------------------------------------------------------------


class Download(Section):
    url: Annotated[
        str, _matching(r"https?://\S+", "an address that begins with http:// or https:// and has no space")
    ]
    md5: Annotated[str, _matching("[0-9a-f]{32}", "32 of the digits 0-9 and a-f")]


class Gowalla(Section):
    source: Literal["bundled", "snap", "file"]
    file: File
    grid: Literal["uniform", "stepped"]
    bad_rows_at_most: Annotated[float, Field(ge=0, le=1)]
    download: Download

    @model_validator(mode="after")
    def _has_a_file(self) -> Self:
        if self.source == "file" and not self.file:
            raise contradiction("must name a file in SNAP's format, as source is 'file'; got ''", "file")
        return self


class Pair(Section):
    eps0: Hundred
    eps: Hundred


class Tv(Section):
    budgets: Several[Pair]
    n: Several[Users]
    repetitions: Million


class Estimates(Section):
    budgets: Several[Pair]
    n: Users


class Individual(Section):
    budgets: Several[Pair]
    n: Several[Users]
    cells: Several[Annotated[int, Field(ge=1)]]
    repetitions: Million


class Grid(Section):
    eps0: Several[Positive]
    eps: Several[Positive]
    n: Several[Users]
    repetitions: Million
    points_per_job: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _has_points(self) -> Self:
        if min(self.eps) > max(self.eps0):
            text = f"must have an eps that is at most the largest eps0 ({max(self.eps0)}); got {self.eps}"
            raise contradiction(text, "eps")
        return self


class Figures(Section):
    tv: Figure | None = None
    estimates: Figure | None = None


class Dataset(Section):
    """A dataset: its title, and the experiments on it."""

    kind: str
    title: Title
    figures: Figures = Figures()
    tv: Tv | None = None
    estimates: Estimates | None = None
    individual: Individual | None = None
    grid: Grid | None = None

    @property
    def number_of_cells(self) -> int | None:
        """The number of cells; None if only a file of counts can tell."""
        return None

    @property
    def asked_cells(self) -> list[int]:
        """The cells whose errors are in the paper's tables."""
        return self.individual.cells if self.individual else []

    def sizes(self) -> Iterator[tuple[str, int]]:
        """(experiment, n) for every n that is a number, not "all"."""
        for name in ("tv", "estimates", "individual", "grid"):
            asked = section.n if (section := getattr(self, name)) else []
            for n in asked if isinstance(asked, list) else [asked]:
                if n != "all":
                    yield name, n


class Normal(Dataset):
    kind: Literal["normal"]
    mean: float
    spread: Positive
    spread_is: Literal["standard deviation", "variance"]
    range: Annotated[list[float], Field(min_length=2, max_length=2)]
    cells: Annotated[int, Field(ge=2, le=MOST_CELLS)]
    population: Annotated[int, Field(ge=1, le=100_000_000_000)]

    @property
    def number_of_cells(self) -> int:
        return self.cells

    def law(self) -> dict[str, Any]:
        """The settings of the distribution and of the cells."""
        return self.plain("mean", "spread", "spread_is", "range", "cells", "population")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.range[0] >= self.range[1]:
            raise contradiction(f"must be [low, high] with low < high; got {self.range}", "range")
        if problem := above(self, self.population):
            raise contradiction(*problem)
        return self


class Box(Section):
    rising = (("south", "north"), ("west", "east"))
    south: Annotated[float, Field(ge=-90, le=90)]
    north: Annotated[float, Field(ge=-90, le=90)]
    west: Annotated[float, Field(ge=-180, le=180)]
    east: Annotated[float, Field(ge=-180, le=180)]


class Uniform(Section):
    columns: Annotated[int, Field(ge=1, le=10_000)]
    rows: Annotated[int, Field(ge=1, le=10_000)]


class Stepped(Section):
    latitude_step: Positive
    longitude_step: Positive


class City(Dataset):
    kind: Literal["gowalla"]
    box: Box
    uniform: Uniform
    stepped: Stepped | None = None

    @property
    def number_of_cells(self) -> int:
        return self.uniform.columns * self.uniform.rows

    def grids(self) -> dict[str, Any]:
        """The settings of its cells."""
        return self.plain("box", "uniform", "stepped")

    @model_validator(mode="after")
    def _is_cut(self) -> Self:
        cells: dict[str, float] = {"uniform": self.number_of_cells}
        if self.stepped:
            across = (self.box.north - self.box.south) / self.stepped.latitude_step
            cells["stepped"] = across * (self.box.east - self.box.west) / self.stepped.longitude_step
        for name, number in cells.items():
            if not 2 <= number <= MOST_CELLS:
                raise contradiction(
                    f"must cut the box into 2 to {MOST_CELLS:,} cells; got {number:,.0f}", name
                )
        return self


class Counts(Dataset):
    kind: Literal["counts"]
    file: File


def _kind(section: object) -> str | None:
    if isinstance(section, dict):
        return section.get("kind")
    return getattr(section, "kind", "counts")  # the last says that it is no mapping


AnyDataset = Annotated[
    Annotated[Normal, Tag("normal")] | Annotated[City, Tag("gowalla")] | Annotated[Counts, Tag("counts")],
    Discriminator(_kind),
]


def above(dataset: Dataset, population: int) -> tuple[str, str] | None:
    """(error, key) of the first n above the dataset's number of users; None if there is none."""
    for name, n in dataset.sizes():
        if n > population:
            return f"must be at most the population ({population}); got {n}", f"{name}.n"
    return None


class Protocol(Section):
    delta_form: Literal["published", "exact"]
    delta_floor: TinyDelta
    sensitivity: Positive


# At equal privacy ------------------------------------------------------------------------------------


class Guarantee(Section):
    eps: Annotated[float, Field(ge=1e-10, lt=20)]
    delta: TinyDelta


class Plan(Section):
    n: Several[Billion]
    k: Several[Cells]
    guarantees: Several[Guarantee]


class Parity(Section):
    eps0: Few[Budget]
    delta: Several[Delta]
    delta_exponents: Different[Exponent]
    repetitions: Resamples
    bootstrap: Resamples
    confidence: Confidence
    plan: Plan


StudyN = Several[Annotated[int, Field(ge=10, le=1_000_000_000)]]
StudyK = Several[Annotated[int, Field(ge=2, le=100_000)]]
StudyEps = Several[Annotated[float, Field(ge=0.001, le=10)]]


class Which(Section):
    n: StudyN
    k: StudyK
    eps: StudyEps


class Simulation(Which):
    delta: Delta
    repetitions: Thousand
    confidence: Confidence


class StudyGrid(Section):
    columns: Annotated[int, Field(ge=2, le=400)]
    rows: Annotated[int, Field(ge=1, le=400)]


class StudyGrids(Section):
    city: str
    randomizers: Several[Literal["grr", "subset", "oue", "hash", "rappor", "hadamard"]]
    repetitions: Thousand
    grids: Annotated[Several[StudyGrid], Field(max_length=20)]


class Study(Which):
    delta: Several[Delta]
    delta_exponents: Different[Exponent]
    which: Which
    simulation: Simulation
    grids: StudyGrids


class FrontierSetting(Section):
    n: Billion
    k: Cells
    eps: Annotated[float, Field(ge=0.001, le=10)]


class Frontier(Section):
    delta: Delta
    settings: Annotated[list[FrontierSetting], Field(min_length=1, max_length=4)]


# Curves ----------------------------------------------------------------------------------------------


class DeltaSurface(Section):
    rising = (("count", "n"),)
    n: Billion
    k: Cells
    count: Count
    eps: Axis
    eps0: Axis


class BoundsSetting(Section):
    rising = (("count", "n"),)
    n: Annotated[int, Field(ge=2, le=10_000_000)]
    k: Cells
    eps0: Budget
    count: Count
    eps: Range

    @model_validator(mode="after")
    def _ends_below_eps0(self) -> Self:
        if self.eps.stop >= self.eps0:
            raise contradiction(f"must be less than eps0 ({self.eps0}); got {self.eps.stop}", "eps.stop")
        return self


class DeltaBounds(Section):
    steps: Thousand
    settings: Annotated[list[BoundsSetting], Field(min_length=1, max_length=3)]


class Curve(Section):
    eps0: Hundred
    eps: Axis


class Growth(Section):
    eps: Annotated[Several[Positive], Field(max_length=3)]
    n: Several[Million]


class BlanketRegions(Section):
    n: Million
    k: Cells
    share: Annotated[float, Field(ge=0, le=1)]
    eps0: Axis
    curve: Curve
    growth: Growth


class Shares(Axis):
    stop: Confidence
    steps: Annotated[int, Field(ge=2, le=100)]


class Band(Section):
    eps0: Annotated[float, Field(gt=0, le=50)]
    k: Annotated[list[Annotated[int, Field(ge=3)]], Field(min_length=1, max_length=4)]
    n: Annotated[list[Annotated[int, Field(ge=1, le=100_000)]], Field(min_length=1, max_length=6)]
    shares: Shares


class Falling(Section):
    rising = (("stop", "start"),)
    start: Annotated[float, Field(ge=-300, lt=0)]
    stop: Annotated[float, Field(ge=-300, lt=0)]
    steps: Thousand


class GaussianScale(Section):
    eps: Few[Hundred]
    log10_delta: Falling


class Orders(Axis):
    start: Annotated[float, Field(gt=1)]
    stop: Annotated[float, Field(gt=1, le=1_000_000)]


class Composed(Section):
    eps0: Budget
    compositions: Few[Annotated[int, Field(ge=1, le=100_000)]]
    eps: Axis
    deepest: Lowest


class GirgisRdp(Section):
    n: Annotated[int, Field(ge=2, le=1_000_000)]
    k: Cells
    eps0: Few[Budget]
    orders: Orders
    composed: Composed


class AuditSetting(Section):
    rising = (("count", "n"),)
    n: Annotated[int, Field(ge=1, le=2000)]
    k: Annotated[int, Field(ge=2, le=65_536)]
    eps0: Budget
    count: Count
    runs: Annotated[int, Field(ge=2, le=1_000_000_000)]


class Audit(Section):
    confidence: Confidence
    remaining: Literal["x1", "x2"]
    eps: Several[Hundred]
    settings: Annotated[list[AuditSetting], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def _is_played_once(self) -> Self:
        met: dict[tuple[float, ...], int] = {}
        for number, setting in enumerate(self.settings):
            key = f"settings[{number}]"
            if setting.k == 2 and self.remaining == "x2":
                raise contradiction(
                    "must be at least 3 with audit.remaining x2, a third value; got 2", f"{key}.k"
                )
            first = met.setdefault((setting.n, setting.k, setting.eps0, setting.count), number)
            if first != number:
                text = (
                    f"repeats audit.settings[{first}]: n, k, eps0 and count are the same; keep one of them,"
                    " with all runs"
                )
                raise contradiction(text, key)
        return self


class Fig1a(Section):
    n: Annotated[int, Field(ge=2, le=1_000_000)]
    k: Cells
    gamma: Confidence
    compositions: Few[Rounds]
    eps: Axis
    lowest: Lowest


class Fig1b(Section):
    n: Annotated[int, Field(ge=2, le=1_000_000)]
    eps0: Budget
    compositions: Few[Rounds]
    eps: Axis
    lowest: Lowest


class Koskela(Section):
    fig1a: Fig1a
    fig1b: Fig1b


class Settings(Section):
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)]
    gowalla: Gowalla
    datasets: Annotated[dict[Name, AnyDataset], Field(min_length=1)]
    protocol: Protocol
    parity: Parity
    study: Study
    frontier: Frontier
    delta_surface: DeltaSurface
    delta_bounds: DeltaBounds
    blanket_regions: BlanketRegions
    band: Band
    gaussian_scale: GaussianScale
    girgis_rdp: GirgisRdp
    audit: Audit
    koskela: Koskela

    @model_validator(mode="after")
    def _fits(self) -> Self:
        cities = {name: dataset for name, dataset in self.datasets.items() if isinstance(dataset, City)}
        if (city := self.study.grids.city) not in cities:
            text = f"must be one of the cities in datasets ({', '.join(cities) or 'none'}); got {city!r}"
            raise contradiction(text, "study.grids.city")
        for name, dataset in cities.items():
            if self.gowalla.grid == "stepped" and not dataset.stepped:
                raise contradiction("is missing; gowalla.grid: stepped needs it", f"datasets.{name}.stepped")
        for name, each in self.datasets.items():
            cells, repetitions = each.number_of_cells, self.parity.repetitions
            if cells and (asked := max(each.asked_cells, default=0)) > cells:
                text = f"must be at most the number of cells ({cells}); got {asked}"
                raise contradiction(text, f"datasets.{name}.individual.cells")
            if cells and each.tv and repetitions * cells > MOST_VALUES:
                text = (
                    f"({cells:,}) times parity.repetitions ({repetitions:,}) must be at most "
                    f"{MOST_VALUES:,}, or memory runs out: take fewer of either"
                )
                raise contradiction(text, f"datasets.{name}.cells")
        return self
