"""The Python in the how-to runs, from its first block to its last, and the table is complete."""

from __future__ import annotations

import re
from pathlib import Path

from fedmf import preparation

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "prepare-data.md"


def test_the_code_runs(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    shared: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), shared)  # noqa: S102
    printed = capsys.readouterr().out
    assert all(name in printed for name in preparation.names())


def test_every_preparation_is_in_the_table():
    text = PAGE.read_text()
    for name in preparation.names():
        assert f"| `{name}` | `{type(preparation.make(name)).__name__}(" in text
