"""The documents: their Python runs, their commands are understood, their links lead somewhere.

The blocks of a page are one session in an empty folder, which imports what it uses. What a reader
brings is there already: a small federation `sites` with a finished `run`, and `samples.csv` and
`settings.toml` for commands. The tutorial brings nothing.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fedmf
from fedmf.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
LONG = ("demo", "prepare mnist")  # what takes long or needs a network is not run here


def blocks(page, language):
    return [text for kind, text in FENCE.findall(page.read_text("utf-8")) if kind == language]


def having(language):
    pages = [page for page in PAGES if blocks(page, language)]
    return pytest.mark.parametrize(
        "page", pages, ids=[p.relative_to(ROOT).as_posix() for p in pages]
    )


@pytest.fixture
def session(tmp_path, monkeypatch):
    """The names that a page's Python finds, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    centres = random.uniform(size=(4, 8))
    kinds = random.integers(4, size=120)
    X = np.abs(centres[kinds] + 0.1 * random.standard_normal((120, 8)))
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(8)])
    frame["hospital"] = np.repeat(["north", "east", "south", "west"], [50, 40, 20, 10])
    frame["diagnosis"] = kinds
    frame.to_csv("samples.csv", index=False)
    Path("settings.toml").write_text("[problem]\nrank = 4\n\n[run]\nrounds = 20\n")
    sites = np.split(X, [50, 90, 110])
    run = fedmf.fit(sites, fedmf.Problem(rank=4), fedmf.FedMGS(q2=10), rounds=20)
    return {"__name__": "page", "sites": sites, "run": run}


@having("python")
def test_python_blocks_run(page, session):
    if page.parent.name == "tutorial":  # who follows it has nothing yet
        session = {"__name__": "page"}
        Path("samples.csv").unlink()
    for number, block in enumerate(blocks(page, "python"), start=1):
        code = compile(block, f"{page.name}, block {number}", "exec")
        exec(code, session)  # noqa: S102 - our own documents


@having("console")
def test_commands_are_understood(page, session):
    for block in blocks(page, "console"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if not line.startswith("$ fedmf ") or any(part in line for part in LONG):
                continue
            result = CliRunner().invoke(main, words[1:], catch_exceptions=False)
            assert result.exit_code == 0, f"{line}\n{result.output}"


@pytest.mark.parametrize("page", PAGES, ids=[p.relative_to(ROOT).as_posix() for p in PAGES])
def test_links_lead_to_files_and_headings(page):
    for groups in LINK.findall(page.read_text("utf-8")):
        target, _, anchor = next(filter(None, groups)).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        path = (page.parent / target) if target else page
        assert path.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in headings(path), f"{path.name} has no heading #{anchor}"


def headings(page):
    """Return the anchors of a page's headings."""
    lines = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}


def test_every_page_can_be_reached_from_the_index():
    seen, todo = set(), [ROOT / "docs" / "index.md"]
    while todo:
        page = todo.pop().resolve()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = (next(filter(None, groups)) for groups in LINK.findall(page.read_text("utf-8")))
        todo += [page.parent / link.partition("#")[0] for link in links if "://" not in link]
    missing = {page for page in PAGES if "docs" in page.parts} - seen
    assert not missing


def test_the_reference_names_every_option():
    text = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    for path, command in commands(main, "fedmf"):
        assert f"`{path}" in text, path
        for option in command.params:
            if option.param_type_name != "option" or option.hidden:
                continue
            for name in option.opts:
                assert f"`{name}" in text, f"{path} {name}"


def commands(group, path):
    """Return every command below a group with its full name."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        below = f"{path} {name}"
        if hasattr(command, "list_commands"):
            yield from commands(command, below)
        else:
            yield below, command
