"""What each function refuses, in one line that names the argument, the entry or the column."""

import inspect
import math
from functools import partial

import numpy as np
import pytest
from dp_accounting import NeighboringRelation

import tightshuffle
from tightshuffle import Collection, Group
from tightshuffle.bounds import sums
from tightshuffle.bounds.bits import binary
from tightshuffle.collection import read_collection
from tightshuffle.counts_file import read_counts
from tightshuffle.dp_accounting import ShuffleAccountant, ShuffledDpEvent
from tightshuffle.dummies.best_law import best_cut_law, best_noise, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import (
    binomial,
    cut_power,
    expected_tv,
    geometric,
    noise,
    parse_law,
    poisson,
    read_law,
    sum_of_parties,
)
from tightshuffle.gaussian import exact_scale, log10_delta_of_scale
from tightshuffle.krr import invert, maximum_likelihood, project_to_simplex, sample_histogram
from tightshuffle.literature import biswas_blanket, count, renyi
from tightshuffle.literature.amplification import balle_bennett
from tightshuffle.numerics.positive_part import log_positive_part
from tightshuffle.planning.designs import compare_designs, fewest_dummies
from tightshuffle.points import make_points
from tightshuffle.randomizers import Finite, KRandomizedResponse, parse
from tightshuffle.randomizers.matrix_file import read_matrix

RNG, OWN = np.random.default_rng(1), Finite([[0.7, 0.4], [0.3, 0.6]])
KRR = {"n": 10, "k": 3, "eps0": 1.0}
APP = Collection(5, (Group("a", 1000, 2.0, participation=0.3),))
GOOD = {  # name: what is called, and arguments that are accepted, but for those that every case gives
    "delta": (tightshuffle.delta, {"eps": 0.1, "n": 1000, "k": 10, "eps0": 2.0}),
    "epsilon": (tightshuffle.epsilon, KRR),
    "sums": (partial(tightshuffle.delta, 0.1), {**KRR, "randomizer": "oue", "release": "sums"}),
    "tradeoff": (tightshuffle.tradeoff, {"alpha": 0.5, **KRR}),
    "to_pld": (tightshuffle.to_pld, {"n": 4, "k": 3, "eps0": 1.0}),
    "plan": (tightshuffle.plan, {"n": 9, "k": 5, "eps": 1.0, "log10_delta": -6}),
    "dummies": (fewest_dummies, {"n": 2000, "k": 16, "eps": 0.5, "delta": 1e-6}),
    "law": (parse_law, {}),
    "points": (make_points, {"eps": 0.1, **KRR}),
    "fewest_users": (tightshuffle.fewest_users, {"eps": 0.5, "delta": 1e-6, "k": 3, "eps0": 1.0}),
    "best law": (best_cut_law, {"eps": 1.0, "delta": 1e-6}),
    "best noise": (best_noise, {"eps": 1.0, "delta": 1e-6}),
    "noise": (noise, {"power": 1.0, "deviation": 2.0}),
    "sum": (sum_of_parties, {"law": poisson(5.0), "parties": 2}),
    "poisson dummies": (smallest_poisson_mean, {"eps": 1.0, "delta": 1e-6}),
    "design": (compare_designs, {"n": 1000, "k": 10, "eps": 1.0, "delta": 1e-6}),
    "hidden": (HiddenByDummies, {"law": poisson(50.0)}),
    "expected_tv": (expected_tv, {"law": poisson(50.0), "n": 1000, "k": 10}),
    "poisson": (poisson, {}),
    "binomial": (binomial, {"devices": 9}),
    "cut_power": (cut_power, {"mean": 5, "power": 2.0, "deviation": 1.0}),
    "geometric": (geometric, {"mean": 5}),
    "one_round": (APP.one_round, {"eps": 0.1}),
    "event": (ShuffledDpEvent, KRR),
    "accountant": (ShuffleAccountant, {}),
    "read_law": (read_law, {}),
    "read_matrix": (read_matrix, {}),
    "read_counts": (read_counts, {}),
    "read_collection": (read_collection, {}),
    "clones": (tightshuffle.delta, {"method": "clones", "eps": 0.5, **KRR}),
    "count-exact": (tightshuffle.delta, {"method": "count-exact", "eps": 0.5, "count": 3, **KRR}),
    "lower": (partial(tightshuffle.epsilon, 1e-6, method="lower"), KRR),
    "upper": (tightshuffle.upper, {"eps": 0.1, **KRR}),
    "binary": (binary, {"eps": 0.1, "n": 10, "eps0": 1.0}),
    "count": (count.delta, {"eps": 0.1, "n": 100, "k": 10, "eps0": 2.0, "count": 80}),
    "kappas": (biswas_blanket.kappas, {"n": 5, "k": 3, "eps0": 1.0, "count": 4}),
    "balle-bennett": (partial(balle_bennett, make_points(0.1, **KRR)), {}),
    "rdp_upper": (renyi.rdp_upper, {"n": 10, "eps0": 1}),
    "exact_scale": (exact_scale, {"eps": 1.0, "delta": 1e-5}),
    "log10_delta_of_scale": (log10_delta_of_scale, {"eps": 1.0, "scale": 1.0}),
    "positive_part": (log_positive_part, {"probabilities": [0.5, 0.5], "n": 3}),
    "parse": (parse, {"name": "grr", "k": 4, "eps0": 1.0}),
    "matrix": (Finite, {}),
    "gains": (parse("oue", k=3, eps0=1.0).gains, {"eps": 0.5}),
    "gains of a large eps0": (parse("oue", k=3, eps0=400.0).gains, {}),
    "variance": (Finite([[0.5, 0.3, 0.4], [0.5, 0.7, 0.6]]).variance, {"n": 7}),
    "sample_histogram": (sample_histogram, {"eps0": 1.0, "rng": RNG, "repetitions": 2}),
    "invert": (invert, {"frequencies": [0.3, 0.7]}),
    "maximum_likelihood": (maximum_likelihood, {"frequencies": [0.3, 0.7], "eps0": 1.0}),
    "simplex": (project_to_simplex, {}),
}
REFUSED = [
    ("delta", {"method": "uper"}, "method must be one of"),
    ("upper", {"n": 1_000_000_000_001}, "^n must be at most"),
    ("delta", {"count": 10}, "count must be left out"),
    ("delta", {"randomizer": "file:a"}, "leave out k = 10"),
    ("sums", {"randomizer": "grr"}, "randomizer must be rappor or oue"),
    ("sums", {"release": "sum"}, "release must be one of reports, sums; got 'sum'"),
    ("sums", {"release": "reports", "deletion": True}, "deletion must be left out"),
    ("sums", {"method": "lower"}, "release must be 'reports' for lower"),
    (
        "epsilon",
        {"delta": 0.1, "log10_delta": -1},
        "delta or log10_delta must be given, but not both",
    ),
    ("epsilon", {"log10_delta": 1}, "log10_delta must be"),
    ("tradeoff", {"colluding": [1, 2]}, "colluding must be one number"),
    ("tradeoff", {"alpha": 1.5}, "alpha must be"),
    ("to_pld", {"spacing": 0.0}, "spacing must be"),
    ("to_pld", {"spacing": 1e-12}, "spacing must be at least 1e-07"),
    ("plan", {"randomizer": "subset", "rounds": 2}, "rounds must be 1"),
    ("plan", {"eps": 20.0}, "^eps must be"),
    ("plan", {"n": None}, "n or error must be given"),
    ("plan", {"error": 0.1}, "n or error must be given, but not both"),
    ("plan", {"n": None, "error": 0.0}, "error must be"),
    ("plan", {"n": None, "error": 1e-12}, r"error must be larger: even 1e\+12 users"),
    ("plan", {"randomizer": OWN}, "randomizer must be a name"),
    ("dummies", {"eps": 0}, "eps must be"),
    ("dummies", {"k": 1}, "k must be a whole number from 2 to 10000000"),
    ("dummies", {"eps0": 60}, "eps0 must be above 0 and at most 50, or inf"),
    ("dummies", {"eps": 1e-8}, r"eps must be larger: even 1e\+12 dummies are too few; got 1e-08"),
    ("sums", {"rounds": 60000}, "^rounds must be at most 50000 for sums, .* got 60000$"),
    ("plan", {"randomizer": "oue", "release": "sums", "rounds": 60000}, "^rounds .* got 60000$"),
    (
        "plan",
        {"randomizer": "rappor", "release": "x"},
        "^release must be one of reports, sums; got 'x'",
    ),
    (
        "plan",
        {"randomizer": "rappor", "release": ["sums"]},
        "^release must be one of reports, sums; got",
    ),
    ("plan", {"eps": 1e-100, "rounds": 2}, "^eps must be at least 1e-100 per round; got 1e-100"),
    ("delta", {"randomizer": None}, "^randomizer must be a name or a Randomizer; got None"),
    ("delta", {"eps": np.array([0.5 + 1j])}, "^eps must be finite and >= 0; got array"),
    (
        "epsilon",
        {"delta": 1e-6, "randomizer": 5},
        "^randomizer must be a name or a Randomizer; got 5",
    ),
    (
        "to_pld",
        {"randomizer": KRandomizedResponse},
        "^randomizer must be a name or a Randomizer; got",
    ),
    ("fewest_users", {"randomizer": None}, "^randomizer must be a name or a Randomizer; got None"),
    ("best law", {"eps": 1e12}, r"^eps must be at least 1e-100 and below 20; got 1e\+12"),
    (
        "best law",
        {"eps": 1e-7},
        "^eps must be larger: too many dummies per value are needed; got 1e-07",
    ),
    (
        "best law",
        {"delta": None, "log10_delta": -1000},
        "^delta must be at least 1e-280 .* = -1000",
    ),
    (
        "best law",
        {"rounds": 60000, "values_per_user": 2},
        r"^values_per_user \* rounds must be at most 100000; got 120000",
    ),
    (
        "poisson dummies",
        {"eps": 1e-6},
        "^eps must be larger: too many dummies per value are needed",
    ),
    ("poisson dummies", {"eps": 20}, "^eps must be at least 1e-100 and below 20; got 20"),
    ("design", {"eps": 30}, "^eps must be at least 1e-100 and below 20; got 30"),
    (
        "design",
        {"eps": 1e-6},
        "^eps must be larger: too many dummies per value are needed; got 1e-06",
    ),
    ("design", {"delta": None, "log10_delta": -1000}, "^delta must be at least 1e-280 .* = -1000"),
    ("design", {"rounds": 10**5}, "^rounds must be at most 50000 where .* is 1; got 100000$"),
    ("design", {"rounds": 10**4, "values_per_user": 10}, "^rounds .* is 10; got 10000$"),
    ("plan", {"participation": 0}, "^participation must be a probability above 0; got 0"),
    ("plan", {"participation": "80%"}, "^participation must be a probability above 0; got '80%'"),
    (
        "plan",
        {"participation": 0.5, "randomizer": "hash"},
        "^participation must be 1 for 'hash' without",
    ),
    (
        "fewest_users",
        {"participation": 1.1},
        "^participation must be a probability above 0; got 1.1",
    ),
    (
        "fewest_users",
        {"participation": 0.5, "randomizer": OWN, "k": None, "eps0": None},
        "^randomizer must be",
    ),
    (
        "design",
        {"participation": math.nan},
        "^participation must be a probability above 0; got nan",
    ),
    ("design", {"share": 1.1}, "^share must be a share of the users, from 0 to 1; got 1.1"),
    ("design", {"share": None}, "^share must be a share of the users, from 0 to 1; got None"),
    ("design", {"parties": 101}, "^parties must be a whole number from 1 to 100; got 101"),
    ("design", {"honest": 3}, "^honest must be a whole number from 1 to 2; got 3"),
    (
        "dummies",
        {"participation": 2},
        "^group 'users': participation must be a probability above 0; got 2",
    ),
    ("best noise", {"honest": 0}, "^honest must be a whole number from 1 to 2; got 0"),
    (
        "best noise",
        {"eps": 1e-6},
        "^eps must be larger: too many dummies per value are needed; got 1e-06",
    ),
    (
        "best noise",
        {"eps": 1e-4, "honest": 2},
        "^eps must be larger: too many dummies .* got 0.0001",
    ),
    ("best law", {"honest": 2}, "^honest must be a whole number from 1 to 1; got 2"),
    ("expected_tv", {"parties": 0}, "^parties must be a whole number from 1 to 100; got 0"),
    ("noise", {"deviation": 1e5}, "^deviation must be at most 7142.86; got 100000"),
    ("noise", {"power": 0.5}, "^power must be from 1 to 10; got 0.5"),
    ("sum", {"parties": 1.5}, "^parties must be a whole number from 1 to 100; got 1.5"),
    (
        "sum",
        {"law": noise(2.0, 1e4)},
        "^the sum of 2 parties must take at most 100000 numbers; got ",
    ),
    ("law", {"text": "0*poisson:3"}, r"^law '0\*poisson:3': parties must be .* got 0"),
    ("law", {"text": "2*2*poisson:3"}, r"^law must be poisson:MEAN.* got '2\*poisson:3'"),
    ("law", {"text": "noise:1:0"}, "^law 'noise:1:0': deviation must be finite and >= 0.001"),
    ("dummies", {"guess": "x"}, "^guess must be finite and > 0; got 'x'"),
    ("law", {"text": 5}, "^law must be poisson:MEAN.* got 5"),
    (
        "law",
        {"text": "gaussian:5:1e-300"},
        "^law .* deviation must be finite and >= 0.001; got 1e-300",
    ),
    ("hidden", {"law": "x"}, r"^law must be a Law, such as poisson\(50.0\); got 'x'"),
    ("expected_tv", {"n": 0}, "^n must be a whole number >= 1; got 0"),
    ("expected_tv", {"n": np.nan}, "^n must be a whole number >= 1; got nan"),
    ("poisson", {"mean": 10**400}, "^mean must be above 0 and at most"),
    ("binomial", {"probability": 10**400}, "^probability must be between 0 and 1"),
    ("cut_power", {"mean": 10**400}, "^mean must be above 0; got 1000"),
    ("cut_power", {"deviation": 10**400}, "^deviation must be finite and >= 0.001; got 1000"),
    ("geometric", {"ratio": 10**400}, "^ratio must be between 0 and 1"),
    ("one_round", {"width": "x"}, "^width must be finite and > 0; got 'x'"),
    ("event", {"eps0": -1.0}, "^eps0 must be finite and > 0"),
    (
        "accountant",
        {"value_discretization_interval": NeighboringRelation.REPLACE_ONE},
        "^value_discretiza",
    ),
    (
        "accountant",
        {"value_discretization_interval": True},
        "^value_discretization_interval must be .* True",
    ),
    ("read_law", {"path": 1}, "^path must be the name of a file; got 1"),
    ("read_matrix", {"path": 1}, "^path must be the name of a file; got 1"),
    ("read_counts", {"path": 1}, "^path must be the name of a file; got 1"),
    ("read_collection", {"path": 1}, "^path must be the name of a file; got 1"),
    ("points", {"k": None}, "k must be given for randomizer 'grr'"),
    ("points", {"randomizer": OWN}, "give k = 3 or a randomizer object"),
    ("points", {"colluding": 10}, "colluding must be a whole number between 0 and n - 1"),
    ("points", {"count": 8, "colluding": 2}, "count must be a whole number between 0 and n - 1"),
    ("points", {"rounds": 0}, "rounds must be a whole number >= 1"),
    ("points", {"direction": "up"}, "direction must be one of forward, reverse, both"),
    ("clones", {"randomizer": "oue"}, "randomizer must be grr"),
    ("clones", {"rounds": 100001}, "rounds must be at most"),
    ("count-exact", {"eps0": 21}, "eps0 must be at most 20"),
    ("count-exact", {"count": None}, "count must be given for count-exact"),
    ("lower", {"rounds": 2}, "rounds must be 1 for lower; for more rounds use upper, .*, girgis$"),
    ("upper", {"eps0": 51.0}, "^eps0 must"),
    ("upper", {"eps0": 1e-101}, "^eps0 must"),
    ("upper", {"k": 3, "randomizer": KRandomizedResponse(4, 1.0)}, "the object has k = 4"),
    ("upper", {"randomizer": "gaussian"}, "^randomizer must"),
    ("binary", {"eps0": 301.0}, "eps0 must be at most 300"),
    ("count", {"eps": "0.1"}, "eps must be finite and >= 0; got '0.1'"),
    ("count", {"eps": True}, "eps must be finite and >= 0; got True"),
    ("count", {"n": "many"}, "n must be a whole number >= 1; got 'many'"),
    ("count", {"n": 10**400}, "n must be a whole number >= 1; got a number beyond 1e308"),
    ("kappas", {"eps0": 301.0}, "^eps0 must be at most 300"),
    ("balle-bennett", {"randomizer": "laplace"}, "^randomizer must be one of krr, generic"),
    ("rdp_upper", {"order": 1}, "^order must be finite and > "),
    ("exact_scale", {"delta": 0}, "^delta must be"),
    ("exact_scale", {"sensitivity": 0}, "^sensitivity must be"),
    ("exact_scale", {"delta": None, "log10_delta": 0}, "^log10_delta must be .* got 0"),
    ("exact_scale", {"eps": 0, "delta": None, "log10_delta": -400}, "^eps must be larger"),
    ("log10_delta_of_scale", {"scale": 0}, "^scale must be"),
    ("positive_part", {"values": [[1.0, -1.0], [1e-150, -1.0]]}, r"between 1e-150 and 1e\+150"),
    ("positive_part", {"values": [1e150, -1.0]}, r"between 1e-150 and 1e\+150"),
    ("law", {"text": "poisson"}, "^law "),
    ("law", {"text": "normal:3:4"}, "^law "),
    ("law", {"text": "geometric:3:1"}, "^law "),
    ("law", {"text": "gaussian:2.3:1"}, "^law "),
    ("parse", {"k": 1}, "k must"),
    ("parse", {"k": None}, "k must be given"),
    ("parse", {"eps0": 0, "name": "rappor"}, "eps0 must"),
    ("parse", {"name": "subset:4"}, "m must"),
    ("parse", {"name": f"hash:{10**400}"}, "g must be a whole number from 2"),  # 1 / g is 0
    ("parse", {"name": "subset"}, "randomizer must be one of grr, subset:M"),
    ("parse", {"name": "file:a.csv"}, "leave out k = 4"),
    ("parse", {"name": "file:a.csv", "k": None, "eps0": None}, "a.csv: No such file"),
    ("matrix", {"matrix": [[0.5, 0.5], [0.5, 0.4]]}, "^matrix must .*column 1 sums to 0.9"),
    ("matrix", {"matrix": [[1.5, 0.5], [-0.5, 0.5]]}, "^matrix must .*entries >= 0"),
    ("matrix", {"matrix": [[np.nan, 0.5], [0.5, 0.5]]}, "^matrix must .*finite entries"),
    ("matrix", {"matrix": [[0.5, 0.0], [0.5, 1.0]]}, "^matrix must .*eps0 is infinite.*row 0"),
    ("matrix", {"matrix": [[0.5, 0.5], [0.5, 0.5]]}, "^matrix must .*eps0 is 0"),
    (
        "matrix",
        {"matrix": [[1e-300, 1e-300], [0.25, 0.5], [0.75, 0.5]]},
        "between 0 and 1e-280; see row 0",
    ),
    ("matrix", {"matrix": [[0.5], [0.5]]}, "^matrix must .*two axes"),
    ("matrix", {"matrix": [[0.5, 0.5], [0.5]]}, "^matrix must .*rows of one length"),
    ("matrix", {"matrix": [["a", "b"], ["c", "d"]]}, "^matrix must .*numbers only"),
    ("gains", {"eps": -1.0}, "eps must"),
    ("gains", {"eps": 351.0}, "eps must"),
    ("gains", {"reference": "x3"}, "reference must be one of blanket, x0, x1, ..., x2"),
    ("gains", {"reference": {"x0": 0.5}}, "reference must have weights"),
    ("gains", {"pair": (0, 3)}, "pair must"),
    ("gains of a large eps0", {"eps": 1.0}, "eps0 must"),
    ("variance", {"shares": [0.3, 0.3, 0.4]}, "independent columns"),
    ("sample_histogram", {"counts": [-1, 3]}, "counts must"),
    ("invert", {"eps0": 1e-12}, "eps0 must be at least 1e-09 to be inv"),
    ("maximum_likelihood", {"frequencies": [0.5, 0.6]}, "frequencies >= 0 that sum to 1"),
    ("simplex", {"points": [np.nan, 1]}, "finite"),
]


@pytest.mark.parametrize(("function", "change", "message"), REFUSED)
def test_a_bad_argument_is_refused_and_named(function, change, message):
    refusing_function, good_arguments = GOOD[function]
    with pytest.raises(ValueError, match=message):
        refusing_function(**good_arguments | change)


BITS = parse("rappor", k=5, eps0=2.0)
SUMS_WITHOUT_N = {"k": 5, "eps0": 2.0, "randomizer": "rappor", "release": "sums"}
SUMS = {"n": 1000, **SUMS_WITHOUT_N}
FLAGGED = [  # whatever takes a flag, with arguments that are accepted
    (tightshuffle.delta, {"eps": 0.1, **SUMS}),
    (tightshuffle.epsilon, {"delta": 1e-6, **SUMS}),
    (tightshuffle.upper, {"eps": 0.1, **SUMS}),
    (tightshuffle.lower, {"eps": 0.1, **KRR}),
    (
        tightshuffle.plan,
        {"n": 1000, "k": 5, "eps": 1.0, "delta": 1e-6, "randomizer": "oue", "release": "sums"},
    ),
    (tightshuffle.fewest_users, {"eps": 1.0, "delta": 1e-6, **SUMS_WITHOUT_N}),
    (tightshuffle.to_pld, {"n": 100, "k": 3, "eps0": 1.0}),
    (make_points, {"eps": 0.1, **SUMS}),
    (Collection, {"k": 5, "groups": APP.groups, "randomizer": "oue", "release": "sums"}),
    (APP.one_round, {"eps": 0.1}),
    (APP.log10_delta, {"eps": 0.1}),
    (APP.epsilon, {"delta": 1e-6}),
    (APP.to_pld, {}),
    (HiddenByDummies, {"law": poisson(50.0)}),
    (sums.gaussian_mu, {"randomizer": BITS}),
]


def flags_of(function):
    """The names of the parameters that are True or False by default."""
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if isinstance(parameter.default, bool)]


@pytest.mark.parametrize(
    "wrong", ["false", "no", "True", 0, 1, None, float("nan"), [0], np.array([True])]
)
def test_a_flag_is_true_or_false(wrong):
    """Whatever else counts as yes in Python would give the weaker guarantee without a word: "false" does."""
    for function, good in FLAGGED:
        for name in flags_of(function):
            with pytest.raises(ValueError, match=f"^{name} must be true or false; got "):
                function(**{**good, name: wrong})


def test_a_flag_of_numpy_is_one_of_python():
    for function, good in FLAGGED[:5] + FLAGGED[9:12]:
        for name in flags_of(function):
            for flag in (True, False):
                assert function(**{**good, name: np.bool_(flag)}) == function(
                    **{**good, name: flag}
                )
    assert Collection(deletion=np.bool_(True), **FLAGGED[8][1]).deletion is True


def test_every_public_flag_is_in_the_list():
    """FLAGGED has every public function, and every method of a collection, with a flag."""
    methods = [member for name, member in vars(Collection).items() if inspect.isfunction(member)]
    public = [getattr(tightshuffle, name) for name in tightshuffle.__all__]
    listed = {function.__qualname__ for function, _ in FLAGGED}
    for function in [*public, *methods]:
        if not function.__name__.startswith("_") and flags_of(function):
            assert function.__qualname__ in listed


def test_a_plan_of_a_kind_of_randomizer_has_no_deletion():
    with pytest.raises(ValueError, match=r"^deletion must be left out"):
        tightshuffle.plan(n=1000, k=5, eps=1.0, delta=1e-6, randomizer="subset", deletion=True)
