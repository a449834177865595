"""Files that describe a collection: what they mean, and what is said of a wrong one."""

import json
import math
import sys

import pytest

from tightshuffle.collection import Collection, Dummies, Group, read_collection

YAML = """
k: 050
randomizer: subset:3
rounds: 26
dummies: {number: 1e3}
groups:
  - {name: 2024, users: 1e6, eps0: 3, colluding: 0.1}
  - {users: 20_000, eps0: 2, participation: 0.5}
then:
  - dummies: {poisson_per_value: 5}
  - rounds: 4
    k: "40"
"""
GROUPS = (Group("2024", 10**6, 3.0, colluding=0.1), Group("group 2", 20_000, 2.0, 0.5))
THEN = (
    Collection(50, GROUPS, "subset:3", Dummies(poisson_per_value=5.0)),
    Collection(40, GROUPS, "subset:3", Dummies(1000), 4),
)
MEANT = Collection(50, GROUPS, "subset:3", Dummies(1000), 26, THEN)
USERS = "groups: [{users: 2, eps0: 1}]"


def read(tmp_path, text, name="mine.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return read_collection(str(path))


def test_a_file_means_the_same_as_the_classes(tmp_path):
    """``YAML`` describes the collection ``MEANT``; a second text has a law of dummies and an infinite eps0.

    A collection under `then` has the keys of the first one, but for rounds. 050 is 50, not octal.
    """
    assert read(tmp_path, YAML) == MEANT
    text = "k: 4\ngroups: [{users: 2, eps0: .inf}]\ndummies: {law: 2*power:27:1.0:2.0001}"
    values = read(tmp_path, text)
    assert values.groups[0].eps0 == math.inf
    assert values.dummies == Dummies(law="2*power:27:1.0:2.0001")


def test_json_needs_no_other_library(tmp_path, monkeypatch):
    """A JSON file is read where yaml cannot be imported; in JSON an infinite eps0 is the text "inf"."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    described = {"k": 4, "groups": [{"name": "all", "users": 10, "eps0": "inf"}]}
    assert read(tmp_path, json.dumps(described), "mine.json") == Collection(
        4, (Group("all", 10, math.inf),)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "k: 4\ngroups: [{user: 5, eps0: 1}]",
            "groups, item 1: unknown key 'user'; did you mean users?",
        ),
        ("k: 4\n_cache: {}", "the file: unknown key '_cache'; the keys are k, groups, randomizer"),
        ("k: 4\ngroups: [{name: a, eps0: 1}]", "group 'a': users must be given"),
        ("k: 4\ngroups: 3", "groups must be a list; got '3'"),
        (f"k: .inf\n{USERS}", "k must be a whole number; got '.inf'"),
        (
            "k: 4\ngroups: [{users: 2, eps0: .nan}]",
            "group 'group 1': eps0 must be a number; got '.nan'",
        ),
        ('k: 4\ngroups: [{name: "a\\e[2J", users: 2}]', "got 'a\\x1b[2J'"),
        (f"k: 4\n{USERS}\nthen: {{k: 5}}", "then must be a list of collections"),
        (f"k: 4\n{USERS}\nthen: [{{round: 5}}]", "then, item 1: unknown key 'round'"),
        (
            f"k: 4\n{USERS}\nthen: [{{then: [{{rounds: 50}}]}}]",
            "under then must not have then itself",
        ),
        (f"k: 4\n{USERS}\n{USERS}", "key 'groups' is given twice; keep one of them"),
        (f"k: 4\n? [a]\n: 5\n{USERS}", "keys must be words; got ['a']"),
        ("k: &a [*a]", "recursive"),
        ("k: " + "[" * 1000, "lists and keys are nested too deeply"),
        ("just text", "the file must have keys, such as k and groups; got 'just text'"),
        ("k: [", "while parsing"),
        ("#" * 1_000_001, "must have at most 1,000,000 characters"),
        ("{", "Expecting"),  # here JSON begins
        ('{"k": 4, "k": 5}', "key 'k' is given twice"),
        ("[" * 100_000, "lists and keys are nested too deeply"),
        ('{"k": true, "groups": [{"users": 2, "eps0": 1}]}', "k must be a whole number; got True"),
        ('{"k": 4, "groups": [{"name": null, "users": 2}]}', "name must be a text; got None"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, message, tmp_path):
    """A wrong file raises a ValueError with its path and the ``message``: one line, under 300 characters.

    What begins like JSON is written to a JSON file, else to a YAML file.
    """
    name = "mine.json" if text[0] in "{[" else "mine.yaml"
    with pytest.raises(ValueError, match=rf"^{tmp_path}/{name}: ") as raised:
        read(tmp_path, text, name)
    said = str(raised.value)
    assert (message in said, "\n" in said, len(said) < 300) == (True, False, True)


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"binary\.yaml: not a text file"):
        read_collection(str(tmp_path / "binary.yaml"))
