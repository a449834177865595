"""What each function refuses, in one line that names the argument, the entry or the column."""

import datetime
import inspect
import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from dp_accounting import NeighboringRelation

import tightshuffle
from tightshuffle import Collection, Dummies, Group
from tightshuffle.bounds import sums
from tightshuffle.bounds.bits import ln_bracket_of_binary_krr
from tightshuffle.collection import read_collection
from tightshuffle.counts_file import read_counts
from tightshuffle.dp_accounting import ShuffleAccountant
from tightshuffle.dummies.best_law import best_cut_law, best_noise, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import (
    binomial,
    cut_power,
    expected_tv,
    fixed,
    geometric,
    noise,
    parse_law,
    poisson,
    read_law,
    sum_of_parties,
)
from tightshuffle.dummies.shares import deviation_of_sum, error_of_shares
from tightshuffle.literature import biswas_blanket, count, renyi
from tightshuffle.literature.amplification import ln_balle_bennett
from tightshuffle.mechanisms.gaussian import exact_scale, log10_delta_of_scale
from tightshuffle.mechanisms.krr import (
    invert,
    maximum_likelihood,
    project_to_simplex,
    sample_histogram,
)
from tightshuffle.numerics.positive_part import log_positive_part
from tightshuffle.planning.designs import compare_designs, fewest_dummies
from tightshuffle.points import make_points
from tightshuffle.randomizers import Finite, KRandomizedResponse, parse
from tightshuffle.randomizers.matrix_file import read_matrix

RNG, OWN = np.random.default_rng(1), Finite([[0.7, 0.4], [0.3, 0.6]])
KRR = {"n": 10, "k": 3, "eps0": 1.0}
APP = Collection(5, (Group("a", 1000, 2.0, participation=0.3),))
# Function, arguments that it accepts (or some of them), and message -> arguments that are refused with it.
REFUSED = [
    (
        tightshuffle.delta,
        {"eps": 0.1, "n": 1000, "k": 10, "eps0": 2.0},
        {
            "method must be one of": {"method": "uper"},
            "count must be left out": {"count": 10},
            "leave out k = 10": {"randomizer": "file:a"},
            "^randomizer must be a name or a Randomizer; got None": {"randomizer": None},
            "^eps must be finite and >= 0; got array": {"eps": np.array([0.5 + 1j])},
        },
    ),
    (
        tightshuffle.epsilon,
        {"delta": 1e-6, **KRR},
        {
            "delta or log10_delta must be given, but not both": {"delta": 0.1, "log10_delta": -1},
            "log10_delta must be": {"delta": None, "log10_delta": 1},
        },
    ),
    (
        partial(tightshuffle.delta, 0.1),
        {**KRR, "randomizer": "oue", "release": "sums"},
        {
            "randomizer must be rappor, oue or unary:P:Q": {"randomizer": "grr"},
            "release must be one of reports, sums; got 'sum'": {"release": "sum"},
            "neighbours must be one of replacement, deletion; got 'add'": {"neighbours": "add"},
            "neighbours must be 'replacement' unless release is 'sums'; got 'deletion'": {
                "release": "reports",
                "neighbours": "deletion",
            },
            "^participation must be a probability above 0; got 0": {"participation": 0},
            "^randomizer must be a name, and no file or density, .*; got file:a": {
                "randomizer": "file:a",
                "participation": 0.5,
            },
            "release must be 'reports' for lower": {"method": "lower"},
            "^rounds must be at most 50000 for sums, .* got 60000$": {"rounds": 60000},
        },
    ),
    (
        tightshuffle.tradeoff,
        {"alpha": 0.5, **KRR},
        {
            "colluding must be one number": {"colluding": [1, 2]},
            "^alpha must be between 0 and 1; got 1.5": {"alpha": [0.5, 1.5]},
        },
    ),
    (
        tightshuffle.to_pld,
        {"n": 4, "k": 3, "eps0": 1.0},
        {
            "spacing must be": {"spacing": 0.0},
            "spacing must be at least 1e-07": {"spacing": 1e-12},
            "^randomizer must be a name or a Randomizer; got": {"randomizer": KRandomizedResponse},
        },
    ),
    (
        tightshuffle.plan,
        {"n": 9, "k": 5, "eps": 1.0, "log10_delta": -6},
        {
            "rounds must be 1": {"randomizer": "subset", "rounds": 2},
            "^eps must be": {"eps": 20.0},
            "^colluding must be one number; got 2 of them": {"colluding": [0, 5]},
            "^colluding must be one number; got 0 of them": {
                "colluding": [],
                "randomizer": "subset",
            },
            r"^shares must be k = 5 numbers, .* got the shape \(3,\)": {"shares": [1 / 3] * 3},
            "^shares must sum to 1; they sum to 0.5": {"shares": [0.1] * 5},
            "^shares must be finite and >= 0; got -1": {"shares": [-1, 2, 0, 0, 0]},
            "^shares must be finite and >= 0; got nan": {"shares": [np.nan, 1, 0, 0, 0]},
            "n or error must be given": {"n": None},
            "n or error must be given, but not both": {"error": 0.1},
            "error must be": {"n": None, "error": 0.0},
            r"error must be larger: even 1e\+12 users": {"n": None, "error": 1e-12},
            "randomizer must be a name": {"randomizer": OWN},
            "^rounds .* got 60000$": {"randomizer": "oue", "release": "sums", "rounds": 60000},
            "^release must be one of reports, sums; got": {
                "randomizer": "rappor",
                "release": ["sums"],
            },
            "^eps must be at least 1e-100 per round; got 1e-100": {"eps": 1e-100, "rounds": 2},
            "^participation must be a probability above 0; got 0": {"participation": 0},
            "^participation must be 1 for 'hash' without": {
                "participation": 0.5,
                "randomizer": "hash",
            },
        },
    ),
    (
        fewest_dummies,
        {"n": 2000, "k": 16, "eps": 0.5, "delta": 1e-6},
        {
            "eps must be": {"eps": 0},
            "k must be a whole number from 2 to 10000000": {"k": 1},
            "eps0 must be above 0 and at most 50, or inf": {"eps0": 60},
            r"eps or delta must be larger: even 1e\+12 dummies are too few": {"eps": 1e-8},
            "^group 'users': participation must be a probability above 0; got 2": {
                "participation": 2
            },
            "^guess must be finite and > 0; got 'x'": {"guess": "x"},
        },
    ),
    (
        make_points,
        {"eps": 0.1, **KRR},
        {
            "k must be given for randomizer 'grr'": {"k": None},
            "randomizer must be one of grr, .*; got 'density'": {
                "k": None,
                "randomizer": "density",
            },
            "give k = 3 or a randomizer object": {"randomizer": OWN},
            "colluding must be a whole number between 0 and n - 1": {"colluding": 10},
            "count must be a whole number between 0 and n - 1": {"count": 8, "colluding": 2},
            "rounds must be a whole number >= 1": {"rounds": 0},
            "direction must be one of forward, reverse, both": {"direction": "up"},
        },
    ),
    (
        tightshuffle.fewest_users,
        {"eps": 0.5, "delta": 1e-6, "k": 3, "eps0": 1.0},
        {
            "^randomizer must be a name or a Randomizer; got None": {"randomizer": None},
            "^participation must be a probability above 0; got 1.1": {"participation": 1.1},
            "^k must be one number; got 0 of them": {"k": []},
            "^rounds must be one number; got 2 of them": {"rounds": [1, 2]},
            "^randomizer must be": {
                "participation": 0.5,
                "randomizer": OWN,
                "k": None,
                "eps0": None,
            },
        },
    ),
    (
        best_cut_law,
        {"eps": 1.0, "delta": 1e-6},
        {
            "^eps must be larger: too many dummies per value are needed; got 1e-07": {"eps": 1e-7},
            "^delta must be at least 1e-280 .* got 1.00e-1000": {
                "delta": None,
                "log10_delta": -1000,
            },
            r"^values_per_user \* rounds must be at most 100000; got 120000": {
                "rounds": 60000,
                "values_per_user": 2,
            },
        },
    ),
    (
        best_noise,
        {"eps": 1.0, "delta": 1e-6},
        {
            "^honest must be a whole number from 1 to 2; got 0": {"honest": 0},
            "^eps must be larger: too many dummies per value are needed; got 1e-07": {"eps": 1e-7},
            "^eps must be larger: too many dummies .* got 0.0001": {"eps": 1e-4, "honest": 2},
        },
    ),
    (
        deviation_of_sum,
        {"eps": 1.0, "delta": 1e-6, "rounds": 2},
        {
            "^eps must be .* got 0": {"eps": 0},
            "^delta must be between 0 and 1": {"delta": 1},
            "^rounds must be a whole number from 1 to 100000; got 1.5": {"rounds": 1.5},
        },
    ),
    (
        error_of_shares,
        {"deviation": 2.0, "parties": 4, "honest": 3},
        {
            "^deviation must be from 0.01 to .* got 0": {"deviation": 0},
            "^parties must be a whole number from 1 to 100; got 101": {"parties": 101},
            "^honest must be a whole number from 1 to 4; got 5": {"honest": 5},
        },
    ),
    (
        noise,
        {"power": 1.0, "deviation": 2.0},
        {
            "^deviation must be at most 7142.86; got 100000": {"deviation": 1e5},
            "^power must be from 1 to 10; got 0.5": {"power": 0.5},
            "^reach must be a whole number from 1 to 5000000; got 2.5": {"reach": 2.5},
            "^reach must be .* got -1": {"reach": -1},
            r"^deviation must be smaller for this reach; got 1e\+12": {
                "reach": 1,
                "deviation": 1e12,
            },
        },
    ),
    (
        sum_of_parties,
        {"law": poisson(5.0), "parties": 2},
        {
            "^parties must be a whole number from 1 to 100; got 1.5": {"parties": 1.5},
            r"^law must be a Law, such as poisson\(50.0\); got 'x'": {"law": "x"},
            "^the sum of 2 parties must take at most 100000 numbers; got ": {
                "law": noise(2.0, 1e4)
            },
        },
    ),
    (
        smallest_poisson_mean,
        {"eps": 1.0, "delta": 1e-6},
        {
            "^eps must be larger: too many dummies per value are needed": {"eps": 1e-6},
            "^eps must be at least 1e-100 and below 20; got 20": {"eps": 20},
        },
    ),
    (
        compare_designs,
        {"n": 1000, "k": 10, "eps": 1.0, "delta": 1e-6},
        {
            "^eps must be at least 1e-100 and below 20; got 30": {"eps": 30},
            "^rounds .* is 10; got 10000$": {"rounds": 10**4, "values_per_user": 10},
            "^participation must be a probability above 0; got nan": {"participation": math.nan},
            "^share must be a share of the users, from 0 to 1; got None": {"share": None},
            "^parties must be a whole number from 1 to 100; got 101": {"parties": 101},
        },
    ),
    (
        HiddenByDummies,
        {"law": poisson(50.0)},
        {
            r"^law must be a Law, such as poisson\(50.0\); got 'x'": {"law": "x"},
        },
    ),
    (
        expected_tv,
        {"law": poisson(50.0), "n": 1000, "k": 10},
        {
            "^parties must be a whole number from 1 to 100; got 0": {"parties": 0},
            "^law must be a Law": {"law": None, "parties": 2},
            "^n must be a whole number >= 1; got nan": {"n": np.nan},
        },
    ),
    (
        poisson,
        {},
        {
            "^mean must be above 0 and at most": {"mean": 10**400},
        },
    ),
    (
        binomial,
        {"devices": 9},
        {
            "^probability must be between 0 and 1": {"probability": 10**400},
        },
    ),
    (
        cut_power,
        {"mean": 5, "power": 2.0, "deviation": 1.0},
        {
            "^mean must be above 0; got 1000": {"mean": 10**400},
            "^deviation must be finite and >= 0.001; got 1000": {"deviation": 10**400},
        },
    ),
    (
        geometric,
        {"mean": 5},
        {
            "^ratio must be between 0 and 1": {"ratio": 10**400},
        },
    ),
    (
        APP.one_round,
        {"eps": 0.1},
        {
            "^width must be finite and > 0; got 'x'": {"width": "x"},
        },
    ),
    (
        ShuffleAccountant,
        {},
        {
            "^value_discretiza": {"value_discretization_interval": NeighboringRelation.REPLACE_ONE},
            "^value_discretization_interval must be .* True": {
                "value_discretization_interval": True
            },
        },
    ),
    (
        tightshuffle.delta,
        {"method": "clones", "eps": 0.5, **KRR},
        {
            "randomizer must be grr": {"randomizer": "oue"},
            "rounds must be at most": {"rounds": 100001},
            "^participation must be 1 for clones; below 1: lower, upper$": {"participation": 0.5},
        },
    ),
    (
        tightshuffle.delta,
        {"method": "count-exact", "eps": 0.5, "count": 3, **KRR},
        {
            "eps0 must be at most 20": {"eps0": 21},
            "count must be given for count-exact": {"count": None},
        },
    ),
    (
        partial(tightshuffle.epsilon, 1e-6, method="lower"),
        KRR,
        {
            "rounds must be 1 for lower; for more rounds use upper, .*, girgis$": {"rounds": 2},
        },
    ),
    (
        tightshuffle.delta,
        {"eps": 0.1, **KRR},
        {
            "^n must be at most": {"n": 1_000_000_000_001},
            "^eps0 must be at most 50": {"eps0": 51.0},
            "^eps0 must be at least 1e-100": {"eps0": 1e-101},
        },
    ),
    (
        ln_bracket_of_binary_krr,
        {"eps": 0.1, "n": 10, "eps0": 1.0},
        {
            "eps0 must be at most 300": {"eps0": 301.0},
        },
    ),
    (
        count.ln_delta_of_count,
        {"eps": 0.1, "n": 100, "k": 10, "eps0": 2.0, "count": 80},
        {
            "eps must be finite and >= 0; got True": {"eps": True},
            "n must be a whole number >= 1; got 'many'": {"n": "many"},
            "n must be a whole number >= 1; got a number beyond 1e308": {"n": 10**400},
        },
    ),
    (
        biswas_blanket.kappas,
        {"n": 5, "k": 3, "eps0": 1.0, "count": 4},
        {
            "^eps0 must be at most 300": {"eps0": 301.0},
        },
    ),
    (
        partial(ln_balle_bennett, make_points(0.1, **KRR)),
        {},
        {
            "^randomizer must be one of krr, generic": {"randomizer": "laplace"},
        },
    ),
    (
        renyi.rdp_upper,
        {"n": 10, "eps0": 1},
        {
            "^order must be finite and > ": {"order": 1},
        },
    ),
    (
        exact_scale,
        {"eps": 1.0, "delta": 1e-5},
        {
            "^delta must be": {"delta": 0},
            "^sensitivity must be": {"sensitivity": 0},
            "^log10_delta must be .* got 0": {"delta": None, "log10_delta": 0},
            "^eps must be larger": {"eps": 0, "delta": None, "log10_delta": -400},
        },
    ),
    (
        log10_delta_of_scale,
        {"eps": 1.0, "scale": 1.0},
        {
            "^scale must be": {"scale": 0},
        },
    ),
    (
        log_positive_part,
        {"probabilities": [0.5, 0.5], "n": 3},
        {
            r"between 1e-150 and 1e\+150": {"values": [[1.0, -1.0], [1e-150, -1.0]]},
            "largest value must lie between 1e-150": {"values": [1e150, -1.0]},
        },
    ),
    (
        parse,
        {"name": "grr", "k": 4, "eps0": 1.0},
        {
            "k must": {"k": 1},
            "eps0 must": {"eps0": 0, "name": "rappor"},
            "m must": {"name": "subset:4"},
            "g must be a whole number from 2": {"name": f"hash:{10**400}"},
            "randomizer must be one of grr, subset:M": {"name": "subset"},
            "a.csv: No such file": {"name": "file:a.csv", "k": None, "eps0": None},
        },
    ),
    (
        parse("oue", k=3, eps0=1.0).gains,
        {"eps": 0.5},
        {
            "eps must be finite and >= 0": {"eps": -1.0},
            "eps must be at most 350": {"eps": 351.0},
            "reference must be one of blanket, x0, x1, ..., x2": {"reference": "x3"},
            "reference must have weights": {"reference": {"x0": 0.5}},
            "pair must": {"pair": (0, 3)},
        },
    ),
    (
        parse("oue", k=3, eps0=400.0).gains,
        {},
        {
            "eps0 must": {"eps": 1.0},
        },
    ),
    (
        Finite([[0.5, 0.3, 0.4], [0.5, 0.7, 0.6]]).variance,
        {"n": 7},
        {
            "independent columns": {"shares": [0.3, 0.3, 0.4]},
        },
    ),
    (
        sample_histogram,
        {"eps0": 1.0, "rng": RNG, "repetitions": 2},
        {
            "counts must": {"counts": [-1, 3]},
        },
    ),
    (
        invert,
        {"frequencies": [0.3, 0.7]},
        {
            "eps0 must be at least 1e-09 to be inv": {"eps0": 1e-12},
        },
    ),
    (
        maximum_likelihood,
        {"frequencies": [0.3, 0.7], "eps0": 1.0},
        {
            "frequencies >= 0 that sum to 1": {"frequencies": [0.5, 0.6]},
        },
    ),
    (
        project_to_simplex,
        {},
        {
            "^points must be finite; got nan": {"points": [np.nan, 1]},
        },
    ),
]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (function, good | bad, message)
        for function, good, refused in REFUSED
        for message, bad in refused.items()
    ],
)
def test_a_bad_argument_is_refused_and_named(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(**arguments)


# Numpy makes numbers of these, or Python does.
NO_NUMBERS = [
    "0.5",
    b"1",
    bytearray(b"1"),
    memoryview(b"1"),
    np.void(b"1"),
    True,
    [True, 0.5],
    [[1, 0.5], [False, 1]],
    np.array([True], dtype=object),
    np.array("0.5", dtype=object),
    1j,
    np.ma.masked,
    np.ma.array([0.5, 0.5], mask=[False, True]),
    [np.ma.masked, 0.5],
    np.datetime64("2020-01-01"),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.timedelta64(1, "s"),
    [np.timedelta64(1, "s")],
    datetime.timedelta(seconds=1),
]
# Functions, and arguments of theirs with numbers; the others that they need.
TAKES_NUMBERS = [
    (tightshuffle.delta, ("eps", "n", "k", "eps0", "colluding", "rounds"), {"eps": 0.1, **KRR}),
    (tightshuffle.epsilon, ("delta",), KRR),
    (tightshuffle.epsilon, ("log10_delta",), KRR),
    (tightshuffle.tradeoff, ("alpha",), KRR),
    (
        tightshuffle.plan,
        ("n", "k", "eps", "delta", "colluding", "participation", "shares"),
        {"n": 9, "k": 2, "eps": 1.0, "delta": 1e-6},
    ),
    (tightshuffle.fewest_users, ("eps", "rounds"), {"eps": 1.0, "delta": 1e-6, "k": 3, "eps0": 2}),
    (Group, ("users", "eps0", "participation", "colluding"), {"name": "a", "users": 9, "eps0": 1}),
    (Dummies, ("number", "poisson_per_value", "probability_per_user_and_value"), {}),
    (Collection, ("k", "rounds"), {"k": 5, "groups": APP.groups}),
    (APP.log10_delta, ("eps",), {}),
    (APP.expected_error, ("shares",), {}),
    (poisson, ("mean",), {}),
    (noise, ("power", "deviation", "reach"), {"power": 1.0, "deviation": 2.0}),
    (cut_power, ("mean",), {"mean": 5, "power": 2.0, "deviation": 1.0}),
    (fixed, ("number",), {}),
    (Finite, ("matrix",), {}),
    (sample_histogram, ("counts",), {"eps0": 1.0, "rng": RNG, "repetitions": 2}),
    (invert, ("frequencies",), {"eps0": 1.0}),
    (project_to_simplex, ("points",), {}),
]


@pytest.mark.parametrize(
    "wrong", NO_NUMBERS, ids=lambda wrong: re.sub(" at 0x.*", ">", repr(wrong))
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_number_is_refused_by_its_kind_and_named(wrong):
    """Otherwise 50 masked users would be none, a date 18,262 users, and "1" the number 49."""
    for function, names, accepted in TAKES_NUMBERS:
        for name in names:
            with pytest.raises(ValueError, match=rf"\b{name} must .*") as error:
                function(**accepted | {name: wrong})
            assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", [Fraction, Decimal, np.float32, np.int8, np.uint8, np.array])
def test_every_kind_of_number_is_one_of_python(kind):
    """Also one of 8 bits, which holds no number above 127 or 255 of what is computed from it."""
    two, hundred = kind(2), kind(100)
    of_two = tightshuffle.delta(0.5, n=hundred, k=5, eps0=two)
    assert of_two == tightshuffle.delta(0.5, n=100, k=5, eps0=2)
    assert poisson(hundred).mean == poisson(100).mean
    assert noise(two, two).deviation == noise(2, 2).deviation
    dummies = Dummies(number=hundred, poisson_per_user_and_value=two)
    collection = Collection(
        5, (Group("all", hundred, two, participation=kind(1)),), dummies=dummies
    )
    expected = Collection(
        5,
        (Group("all", 100, 2),),
        dummies=Dummies(number=100, poisson_per_user_and_value=2),
    )
    assert collection.delta(0.1) == expected.delta(0.1)
    assert collection == expected


@pytest.mark.parametrize("number", [2**53, 2**53 + 1])
def test_a_number_that_no_float_is_is_refused(number):
    with pytest.raises(ValueError, match=r"^number must be .* below 2\*\*53"):
        fixed(number)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0*poisson:3", r"^law '0\*poisson:3': parties must be .* got 0"),
        ("2*2*poisson:3", r"^law must be poisson:MEAN.* got '2\*poisson:3'"),
        ("noise:1:0", "^law 'noise:1:0': deviation must be finite and >= 0.001"),
        (5, "^law must be poisson:MEAN.* got 5"),
        ("gaussian:5:1e-300", "^law .* deviation must be finite and >= 0.001; got 1e-300"),
        ("poisson", "^law "),
        ("normal:3:4", "^law "),
        ("geometric:3:1", "^law "),
        ("gaussian:2.3:1", "^law "),
    ],
)
def test_a_text_that_is_no_law_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_law(text)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], "column 1 sums to 0.9"),
        ([[1.5, 0.5], [-0.5, 0.5]], "entries >= 0"),
        ([[np.nan, 0.5], [0.5, 0.5]], "finite entries"),
        ([[0.5, 0.0], [0.5, 1.0]], "eps0 is infinite.*row 0"),
        ([[0.5, 0.5], [0.5, 0.5]], "eps0 is 0"),
        ([[1e-300, 1e-300], [0.25, 0.5], [0.75, 0.5]], "between 0 and 1e-280; see row 0"),
        ([[0.5], [0.5]], "two axes"),
        ([[0.5, 0.5], [0.5]], "rows of one length"),
        ([["a", "b"], ["c", "d"]], "numbers only"),
    ],
)
def test_a_matrix_that_is_no_randomizer_is_refused(matrix, message):
    with pytest.raises(ValueError, match=f"^matrix must .*{message}"):
        Finite(matrix)


@pytest.mark.parametrize("read", [read_law, read_matrix, read_counts, read_collection])
def test_a_path_that_is_no_text_is_refused(read):
    with pytest.raises(ValueError, match=r"^path must be the name of a file; got 1"):
        read(1)


SUMS = {"n": 1000, "k": 5, "eps0": 2.0, "randomizer": "rappor", "release": "sums"}
FLAGGED = [  # functions that take a flag and return something to compare, and arguments that they accept
    (tightshuffle.delta, {"eps": 0.1, **SUMS}),
    (tightshuffle.epsilon, {"delta": 1e-6, **SUMS}),
    (
        tightshuffle.plan,
        {"n": 1000, "k": 5, "eps": 1.0, "delta": 1e-6, "randomizer": "oue", "release": "sums"},
    ),
    (APP.one_round, {"eps": 0.1}),
    (APP.log10_delta, {"eps": 0.1}),
    (APP.epsilon, {"delta": 1e-6}),
]
FLAGGED_TOO = [  # others that may take a flag
    *[(function, arguments) for function, arguments, _ in REFUSED],
    (Collection, {"k": 5, "groups": APP.groups, "randomizer": "oue", "release": "sums"}),
    (APP.to_pld, {}),
    (sums.gaussian_mu, {"randomizer": parse("rappor", k=5, eps0=2.0)}),
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
    for function, accepted in FLAGGED + FLAGGED_TOO:
        for flag in flags_of(function):
            with pytest.raises(ValueError, match=f"^{flag} must be true or false; got "):
                function(**accepted | {flag: wrong})


@pytest.mark.parametrize("true_or_false", [True, False])
def test_a_flag_of_numpy_is_one_of_python(true_or_false):
    for function, accepted in FLAGGED:
        for flag in flags_of(function):
            of_numpy = function(**accepted | {flag: np.bool_(true_or_false)})
            assert of_numpy == function(**accepted | {flag: true_or_false})


def test_every_public_flag_is_in_the_list():
    methods = filter(inspect.isfunction, vars(Collection).values())
    public = [getattr(tightshuffle, name) for name in tightshuffle.__all__]
    listed = [getattr(function, "__qualname__", "") for function, _ in FLAGGED + FLAGGED_TOO]
    for function in [*public, *methods]:
        if not function.__name__.startswith("_") and flags_of(function):
            assert function.__qualname__ in listed


def test_a_plan_of_a_kind_of_randomizer_has_no_deletion():
    asked = {"n": 1000, "k": 5, "eps": 1.0, "delta": 1e-6, "randomizer": "subset"}
    with pytest.raises(ValueError, match=r"^neighbours must be 'replacement' unless"):
        tightshuffle.plan(neighbours="deletion", **asked)
