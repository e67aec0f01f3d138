"""Machine code on disk, kept for as long as no kernel has been edited.

numba keeps the machine code of a function, with everything that it calls, beside its source (or in the user's cache folder, or in
NUMBA_CACHE_DIR), and considers it valid until the function's own file changes. An edited helper in another file would go unnoticed. So here
the version on that code has the digest of all kernels' sources. What is stale is overwritten, or removed when its successor is saved.
"""

import functools
import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


@functools.cache
def digest_of_sources() -> str:
    """A digest of the names and contents of all kernels' sources: some 150 kB, read once per process in about a millisecond."""
    folder, digest = Path(__file__).parents[1], hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        digest.update(f"{source.relative_to(folder)}\0".encode() + source.read_bytes())
    return digest.hexdigest()


class KernelCache(FunctionCache):
    """numba's cache of one function, which is stale as soon as any kernel's source has changed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = IndexDataCacheFile(self.cache_path, self._impl.filename_base, stamp)
        # The version is compared before the rest of a file is unpickled, which fails once a class that a signature names is gone.
        self._cache_file._version = f"{self._cache_file._version}, kernels {digest_of_sources()}"

    def save_overload(self, signature: Any, data: Any) -> None:
        """Save machine code, and remove what an earlier version of the function left behind."""
        super().save_overload(signature, data)
        self._remove_earlier()

    def _remove_earlier(self) -> None:
        """numba names files `module.function-line.python...`: a function that has moved to another line leaves its old files there."""
        base = self._impl.filename_base
        function, _, line_and_python = base.rpartition("-")
        python = line_and_python.partition(".")[2]
        with suppress(OSError):  # another process may be doing the same
            for file in Path(self.cache_path).glob(f"{function}-*.{python}.*nb[ci]"):
                if not file.name.startswith(f"{base}."):
                    file.unlink(missing_ok=True)
