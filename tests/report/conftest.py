"""Saved runs to make pages of, and a reader of HTML that minds what is open."""

from html.parser import HTMLParser

import numpy as np
import pytest

import fedmf
from fedmf.clustering import SNCP

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Checker(HTMLParser):
    """Collects tags, identifiers and references, and whether tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.references = [], [], [], []
        self.attributes = set()

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        self.references += [v for name, v in attrs if name in ("href", "src", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="session")
def checked():
    """Return a function that reads a page and fails where it is not well formed."""

    def read(text):
        checker = Checker()
        checker.feed(text)
        assert checker.open == []
        return checker

    return read


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Three saved runs: one with a growing penalty, two that would be called the same."""
    home = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(0)
    sites = [random.uniform(size=(n, 6)) for n in (12, 30, 1, 7)]
    kinds = {"mgs": fedmf.FedMGS(participants=2), "avg": fedmf.FedMAvg(q2=2)}
    for name, algorithm in kinds.items():
        penalty = SNCP(threshold=1.0, factor=10) if name == "mgs" else None
        run = fedmf.fit(sites, fedmf.Problem(rank=2), algorithm, rounds=8, penalty=penalty)
        run.save(home / name)
    run.save(home / "avg <again>")
    return [home / "mgs", home / "avg", home / "avg <again>"]
