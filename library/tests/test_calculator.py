"""The calculator: its numbers are the package's, and its page shows them in a real browser."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import tightshuffle
from tightshuffle.calculator import answers
from tightshuffle.side import Side

GROUPS = """\
k: 10
groups:
  - {name: old app, users: 6000, eps0: 2}
  - {name: new app, users: 4000, eps0: 3, participation: 0.3}
"""


@pytest.mark.parametrize(
    ("randomizer", "rounds"), [("grr", 1), ("oue", 1), ("oue", 3), ("hash:3", 1), ("hash:3", 3)]
)
def test_bracket_is_the_upper_eps_of_all_rounds_and_the_lower_one_of_a_single_round(
    randomizer, rounds
):
    setting = {"n": 2000, "k": 10, "eps0": 2.0, "randomizer": randomizer, "colluding": 0.01}
    low, high = answers.bracket(answers.Setting(**setting, rounds=rounds), log10_delta=-6.0)
    assert low == tightshuffle.epsilon(1e-6, method="lower", **setting)
    assert low <= high == tightshuffle.epsilon(1e-6, rounds=rounds, **setting)


def test_bracket_of_krr_has_the_lower_eps_of_all_rounds_together():
    setting = {"n": 2000, "k": 10, "eps0": 2.0, "rounds": 3, "colluding": 0.01}
    low, high = answers.bracket(answers.Setting("grr", **setting), log10_delta=-6.0)
    honest = tightshuffle.Group("all", 2000 - 20, 2.0)
    collection = tightshuffle.Collection(10, (honest,), rounds=3)
    assert low == collection.epsilon(1e-6, bound="lower")
    assert low <= high == tightshuffle.epsilon(1e-6, **setting)


def test_curves_pass_through_the_answer():
    setting = answers.Setting("grr", 2000, 10, 2.0)
    _, high = answers.bracket(setting, -6.0)
    eps, curves = answers.curves(setting, -6.0, high)
    assert {"upper", "lower", "stronger-clones"} <= set(curves)
    assert not any(np.isnan(logs).all() for logs in curves.values())
    assert np.interp(high, eps, curves["upper"]) == pytest.approx(-6, abs=0.05)
    assert np.all(curves["upper"] >= curves["lower"])


def test_groups_are_rounded_to_the_safe_side():
    """To six digits: by at most 1e-5."""
    collection = answers.typed_collection(GROUPS)
    for row, group in zip(answers.group_rows(collection, -6.0), collection.groups, strict=True):
        high = collection.epsilon(1e-6, group=group.name)
        assert high * (1 - 1e-9) <= float(row["at most"]) <= high * (1 + 2e-5)
        low = collection.epsilon(1e-6, group=group.name, bound="lower")
        assert low * (1 - 2e-5) <= float(row["at least"]) <= low * (1 + 1e-9)


def test_an_uploaded_matrix():
    own = answers.uploaded_matrix(b"0.6,0.4\n0.4,0.6\n")
    assert own.k == 2
    _, high = answers.bracket(answers.Setting(own, 1000, own.k, own.eps0), log10_delta=-6.0)
    assert high == tightshuffle.epsilon(1e-6, n=1000, randomizer=own)
    with pytest.raises(ValueError, match=r"^matrix\.csv: row 2: expected a probability; got 'x'"):
        answers.uploaded_matrix(b"0.6,0.4\n0.4,x\n")


@pytest.fixture
def looks_of_curves(monkeypatch):
    """Name of a method -> (colour, style) of its curve, in a picture of the curves of all 13 methods."""
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_rgb

    from tightshuffle.calculator import picture

    setting = answers.Setting("grr", 2000, 10, 0.4)
    log10_deltas = dict.fromkeys(setting.methods(), np.array([0.0, -9.0]))  # at eps = 0 and 1
    monkeypatch.setattr(answers, "curves", lambda *_: (np.array([0.0, 1.0]), log10_deltas))
    figure = picture.draw(setting, -6.0, 0.5)
    *curves, _dot_at_the_answer = figure.axes[0].lines
    return {
        curve.get_label(): (to_rgb(curve.get_color()), curve.get_linestyle()) for curve in curves
    }


def test_no_two_curves_of_the_picture_look_alike(looks_of_curves):
    assert len(set(looks_of_curves.values())) == len(looks_of_curves) == 13


def test_curve_of_upper_is_a_black_line_and_that_of_lower_a_red_one(looks_of_curves):
    from matplotlib.colors import to_rgb

    assert looks_of_curves["upper"] == (to_rgb("black"), "-")
    assert looks_of_curves["lower"] == (to_rgb("tab:red"), "-")


def test_what_is_left_if_the_shuffler_fails():
    collection = answers.typed_collection(GROUPS.replace("eps0: 3", "eps0: 7"))
    left = [row["left if the shuffler fails"] for row in answers.group_rows(collection, -6.0)]
    assert left == ["eps 2", "nothing useful (eps 7)"]


@pytest.fixture
def calculator():
    """The pair (process of `tightshuffle calculator`, address of the page that it serves).

    After the test, this process and all that it started are ended.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # the system chooses a port that is free
        port = str(free.getsockname()[1])
    words = [sys.executable, "-m", "tightshuffle", "calculator", "--no-browser", "--port", port]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        # It prints the address a little before the page is served.
        assert any("URL" in line for line in server.stdout)
        assert accepts_connections(int(port))
        yield server, f"http://127.0.0.1:{port}"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.communicate()  # so that it can write what it says at its end


def accepts_connections(port, seconds=30.0):
    """Whether a server does at this port before so many seconds are over: it says its address earlier."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False


def test_sigterm_ends_the_page_too(calculator):
    server, address = calculator
    server.terminate()
    code = server.wait(timeout=30)
    assert not accepts_connections(int(address.rpartition(":")[2]), seconds=1)
    assert code == 128 + signal.SIGTERM


@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no Chromium on this machine")
def test_the_page_in_chromium(calculator):
    from playwright.sync_api import expect, sync_playwright

    address = calculator[1]

    def sentence(**setting):
        low, high = answers.bracket(answers.Setting(**setting), -6.0)
        shown = (answers.plain(low, side=Side.LOWER), answers.plain(high, side=Side.UPPER))
        return re.compile("eps is between {} and {}".format(*map(re.escape, shown)))

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        page.goto(address)

        def see(found):
            expect(found).to_be_visible()

        def see_heading(text):
            see(page.get_by_role("heading", name=text))

        def see_cell(text):
            see(page.get_by_role("cell", name=text, exact=True))

        def textbox(name):
            return page.get_by_role("textbox", name=name).locator("visible=true")

        def enter(box, text):
            textbox(box).fill(text)
            textbox(box).press("Enter")

        setting = {"randomizer": "grr", "n": 100_000, "k": 408, "eps0": 4.0}
        see_heading(sentence(**setting))
        assert page.get_by_role("cell", name="stronger-clones").is_visible()
        assert page.locator("img").first.is_visible()  # the picture

        enter("Users, n", "ten")
        see(page.get_by_text("n must be a number"))
        enter("Users, n", "2e4")
        see_heading(sentence(**setting | {"n": 20_000}))

        enter("Users whose report", "5%")
        see(page.get_by_text("--delta 1e-6 --colluding 5%").last)

        page.get_by_role("combobox").select_option(label="optimized unary encoding")
        see_heading(sentence(**setting | {"randomizer": "oue"}))
        page.get_by_role("radio", name="the largest eps0").click()
        plan = tightshuffle.plan(n=100_000, k=408, eps=0.5, delta=1e-6, randomizer="oue")
        see_heading(f"eps0 = {answers.plain(plan.eps0, side=Side.LOWER)}")

        page.get_by_role("radio", name="the fewest users, from eps0").click()
        fewest = tightshuffle.fewest_users(0.5, 1e-6, k=408, eps0=4, randomizer="oue")
        see_heading(f"{fewest:,} users: eps is between")

        page.get_by_role("tab", name="Which design?").click()
        for rounds in (1, 2):
            options = {"log10_delta": -6.0, "participation": 1, "share": 0.1}
            rows, remarks = answers.design_rows(100_000, 256, 1.0, rounds, **options)
            for row in rows[:2]:
                see_cell(row["parameters"])
            see(page.get_by_text(remarks[0]))
            page.get_by_role("slider").locator("visible=true").press("ArrowRight")
        page.get_by_role("tab", name="Groups, participation, dummies").click()
        textbox("A collection").fill(GROUPS)
        textbox("A collection").blur()
        row = answers.group_rows(answers.typed_collection(GROUPS), -6.0)[1]
        see_cell(row["at most"])
        browser.close()
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)  # it works offline
