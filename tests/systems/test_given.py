"""Systems in every form that people bring them in, and what is wrong with some."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import infoplane as ip
from infoplane.errors import InvalidEncoderError
from infoplane.systems.given import read_system, read_systems, systems_from_frame

JOINT = ip.Joint.from_counts([[3, 1], [2, 2], [1, 4]], x_labels=["a", "b", "c"], x_names="item")
W = np.array([[0.25, 1.0, 0.5], [0.75, 0.0, 0.5]])
FRAME = pd.DataFrame(W.T, index=["a", "b", "c"], columns=["dark", "light"])
HARD = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (W, W),
        (FRAME, W),
        (FRAME.loc[["c", "a", "b"]], W),
        (FRAME.reset_index(drop=True), W),
        (FRAME.rename_axis("item").reset_index(), W),
        (pl.DataFrame({"item": ["b", "a", "c"], "dark": [1.0, 0.25, 0.5], "light": [0.0, 0.75, 0.5]}), W),
        (["dark", "light", "dark"], HARD),
        (np.array([7, 2, 7]), HARD),
        (pd.Series(["u", "v", "u"], index=["a", "b", "c"]), HARD),
        (pd.Series(["v", "u", "u"], index=["b", "c", "a"]), HARD[::-1]),
        (pa.table({"item": ["b", "a", "c"], "dark": [1.0, 0.25, 0.5], "light": [0.0, 0.75, 0.5]}), W),
        (pl.Series(["u", "v", "u"]), HARD),
        (pa.array(["u", "v", "u"]), HARD),
        (pa.chunked_array([["u"], ["v", "u"]]), HARD),
        ([HARD], HARD),
    ],
)
def test_one_system_in_every_form(given, expected):
    (system,) = read_systems(JOINT, given)
    assert np.array_equal(system.encoder, expected)


def test_labels_of_x_are_matched_and_those_of_z_kept():
    systems = read_systems(JOINT, {"map": {"c": "u", "a": "u", "b": "v"}, "frame": FRAME})
    assert [one.name for one in systems] == ["map", "frame"]
    assert np.array_equal(systems[0].encoder, HARD)
    assert systems[0].z_labels == ("u", "v")
    assert systems[1].z_labels == ("dark", "light")


def test_several_systems_with_their_own_numbers_of_words():
    systems = read_systems(JOINT, [W, [0, 1, 2], np.ones((1, 3))])
    assert [one.name for one in systems] == ["0", "1", "2"]
    assert [len(one.encoder) for one in systems] == [2, 3, 1]
    assert len(read_systems(JOINT, np.stack([W, W]))) == 2


def test_a_solution_is_a_system():
    joint = ip.datasets.paper_uniform()
    s = ip.solve(joint, ip.bottleneck(0.2), "accelerated", starts=1)
    (system,) = read_systems(joint, s)
    np.testing.assert_allclose(system.encoder, s.encoder, atol=1e-15)


def test_counts_are_divided_by_their_sums():
    counts = pd.DataFrame([[1, 3], [5, 0], [2, 2]], index=["a", "b", "c"], columns=["dark", "light"])
    assert np.array_equal(read_systems(JOINT, counts, counts=True)[0].encoder, W)
    assert np.array_equal(read_system(counts.to_numpy().T, counts=True, axes="zx").encoder, W)


@pytest.mark.parametrize(
    ("given", "counts", "message"),
    [
        (
            {"en": W * [[1.0, 1.0, 1.2]]},
            False,
            r"system 'en': p\(z\|x\) must sum to 1 .* found the sum 1\.2 at x = 'c'.*counts=True",
        ),
        ({"en": W.T}, False, r"here the rows do, not the columns\. For a row per x say axes=\"xz\""),
        (
            {"en": np.array([[1, 3], [5, 0], [2, 2]])},
            True,
            r"\(any, 3\); found \(3, 2\)\. For a row per x say axes=\"xz\"",
        ),
        ({"en": FRAME.rename(index={"b": "q"})}, False, r"the joint has no x 'q', and nothing is said of x = 'b'"),
        ({"en": FRAME.drop(index="b")}, False, r"nothing is said of x = 'b'"),
        ({"en": FRAME.iloc[[0, 1, 2, 1]]}, False, r"found 'b' twice, at 1 and at 3"),
        ({"en": W * [[1, -1, 1]]}, False, r"found -1\.0 at x = 'b', z = 0"),
        ({"en": np.array([[1, 0, 2], [1, 0, 0]])}, True, r"the item x = 'b' was never named"),
        ({"en": ["u", None, "v"]}, False, r"no missing values; found 1"),
        ({"en": [0.25, 0.75, 0.5]}, False, r"found fractions"),
        ({"en": [[1, 2], [3]]}, False, r"table of numbers"),
        ({"en": ["u", "v"]}, False, r"\(any, 3\); found \(2, 2\)"),
        ({}, False, r"at least one system"),
        (HARD.tolist(), False, r"one table p\(z\|x\), or 2 systems of hard labels: give numpy\.array"),
        (3, False, r"expected a system"),
    ],
)
def test_what_is_refused_and_where_it_stands(given, counts, message):
    with pytest.raises(InvalidEncoderError, match=message):
        read_systems(JOINT, given, counts)


ROWS = pd.DataFrame(
    {
        "language": ["en", "en", "en", "en", "fr", "fr", "fr"],
        "item": ["a", "a", "b", "c", "a", "b", "c"],
        "word": ["dark", "light", "dark", "light", "noir", "noir", "blanc"],
        "n": [1, 3, 4, 2, 1, 1, 1],
    }
)


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame])
def test_naming_data_one_row_a_naming(made):
    systems = systems_from_frame(made(ROWS.to_dict("list")), "item", "word", "language", "n")
    en, fr = read_systems(JOINT, systems)
    assert (en.name, fr.name) == ("en", "fr")
    assert en.z_labels == ("dark", "light")
    np.testing.assert_allclose(en.encoder, [[0.25, 1.0, 0.0], [0.75, 0.0, 1.0]], atol=1e-15)
    assert fr.z_labels == ("blanc", "noir")


def test_naming_data_of_one_system_and_of_items_in_two_columns():
    assert list(systems_from_frame(ROWS[ROWS.language == "fr"], "item", "word")) == ["0"]
    two = ROWS.assign(row=[1, 1, 2, 2, 1, 2, 2])
    assert systems_from_frame(two, ["row", "item"], "word", "language")["fr"].index.tolist() == [
        (1, "a"),
        (2, "b"),
        (2, "c"),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS.assign(n=[1, 3, 0, 2, 1, 1, 1]), r"system 'en': the item x = 'b' has no naming"),
        (ROWS.assign(n=[1, 3, 4, 2, 0, 0, 0]), r"system 'fr' has no naming"),
    ],
)
def test_items_that_nobody_named(rows, message):
    with pytest.raises(InvalidEncoderError, match=message):
        systems_from_frame(rows, "item", "word", "language", "n")


def test_systems_whose_names_are_written_alike_are_refused():
    """1 and "1" became one system, and the namings of the other were lost."""
    rows = pd.DataFrame({"who": pd.Series([1, 1, "1", "1"], dtype=object), "item": [0, 1, 0, 1], "word": list("uvuu")})
    with pytest.raises(InvalidEncoderError, match=r"found 1 and '1', both written '1'"):
        systems_from_frame(rows, "item", "word", "who")
    with pytest.raises(InvalidEncoderError, match=r"found '1' and 1, both written '1'"):
        read_systems(JOINT, {"1": W, 1: W})


@pytest.mark.parametrize("given", [[[10**400, 1, 1], [1, 1, 1]], [["a", 1, 1]]])
def test_what_no_float_holds_is_no_system(given):
    with pytest.raises(InvalidEncoderError, match="expected a table of numbers"):
        ip.capacity(given, counts=True)


SQUARE = np.array([[8.0, 1.0, 0.0], [1.0, 1.0, 5.0], [1.0, 0.0, 2.0]])


def test_square_arrays_of_counts_are_not_transposed_in_silence():
    """A row per x or a row per z: 3 x 3 counts do not tell, and the wrong guess was another system."""
    for counted in (SQUARE, {"en": SQUARE.tolist()}, SQUARE[None]):
        with pytest.raises(
            InvalidEncoderError, match=r'shape \(3, 3\) may have its x in either axis.*axes="zx".*axes="xz"'
        ):
            read_systems(JOINT, counted, counts=True)
    turned, straight = (read_systems(JOINT, SQUARE, True, axes)[0].encoder for axes in ("xz", "zx"))
    np.testing.assert_allclose(straight, SQUARE / SQUARE.sum(axis=0))
    np.testing.assert_allclose(turned, SQUARE.T / SQUARE.sum(axis=1))
    framed = read_systems(JOINT, pd.DataFrame(SQUARE, index=["a", "b", "c"]), counts=True)[0].encoder
    np.testing.assert_array_equal(framed, turned)
    ixz = {
        axes: ip.efficiency(JOINT, SQUARE, counts=True, axes=axes, max_solves=1).ixz_bits[0] for axes in ("xz", "zx")
    }
    assert abs(ixz["xz"] - ixz["zx"]) > 0.01
    with pytest.raises(ip.InvalidOptionError, match="axes must be"):
        read_systems(JOINT, SQUARE, True, "xy")


def test_probabilities_say_themselves_which_axis_is_which_unless_both_sum_to_1():
    columns = SQUARE / SQUARE.sum(axis=0)
    np.testing.assert_allclose(read_systems(JOINT, columns)[0].encoder, columns, rtol=1e-15)
    with pytest.raises(InvalidEncoderError, match=r'the rows do, not the columns.*axes="xz"'):
        read_systems(JOINT, columns.T)
    both = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    with pytest.raises(InvalidEncoderError, match="either axis"):
        read_systems(JOINT, both)
    np.testing.assert_allclose(read_systems(JOINT, both, axes="xz")[0].encoder, both.T, rtol=1e-15)
    np.testing.assert_array_equal(read_systems(JOINT, np.eye(3))[0].encoder, np.eye(3))
    # A solution is known to be (|Z|, |X|).
    found = ip.solve(JOINT, ip.bottleneck(0.9), "merging")
    assert read_systems(JOINT, found)[0].encoder.shape == found.encoder.shape


def test_a_nested_list_of_counts_is_no_list_of_hard_labels():
    with pytest.raises(
        InvalidEncoderError, match="system '0': with counts a system is a table; found a flat list of numbers"
    ):
        read_systems(JOINT, SQUARE.tolist(), counts=True)


def test_counts_without_a_joint_do_not_tell_either():
    counted = np.array([[2, 2, 0], [0, 0, 5]])
    with pytest.raises(InvalidEncoderError, match="either axis"):
        ip.capacity(counted, counts=True)
    assert len(ip.capacity(counted, counts=True, axes="zx").masses) == 3
    assert len(ip.capacity(counted.T, counts=True, axes="xz").masses) == 3


def test_a_frame_that_lies_on_its_side_is_refused():
    turned = pd.DataFrame(SQUARE / SQUARE.sum(axis=0), columns=["a", "b", "c"])
    with pytest.raises(InvalidEncoderError, match="here the columns have the labels of x"):
        read_systems(JOINT, turned)


def test_a_solution_is_taken_by_the_labels_of_its_x():
    counts = np.array([[40, 3], [5, 30], [12, 14], [2, 25]])
    joint = ip.Joint.from_counts(counts, x_labels=list("abcd"))
    turned = ip.Joint.from_counts(counts[::-1], x_labels=list("dcba"))
    found = ip.partition(joint, clusters=2)
    one, other = (ip.efficiency(made, found).drop(columns="optimum").iloc[0, 2:5] for made in (joint, turned))
    np.testing.assert_allclose(one.astype(float), other.astype(float), atol=1e-12)
    with pytest.raises(ip.InvalidEncoderError, match="the joint has no x 'a'"):
        ip.efficiency(ip.Joint.from_counts(counts), found)
