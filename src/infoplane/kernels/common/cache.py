"""Machine code on disk, kept for as long as no source that it was made from has been edited.

numba keeps the machine code of a function, with everything that it calls, beside its source (or in the user's cache folder, or in
NUMBA_CACHE_DIR), and considers it valid until the function's own file changes. An edited helper in another file would go unnoticed. So here
the version on that code has a digest of the sources it can come from: those of its own folder and of `common`, as kernels import from
nowhere else (tests/test_layout.py). Contents count, not dates. What is stale is overwritten, or removed when its successor is saved.
"""

import functools
import hashlib
import inspect
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

COMMON = Path(__file__).parent


@functools.cache
def digest_of_sources(folder: Path) -> str:
    """A digest of the names and contents of a folder's sources and of those in common: read once per process in about a millisecond."""
    digest = hashlib.sha256()
    for source in sorted({*folder.glob("*.py"), *COMMON.glob("*.py")}):
        digest.update(f"{source.name}\0".encode() + source.read_bytes())
    return digest.hexdigest()


class KernelCache(FunctionCache):
    """numba's cache of one function, which is stale as soon as a source in its folder or in common has changed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        digest = digest_of_sources(Path(inspect.getfile(function)).parent)
        self._cache_file = IndexDataCacheFile(self.cache_path, self._impl.filename_base, source_stamp=digest)
        # The version is compared before the rest of a file is unpickled, which fails once a class that a signature names is gone.
        self._cache_file._version = f"{self._cache_file._version}, kernels {digest}"

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
