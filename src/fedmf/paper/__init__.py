"""The paper, reproduced: its figures and its table from small files of settings.

exhibits/*.toml -> trials -> a store of results -> claims, figures, tables -> a page
"""

from __future__ import annotations

from fedmf.paper.exhibit import Exhibit, chosen, names, read

__all__ = ["Exhibit", "chosen", "names", "read"]
