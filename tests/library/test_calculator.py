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


@pytest.mark.parametrize("randomizer", ["grr", "oue", "hash:3"])
@pytest.mark.parametrize("rounds", [1, 3])
def test_bracket_is_that_of_the_package(randomizer, rounds):
    """The lower and the upper eps for delta = 1e-6 are those that the package's functions return."""
    # 20 of the 2000 users collude. The calculator is given them as a share, 0.01.
    given = {"n": 2000, "k": 10, "eps0": 2.0, "randomizer": randomizer, "colluding": 20}
    setting = answers.Setting(**given | {"rounds": rounds, "colluding": 0.01})
    low, high = answers.bracket(setting, log10_delta=-6.0)
    assert high == tightshuffle.epsilon(1e-6, rounds=rounds, **given)
    if rounds > 1 and randomizer == "grr":
        # The class `Collection`, with the honest users only, has a lower bound for all rounds together.
        honest = tightshuffle.Group("all", 2000 - 20, 2.0)
        collection = tightshuffle.Collection(10, (honest,), rounds=rounds)
        assert low == collection.epsilon(1e-6, bound="lower")
    else:
        # The lower bound of a single round holds for more rounds, too.
        assert low == tightshuffle.epsilon(1e-6, method="lower", **given)
    assert low <= high


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


def test_no_two_curves_of_the_picture_look_alike(monkeypatch):
    """Curves differ in colour or style. That of "upper" is a black line and that of "lower" a red one."""
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_rgb

    from tightshuffle.calculator import picture

    # 2000 users of k-RR with 10 values and eps0 = 0.4. All 13 methods have a curve, of two points: at eps = 0
    # and 1, log10 delta is 0 and -9.
    setting = answers.Setting("grr", 2000, 10, 0.4)
    log10_deltas = {name: np.array([0.0, -9.0]) for name in setting.methods()}
    monkeypatch.setattr(answers, "curves", lambda *_: (np.array([0.0, 1.0]), log10_deltas))
    # The last line of the picture is no curve, but a dot at the answer: log10 delta = -6 and eps = 0.5.
    figure = picture.draw(setting, -6.0, 0.5)
    *lines, _dot = figure.axes[0].lines
    looks = {line.get_label(): (to_rgb(line.get_color()), line.get_linestyle()) for line in lines}
    assert len(set(looks.values())) == len(setting.methods()) > 12
    assert (looks["upper"], looks["lower"]) == ((to_rgb("black"), "-"), (to_rgb("tab:red"), "-"))


def test_what_is_left_if_the_shuffler_fails():
    collection = answers.typed_collection(GROUPS.replace("eps0: 3", "eps0: 7"))
    left = [row["left if the shuffler fails"] for row in answers.group_rows(collection, -6.0)]
    assert left == ["eps 2", "nothing useful (eps 7)"]


@pytest.fixture
def calculator():
    """The pair (process of `tightshuffle calculator --no-browser`, address of the page that it serves).

    After the test the process and those that it started are ended.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # the system chooses a port that is free
        port = str(free.getsockname()[1])
    words = [sys.executable, "-m", "tightshuffle", "calculator", "--no-browser", "--port", port]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        # It prints the address when the page is served.
        for line in server.stdout:
            if "URL" in line:
                break
        else:
            pytest.fail("the calculator did not start")
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
        setting = {"randomizer": "grr", "n": 100_000, "k": 408, "eps0": 4.0}
        expect(page.get_by_role("heading", name=sentence(**setting))).to_be_visible()
        assert page.get_by_role("cell", name="stronger-clones").is_visible()
        assert page.locator("img").first.is_visible()  # the picture

        users = page.get_by_role("textbox", name="Users, n")
        users.fill("ten")
        users.press("Enter")
        expect(page.get_by_text("n must be a number")).to_be_visible()
        users.fill("2e4")
        users.press("Enter")
        expect(
            page.get_by_role("heading", name=sentence(**setting | {"n": 20_000}))
        ).to_be_visible()

        colluding = page.get_by_role("textbox", name="Users whose report").locator("visible=true")
        colluding.fill("5%")
        colluding.press("Enter")
        expect(page.get_by_text("--delta 1e-6 --colluding 5%").last).to_be_visible()

        page.get_by_role("combobox").select_option(label="optimized unary encoding")
        expect(
            page.get_by_role("heading", name=sentence(randomizer="oue", n=100_000, k=408, eps0=4.0))
        ).to_be_visible()
        page.get_by_role("radio", name="the largest eps0").click()
        plan = tightshuffle.plan(n=100_000, k=408, eps=0.5, delta=1e-6, randomizer="oue")
        expect(
            page.get_by_role("heading", name=f"eps0 = {answers.plain(plan.eps0, side=Side.LOWER)}")
        ).to_be_visible()

        page.get_by_role("radio", name="the fewest users, from eps0").click()
        fewest = tightshuffle.fewest_users(0.5, 1e-6, k=408, eps0=4, randomizer="oue")
        expect(
            page.get_by_role("heading", name=f"{fewest:,} users: eps is between")
        ).to_be_visible()

        page.get_by_role("tab", name="Which design?").click()
        for rounds in (1, 2):
            options = {"log10_delta": -6.0, "participation": 1, "share": 0.1}
            rows, remarks = answers.design_rows(100_000, 256, 1.0, rounds, **options)
            for row in rows[:2]:
                expect(page.get_by_role("cell", name=row["parameters"], exact=True)).to_be_visible()
            expect(page.get_by_text(remarks[0])).to_be_visible()
            page.get_by_role("slider").locator("visible=true").press("ArrowRight")
        page.get_by_role("tab", name="Groups, participation, dummies").click()
        page.get_by_role("textbox", name="A collection").fill(GROUPS)
        page.get_by_role("textbox", name="A collection").blur()
        row = answers.group_rows(answers.typed_collection(GROUPS), -6.0)[1]
        expect(page.get_by_role("cell", name=row["at most"], exact=True)).to_be_visible()
        browser.close()
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)  # it works offline
