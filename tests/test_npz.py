"""Arrays of a .npz file that is not trusted: refused with a ValueError, whatever was done to it, before its numbers are unpacked."""

import io
import random
import zipfile

import numpy as np
import pytest

from infoplane.npz import NumberArchive, read_npy

ARRAYS = {
    "text": np.array("größe {}"),
    "table": np.arange(30.0).reshape(5, 6),
    "flags": np.array([True, False]),
    "empty": np.empty((0, 3)),
    "swapped": np.arange(3, dtype=">i8"),
    "by columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}


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
def test_what_numpy_wrote_comes_back(write):
    with NumberArchive(io.BytesIO(packed(write, **ARRAYS))) as archive:
        assert set(archive.members) == set(ARRAYS)
        for name, array in ARRAYS.items():
            assert archive.members[name].shape == array.shape
            found = archive.read(name)
            np.testing.assert_array_equal(found, array)
            assert found.dtype == array.dtype.newbyteorder("=")


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"no zip at all",
        packed(**ARRAYS)[:-30],
        zipped(("note.txt", b"no array")),
        zipped(("a.npy", header((3,)) + bytes(23))),
        zipped(("a.npy", header((10**15,)))),
        zipped(("a.npy", header((-1,)))),
        zipped(("a.npy", header((1,), "|O") + bytes(8))),
        zipped(("a.npy", header((1,), "<c16") + bytes(16))),
        zipped(("a.npy", b"\x93NUMPY\x01\x00\xff\x00" + b"(" * 255)),
        zipped(("a.npy", b"\x93NUMPY\x07\x00")),
        zipped(("a.npy", header((3,)) + bytes(24)), method=zipfile.ZIP_BZIP2),
        packed(objects=np.array([{}], dtype=object)),
    ],
)
def test_anything_else_is_refused_before_it_is_unpacked(bad):
    with pytest.raises(ValueError, match=r"."):
        NumberArchive(io.BytesIO(bad))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_array_that_is_there_twice_is_refused():
    bad = zipped(("a.npy", header((1,)) + bytes(8)), ("a.npy", header((1,)) + bytes(8)))
    with pytest.raises(ValueError, match="twice"):
        NumberArchive(io.BytesIO(bad))


def test_damage_anywhere_is_a_value_error_or_harmless():
    choose, good = random.Random(0), (packed(**ARRAYS), packed(np.savez, **ARRAYS))
    ended = set()
    for _ in range(2_000):
        data = bytearray(choose.choice(good))
        for _ in range(choose.randint(1, 4)):
            data[choose.randrange(len(data))] = choose.randrange(256)
        if choose.random() < 0.2:
            del data[choose.randrange(len(data)) :]
        try:
            with NumberArchive(io.BytesIO(bytes(data))) as archive:
                for name in archive.members:
                    archive.read(name)
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
