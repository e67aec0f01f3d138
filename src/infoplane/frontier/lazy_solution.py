"""A run of which only the numbers were kept, or whose encoder is fetched when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidOptionError
from ..information import Array, PlanePoint
from ..solution import Solution


class StoredRun(Solution):
    """A `Solution` with its loss, I(X;Z), I(Y;Z) and |Z| as they were stored; ``encoder`` is fetched, or refused if it was not kept."""

    @classmethod
    def of(
        cls, fetch: Callable[[], Array] | None, *, loss: float, ixz: float, iyz: float, clusters: int, **fields: Any
    ) -> StoredRun:
        """A run from its numbers, the other fields of `Solution`, and where its encoder is; None if nowhere."""
        run = object.__new__(cls)
        # The derived numbers take the place of those that Solution would compute from the encoder, once.
        known = {"loss": loss, "_point": PlanePoint(ixz, iyz), "_clusters": clusters, "_fetch": fetch}
        run.__dict__.update(fields, **known)
        return run

    def __getattr__(self, name: str) -> Any:
        # Only what is not there comes here: the encoder of a run that was made by `of`, until it was fetched.
        if name != "encoder" or "_clusters" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self.__dict__["_fetch"] is None:
            raise InvalidOptionError(
                f"the encoder of start {self.start} at {self.parameter:g} was not kept: of a stored sweep only the best runs have one. "
                "Frontier.best_rows() numbers them."
            )
        self.__dict__["encoder"] = self.__dict__["_fetch"]()
        return self.__dict__["encoder"]

    @property
    def has_encoder(self) -> bool:
        """Whether the encoder was kept."""
        return "encoder" in self.__dict__ or self.__dict__["_fetch"] is not None

    @property
    def clusters(self) -> int:
        """|Z|: rows of the encoder."""
        return int(self.__dict__["_clusters"]) if "_clusters" in self.__dict__ else super().clusters
