"""The paper, reproduced: its figures and its table from small files of settings.

exhibits/*.toml   what is run and drawn, and what the paper says of it
sources, exhibit  these files, read
running           the trials that are not in the store yet, run
claim, measures, verdict
                  what the paper says, held against results
figures, maps, scores
                  what is drawn, and the table
shown, page, document, saved
                  all of it on a page, in Markdown, and in files
"""

from __future__ import annotations

from fedmf.paper.exhibit import Exhibit, read
from fedmf.paper.sources import chosen, names

__all__ = ["Exhibit", "chosen", "names", "read"]
