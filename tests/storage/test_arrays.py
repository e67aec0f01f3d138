"""Arrays of a .npz file that is not trusted: refused with a ValueError, whatever was done to it."""

import io
import random
import zipfile

import numpy as np
import pytest

from infoplane.storage import arrays
from infoplane.storage.arrays import Expected, read_npy, read_npz

ARRAYS = {
    "text": np.array("größe {}"),
    "table": np.arange(30.0).reshape(5, 6),
    "flags": np.array([True, False]),
    "empty": np.empty((0, 3)),
    "swapped": np.arange(3, dtype=">i8"),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}
EXPECTED = {name: Expected(array.dtype.kind, (None,) * array.ndim) for name, array in ARRAYS.items()}
ANY = {"a": Expected("f", (None,))}


def packed(write=np.savez_compressed, **arrays):
    file = io.BytesIO()
    write(file, **arrays)
    return file.getvalue()


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def header(shape, dtype="<f8", order=False):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": order, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_what_numpy_wrote_comes_back(write, tmp_path):
    (tmp_path / "f.npz").write_bytes(packed(write, **ARRAYS))
    found = read_npz(tmp_path / "f.npz", EXPECTED)
    assert set(found) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("=")
        assert found[name].flags.c_contiguous


NUMBERS = np.arange(3.0)
BAD = {
    "nothing": b"",
    "no zip": b"no zip at all",
    "cut off": packed(a=NUMBERS)[:-30],
    "another member": packed(b=NUMBERS),
    "no array": zipped(("a.npy", b"no array")),
    "a byte less than its shape": zipped(("a.npy", header((3,)) + bytes(23))),
    "a shape of petabytes": zipped(("a.npy", header((10**15,)))),
    "a shape that overflows": zipped(("a.npy", header((2**40, 2**40)))),
    "a negative shape": zipped(("a.npy", header((-1,)))),
    "objects": zipped(("a.npy", header((1,), "|O") + bytes(8))),
    "a pickle": packed(a=np.array([{}], dtype=object)),
    "complex": zipped(("a.npy", header((1,), "<c16") + bytes(16))),
    "four bytes": packed(a=NUMBERS.astype("f4")),
    "two dimensions": packed(a=np.eye(2)),
    "a header without end": zipped(("a.npy", b"\x93NUMPY\x01\x00\xff\x00" + b"(" * 255)),
    "another version": zipped(("a.npy", b"\x93NUMPY\x07\x00")),
    "packed otherwise": zipped(("a.npy", header((3,)) + bytes(24)), method=zipfile.ZIP_BZIP2),
    "another data": packed(np.savez, a=NUMBERS).replace(NUMBERS.tobytes(), NUMBERS[::-1].tobytes()),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_anything_else_is_refused(bad, tmp_path):
    (tmp_path / "f.npz").write_bytes(bad)
    with pytest.raises(ValueError, match=r"."):
        read_npz(tmp_path / "f.npz", ANY)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["a.npy", "a"])
def test_an_array_that_is_there_twice_is_refused(second, tmp_path):
    data = header((1,)) + bytes(8)
    (tmp_path / "f.npz").write_bytes(zipped(("a.npy", data), (second, data)))
    with pytest.raises(ValueError, match="twice"):
        read_npz(tmp_path / "f.npz", ANY)


def test_more_than_a_file_may_hold_is_not_unpacked(tmp_path, monkeypatch):
    (tmp_path / "f.npz").write_bytes(packed(a=np.zeros(1000)))
    assert read_npz(tmp_path / "f.npz", ANY)["a"].shape == (1000,)
    monkeypatch.setattr(arrays, "MOST_BYTES", 7999)
    monkeypatch.setattr(np, "load", None)
    with pytest.raises(ValueError, match="more than 7,999 bytes"):
        read_npz(tmp_path / "f.npz", ANY)


def test_damage_anywhere_is_a_value_error_or_harmless(tmp_path):
    choose, good = random.Random(0), (packed(**ARRAYS), packed(np.savez, **ARRAYS))
    ended = set()
    for _ in range(2_000):
        data = bytearray(choose.choice(good))
        for _ in range(choose.randint(1, 4)):
            data[choose.randrange(len(data))] = choose.randrange(256)
        if choose.random() < 0.2:
            del data[choose.randrange(len(data)) :]
        (tmp_path / "f.npz").write_bytes(data)
        try:
            read_npz(tmp_path / "f.npz", EXPECTED)
            ended.add("read")
        except ValueError:
            ended.add("refused")
    assert ended == {"read", "refused"}


@pytest.mark.parametrize(
    "array", [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.arange(3, dtype=">i2")]
)
def test_a_matrix_comes_back(array, tmp_path):
    np.save(tmp_path / "matrix.npy", array)
    np.testing.assert_array_equal(read_npy(tmp_path / "matrix.npy"), array)


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        header((3,)) + bytes(23),
        header((10**15,)),
        header((1,), "|O") + bytes(8),
        b"\x93NUMPY\x01\x00\x40\x00" + b"{'descr': '<f8', 'shape': (2, 2" + b" " * 33,
    ],
)
def test_a_matrix_that_is_none_is_refused(bad, tmp_path):
    (tmp_path / "matrix.npy").write_bytes(bad)
    with pytest.raises(ValueError, match=r"."):
        read_npy(tmp_path / "matrix.npy")
