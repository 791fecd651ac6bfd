"""TF-IDF: counts of words weighted by how rare the word is over all sites, as TfidfTransformer.

idf = log((1 + N) / (1 + df)) + 1, df the number of samples in which the word occurs; without
`smooth_idf`, log(N / df) + 1. Then each row is divided by its norm.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from fedmf.arrays import Array, Rows
from fedmf.errors import DataError, ParameterError
from fedmf.faults import refuse
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.preparation._base import Learned, Preparation
from fedmf.preparation._shape import Known
from fedmf.preparation._sums import stored, weighted
from fedmf.sites import Cohort


class Frequency(NamedTuple):
    """In how many samples each word occurs."""

    documents: Array  # (M,)


class Rarity(NamedTuple):
    """The weight of each word."""

    idf: Array  # (M,)


class FederatedTfidf(Preparation):
    """Weight counts by the rarity of the word over all sites; the result is sparse.

    What leaves a site: how many of its samples have each word. Of a site with one sample that is
    the set of its words.

    Differences from scikit-learn: a zero that a sparse matrix stores is not an occurrence, and
    without `smooth_idf` a word that no fitted sample has is refused in later data rather than
    given an infinite weight.

    Parameters
    ----------
    sublinear_tf : whether a count c is replaced by 1 + log(c).
    smooth_idf : whether to count one more sample that has every word.
    norm : "l2", "l1" or None.
    """

    name: ClassVar[str] = "tfidf"
    sends: ClassVar[str] = "the number of samples in which each feature occurs"

    def __init__(
        self, sublinear_tf: bool = False, smooth_idf: bool = True, norm: str | None = "l2"
    ) -> None:
        self.sublinear_tf = sublinear_tf
        self.smooth_idf = smooth_idf
        self.norm = norm

    def check(self) -> None:
        """Refuse an unknown norm."""
        if self.norm not in ("l1", "l2", None):
            raise ParameterError(f"norm must be 'l1', 'l2' or None; got {self.norm!r}")

    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked: in how many samples each word occurs."""
        return {"frequency": Task(_frequency)}

    def learn(self, known: Known) -> Exchange[Learned]:
        """Find how rare each word is over all sites."""
        answer = yield ask("frequency", Nothing(), known.everyone)
        more = int(self.smooth_idf)
        frequency = answer.total.documents.astype(known.dtype) + known.dtype.type(more)
        with np.errstate(divide="ignore"):  # a word of no sample: infinitely rare
            ratio = np.full_like(frequency, known.samples + more) / frequency
        idf = np.log(ratio) + known.dtype.type(1)
        return Learned(Rarity(idf), {"idf_": idf})

    def apply(self, state: Rarity, data: Cohort) -> Rows:
        """Weight a site's rows."""
        rows = sparse.csr_array(data.rows, copy=True)
        rows.eliminate_zeros()
        self._refuse_unknown_words(state, data, rows)
        if self.sublinear_tf:
            refuse(data, _negative, "sublinear_tf needs counts")
            rows.data = np.log(rows.data) + rows.dtype.type(1)
        rows.data *= state.idf[rows.indices]
        return rows if self.norm is None else normalize(rows, norm=self.norm, copy=False)

    def _refuse_unknown_words(self, state: Rarity, data: Cohort, rows: Rows) -> None:
        """Refuse a word without weight."""
        unknown_words = np.flatnonzero(~np.isfinite(state.idf[rows.indices]))
        if len(unknown_words):
            row = int(np.searchsorted(rows.indptr, unknown_words[0], side="right")) - 1
            raise DataError(
                f"site {data.sites[0]}: row {row} has feature {rows.indices[unknown_words[0]]}, "
                "which occurs in no fitted sample and so has no weight; use smooth_idf=True"
            )


def _frequency(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Frequency]:
    documents = np.zeros(data.shape[1])
    for block, counts in weighted(data, weight):
        if isinstance(block, np.ndarray):
            documents += counts @ (block != 0)
        else:
            documents += stored(block, (block.data != 0).astype(np.float64)).T @ counts
    return private, Frequency(documents)


def _negative(values: Array) -> NDArray[np.bool_]:
    return values < 0
