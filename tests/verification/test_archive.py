"""Files that nobody vouches for: read, or refused with a sentence; never waited for, never unpacked beyond what they say."""

import io
import os
import zipfile

import numpy as np
import pytest

from infoplane_verify.archive import LARGEST_FILE, NumberArchive, UnreadableAnswerError


def saved(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


def npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    return file.getvalue()


def zipped(path, *members, method=zipfile.ZIP_STORED):
    with pytest.MonkeyPatch.context() as patch, zipfile.ZipFile(path, "w", method) as file:
        patch.setattr("warnings.warn", lambda *args, **options: None)
        for name, data in members:
            file.writestr(name, data)
    return path


def test_arrays_come_back_row_by_row_in_this_machines_order(tmp_path):
    numbers = np.arange(6.0).reshape(2, 3)
    path = saved(tmp_path / "good.npz", a=np.asfortranarray(numbers), b=numbers.astype(">f8"), c=np.array("text"))
    with NumberArchive(path) as archive:
        for name in "ab":
            found = archive.read(name, "f", (2, 3))
            np.testing.assert_array_equal(found, numbers)
            assert found.dtype == np.float64
            assert found.flags.c_contiguous
        assert str(archive.read("c", "U", ())) == "text"


@pytest.mark.parametrize(
    ("name", "kind", "shape", "said"),
    [("a", "f", (3, 1), "expected float64"), ("a", "i", (3,), "expected int64"), ("b", "f", (3,), "it has no b")],
)
def test_another_kind_or_shape_is_refused(tmp_path, name, kind, shape, said):
    with (
        NumberArchive(saved(tmp_path / "a.npz", a=np.zeros(3))) as archive,
        pytest.raises(UnreadableAnswerError, match=said),
    ):
        archive.read(name, kind, shape)


def test_what_is_no_ordinary_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (tmp_path / "pipe.npz", tmp_path, "/dev/zero", "/dev/null"):
        with pytest.raises(UnreadableAnswerError, match="expected an ordinary file"):
            NumberArchive(path)


def test_a_huge_file_is_refused_unread(tmp_path):
    with open(tmp_path / "huge.npz", "wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(UnreadableAnswerError, match="expected at most"):
        NumberArchive(tmp_path / "huge.npz")


def header_of(shape, descr="<f8"):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    return header.getvalue()


BAD = {
    "twice": [("a.npy", npy(np.zeros(3))), ("a.npy", npy(np.ones(3)))],
    "no array": [("a.txt", b"text")],
    "objects": [("a.npy", header_of((1,), "|O") + bytes(8))],
    "short numbers": [("a.npy", npy(np.zeros(3, "f4")))],
    "complex numbers": [("a.npy", npy(np.zeros(3, complex)))],
    "records": [("a.npy", header_of((1,), [("x", "<f8")]) + bytes(8))],
    "more than there is": [("a.npy", header_of((10**12,)) + bytes(8))],
    "less than there is": [("a.npy", npy(np.zeros(3)) + b"more")],
    "negative": [("a.npy", header_of((-1,)) + bytes(8))],
    "too many": [(f"{number}.npy", npy(np.zeros(1))) for number in range(101)],
    "empty member": [("a.npy", b"")],
}


@pytest.mark.parametrize("members", BAD.values(), ids=BAD)
def test_members_that_are_not_what_numpy_writes_are_refused(tmp_path, members):
    with pytest.raises(UnreadableAnswerError, match="damaged, or no file of arrays"):
        NumberArchive(zipped(tmp_path / "bad.npz", *members))


def test_other_ways_of_packing_are_refused(tmp_path):
    path = zipped(tmp_path / "bad.npz", ("a.npy", npy(np.zeros(3))), method=zipfile.ZIP_BZIP2)
    with pytest.raises(UnreadableAnswerError, match="numpy does not use"):
        NumberArchive(path)


def test_a_truth_value_is_0_or_1(tmp_path):
    path = zipped(tmp_path / "bad.npz", ("a.npy", header_of((2,), "|b1") + b"\x01\x02"))
    with NumberArchive(path) as archive, pytest.raises(UnreadableAnswerError, match="neither true nor false"):
        archive.read("a", "b", (2,))


def test_numbers_that_were_changed_on_the_disk_are_refused(tmp_path):
    data = bytearray(zipped(tmp_path / "a.npz", ("a.npy", npy(np.zeros(50)))).read_bytes())
    data[250] ^= 1
    (tmp_path / "a.npz").write_bytes(bytes(data))
    with pytest.raises(UnreadableAnswerError, match="damaged"), NumberArchive(tmp_path / "a.npz") as archive:
        archive.read("a", "f", (50,))
