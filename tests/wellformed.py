"""A reader of HTML that minds what is open, and collects what a page has."""

from html.parser import HTMLParser

import pytest

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
