"""``infoplane solve``: numbers, exit codes, and what is refused."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
import verify

UNIFORM = ("solve", "paper_uniform", "--starts", "2")


def check_numbers(found, joint):
    """Every number of the JSON object against p(x, y) and its encoder."""
    encoder, problem = np.array(found["encoder"]), found["problem"]
    verify.check_encoder(joint.p_xy, encoder)
    ixz, iyz = verify.mutual_informations(joint.p_xy, encoder)
    loss = verify.lagrangian(joint.p_xy, encoder, (problem["rho_z"], problem["rho_zx"], problem["rho_zy"]))
    assert found["loss_nats"] == pytest.approx(loss, abs=1e-10)
    assert found["ixz_bits"] == pytest.approx(ixz / np.log(2), abs=1e-10)
    assert found["iyz_bits"] == pytest.approx(iyz / np.log(2), abs=1e-10)
    assert found["clusters"] == len(encoder)


@pytest.mark.parametrize(
    "options",
    [
        ("--gamma", "0.2"),
        ("--problem", "funnel", "--beta", "2.5"),
        ("--problem", "deterministic-bottleneck", "--gamma", "0.3"),
        ("--problem", "generalised-bottleneck", "--gamma", "0.3", "--a", "0.5"),
        ("--problem", "lagrangian", "--rho", "-0.8,-0.2,1"),
        ("--gamma", "0.2", "--solver", "ib-2", "--step", "exact", "--penalty", "auto", "--relaxation", "1"),
        ("--gamma", "0.2", "--solver", "blahut-arimoto", "--clusters", "2", "--init", "random", "--tol", "1e-7"),
    ],
)
def test_json_is_one_object_with_numbers_that_are_true(run, options):
    said = run(*UNIFORM, *options, "--json")
    assert said.code == 0
    check_numbers(said.json, ip.datasets.paper_uniform())
    assert said.json["status"] == "STATIONARY"
    assert said.json["lower_bound_nats"] is said.json["gap_nats"] is None
    assert set(said.json["residuals"]) == {"primal", "dual", "stationarity"}
    assert said.json["x_labels"] == [0, 1, 2]
    assert said.err == ""


def test_known_answer_and_seed(run):
    first, again, other = (
        run("solve", "paper_uniform", "--gamma", "0.2", "--seed", s, "--json").json for s in (0, 0, 1)
    )
    assert first["loss_nats"] == pytest.approx(-0.240760, abs=2e-6)
    assert first["encoder"] == again["encoder"]
    assert first["seed"] == 0
    assert other["seed"] == 1


def test_lagrangian_is_the_bottleneck_with_its_coefficients(run):
    by_name = run(*UNIFORM, "--gamma", "0.2", "--json").json
    by_rho = run(*UNIFORM, "--problem", "lagrangian", "--rho", "-0.8,-0.2,1", "--json").json
    assert by_rho["loss_nats"] == pytest.approx(by_name["loss_nats"], abs=1e-9)


@pytest.mark.parametrize(("options", "init"), [((), "spread"), (("--init", "mixed"), "mixed")])
def test_starts_are_the_librarys_unless_said(run, options, init):
    """A funnel's starts are spread; a few iterations leave every run where its start decides."""
    command = ("solve", "heart", "--problem", "funnel", "--beta", "3", "--solver", "pf-2", "--starts", "3")
    found = run(*command, "--max-iter", "5", "--json", *options).json
    expected = ip.solve(
        ip.datasets.heart(), ip.funnel(3.0), "pf-2", starts=3, max_iter=5, rng=0, **({"init": init} if options else {})
    )
    assert [one["loss_nats"] for one in found["starts"]] == [one.loss for one in expected.starts]
    asked = ip.solve(ip.datasets.heart(), ip.funnel(3.0), "pf-2", starts=3, max_iter=5, rng=0, init=init)
    assert found["loss_nats"] == asked.loss


@pytest.mark.parametrize("solver", [(), ("--solver", "blahut-arimoto"), ("--solver", "envelope")])
def test_the_limits_of_a_proof_go_with_certify(run, solver):
    """Also beside another solver, which has no such options."""
    command = ("solve", "heart", "--gamma", "0.2", "--starts", "1", "--json")
    said = run(*command, *solver, "--certify", "--max-cells", "10", "--max-seconds", "60")
    assert said.code == 4
    assert "more than max_cells = 10" in said.err
    assert "Not certified: the optimum may be " in said.err
    assert said.json["gap_nats"] > 1e-6
    assert said.json["solver"] == (solver or ("", "envelope"))[1]


def test_the_limits_of_a_proving_solver_are_its_own_options(run):
    said = run("solve", "heart", "--gamma", "0.2", "--solver", "envelope", "--max-cells", "10", "--json")
    assert said.code == 0
    assert said.json["gap_nats"] > 1e-6


def test_what_is_not_certified_says_so_and_what_is_exits_0(run):
    said = run(*UNIFORM, "--gamma", "0.2", "--certify", "--json")
    assert (said.code, said.json["status"]) == (0, "CERTIFIED")
    assert said.json["gap_nats"] <= 1e-6


def test_the_message_fits_the_solver(run):
    plain = run(*UNIFORM, "--gamma", "0.2", "--solver", "blahut-arimoto", "--max-iter", "2", "--json")
    assert plain.json["message"].endswith("raise max_iter")
    fixed = run(*UNIFORM, "--gamma", "0.2", "--solver", "ib-2", "--penalty", "9", "--max-iter", "2", "--json")
    assert fixed.json["message"].endswith("raise max_iter, or use penalty='auto'")
    assert fixed.json["message"] in fixed.err


def test_table_says_units_status_and_labels(run):
    said = run("solve", "heart", "--gamma", "0.2", "--starts", "1", "--clusters", "3")
    assert said.code == 0
    for words in ("nats", "bits of H(X) = 3.767341", "stationary", "anaemia", "p(z|x)"):
        assert words in said.out


def test_not_converged_is_4_and_still_prints(run):
    said = run(*UNIFORM, "--gamma", "0.2", "--solver", "ib-2", "--max-iter", "2", "--json")
    assert said.code == 4
    assert said.json["converged"] is False
    assert said.err.startswith("Not converged: ")
    check_numbers(said.json, ip.datasets.paper_uniform())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--problem bottleneck needs --gamma"),
        (("--beta", "2", "--rho", "1,2,3"), "takes --gamma, not --rho"),
        (("--problem", "funnel", "--beta", "2", "--a", "1"), "takes --beta, not --a"),
        (("--problem", "generalised-bottleneck", "--gamma", "0.2"), "needs --a"),
        (("--problem", "lagrangian"), "needs --rho"),
        (("--problem", "lagrangian", "--rho", "1,2"), "expected 3 numbers"),
        (("--problem", "lagrangian", "--rho", "1,2,x"), "expected a finite number, found 'x'"),
        (("--problem", "lagrangian", "--rho", "0,0,0"), "nothing to minimise"),
        (("--problem", "tunnel"), "'tunnel' is not one of"),
        (("--gamma", "1.5"), "gamma must be in (0, 1]"),
        (("--gamma", "nan"), "gamma must be in (0, 1]"),
        (("--gamma", "0.2", "--solver", "newton"), "there is no solver 'newton'"),
        (("--gamma", "0.2", "--solver", "blahut-arimoto", "--penalty", "2"), "blahut-arimoto has no option --penalty"),
        (("--gamma", "0.2", "--solver", "ib-1", "--criterion", "lagrangian"), "ib-1 has no option --criterion"),
        (
            ("--gamma", "0.2", "--max-cells", "9"),
            "--max-cells; it needs --solver envelope or columns or task-proof, or --certify",
        ),
        (("--gamma", "0.2", "--certify", "--max-cells", "0"), "max_cells must be a positive whole number"),
        (("--gamma", "0.2", "--certify", "0"), "certify must be True, False or a positive gap in nats"),
        (("--problem", "lagrangian", "--rho", "-1,-1,1", "--certify"), "a global certificate needs"),
        (("--gamma", "0.2", "--criterion", "lagrangian"), "--criterion; it needs --solver merging"),
        (("--gamma", "0.2", "--penalty", "-1"), "penalty must be"),
        (("--gamma", "0.2", "--penalty", "large"), "expected a finite number, found 'large'"),
        (("--gamma", "0.2", "--relaxation", "3"), "relaxation must be in (0, 2]"),
        (("--gamma", "0.2", "--step", "giant"), "'giant' is not one of"),
        (("--gamma", "0.2", "--starts", "0"), "--starts"),
        (("--gamma", "0.2", "--seed", "-1"), "--seed"),
        (("--gamma", "0.2", "--tol", "2"), "tol must be in (0, 1)"),
        (("--problem", "funnel", "--beta", "2", "--solver", "ib-1"), "ib-1"),
    ],
)
def test_usage_errors_are_2_and_say_why(run, options, words):
    said = run(*UNIFORM, *options)
    assert said.code == 2
    assert words in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_the_encoder_is_written(run, tmp_path):
    for kind in ("csv", "parquet", "npz"):
        said = run("solve", "heart", "--gamma", "0.2", "--starts", "2", "--json", "--out", tmp_path / f"e.{kind}")
        assert said.code == 0
        W = np.array(said.json["encoder"])
        if kind == "npz":
            held = ip.Frontier.load(tmp_path / "e.npz").runs[0]
            assert np.array_equal(held.encoder, W)
        else:
            read = pd.read_csv if kind == "csv" else pd.read_parquet
            frame = read(tmp_path / f"e.{kind}")
            assert frame.columns.tolist() == ["risk_factors", *(f"z{z}" for z in range(len(W)))]
            assert pytest.approx(W, abs=1e-15) == frame.iloc[:, 1:].to_numpy().T
    assert run("solve", "heart", "--gamma", "0.2", "--out", tmp_path / "e.txt").code == 2


def test_clusters_are_listed_by_mass_with_what_they_predict(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = run("solve", "heart", "--gamma", "0.2", "--starts", "2")
    assert max(map(len, said.out.splitlines())) <= 80
    listing = said.out[said.out.index("clusters, largest first") :]
    assert "p(y|z)" in listing
    assert "man alive 0.36" in listing
    masses = [float(line.split()[1]) for line in listing.splitlines() if line.strip()[:2].rstrip().isdigit()]
    assert masses == sorted(masses, reverse=True)


def test_one_cluster_is_not_a_plural(run):
    out = run("solve", "heart", "--gamma", "1", "--solver", "merging").out
    assert "1 cluster" in out
    assert "1 clusters" not in out
    assert "1 cluster, largest first" not in out
    assert "-0.000000" not in out


def test_a_cap_on_the_leakage(run):
    said = run("solve", "paper_uniform", "--problem", "funnel", "--max-leakage-bits", "0.01", "--json")
    assert said.code == 0
    assert said.json["iyz_bits"] <= 0.01 == said.json["max_iyz_bits"]
    assert said.json["ixz_bits"] <= said.json["upper_bound_ixz_bits"]
    said = run("solve", "paper_uniform", "--problem", "funnel", "--max-leakage-bits", "0.01")
    assert "certified: I(X;Z)" in said.out


def test_a_cap_on_the_leakage_with_confidence(run, tmp_path):
    """What the numbers are about comes first; too small a cap ends with code 4 and the cap that the records can support."""
    cap = ("solve", "heart", "--problem", "funnel", "--max-leakage-bits")
    said = run(*cap, "0.1", "--confidence", "0.95", "--seed", "1", "--json")
    assert said.code == 0
    assert next(iter(said.json)) == "about"
    assert said.json["leakage_bound_bits"] <= 0.1
    assert said.json["path"][said.json["chosen"]]["bound_bits"] == said.json["leakage_bound_bits"]
    assert said.json["fitted_records"] + said.json["tested_records"] == said.json["records"]
    (tmp_path / "rows.csv").write_text("job,ill\n" + 20 * "a,1\na,0\nb,0\nc,1\nc,1\n")
    few = ("solve", tmp_path / "rows.csv", "--x", "job", "--y", "ill", *cap[2:], "0.001", "--confidence", "0.95")
    said = run(*few, "--json")
    assert said.code == 4
    assert said.json["clusters"] == 1 < 1000 * said.json["least_cap_bits"]
    assert run(*few).out.count("100 records cannot support") == 1
    plain = run(*cap, "0.01")
    assert plain.out.startswith("About this table, not the population.")
    assert "caution" not in plain.out  # the first line has said it
    for wrong in (("--certify",), ("--gamma", "0.2")):
        assert run(*cap, "0.1", "--confidence", "0.95", *wrong).code == 2


@pytest.mark.parametrize("others", [("--gamma", "0.2"), ("--problem", "funnel", "--beta", "2")])
def test_a_cap_on_the_leakage_takes_the_place_of_the_parameter(run, others):
    said = run("solve", "paper_uniform", "--max-leakage-bits", "0.01", *others)
    assert said.code == 2
    assert "takes the place of --beta" in said.err


def test_a_cap_on_clusters_is_said_where_the_proof_misses_it(run):
    said = run("solve", "heart", "--gamma", "0.05", "--clusters", "2", "--certify")
    assert said.code == 4
    assert "Not certified: best found with 2 clusters, the cap; without one the optimum may be" in said.err
    assert "as many as allowed" in " ".join(said.out.split())
    found = run("solve", "heart", "--gamma", "0.05", "--clusters", "2", "--json").json
    assert (found["clusters"], found["cluster_cap"], found["at_cap"]) == (2, 2, True)


def test_beta_of_a_bottleneck_is_one_over_gamma(run):
    by_gamma, by_beta = (
        run("solve", "paper_uniform", flag, value, "--json").json
        for flag, value in (("--gamma", "0.2"), ("--beta", "5"))
    )
    assert by_beta["loss_nats"] == by_gamma["loss_nats"]
    assert by_beta["problem"]["parameter"] == 0.2
    for flag, value in (("gamma", "0.2"), ("beta", "5")):  # the title is in the user's own notation
        assert f"bottleneck at {flag} {value} of" in run("solve", "paper_uniform", f"--{flag}", value).out
    both = run("solve", "paper_uniform", "--gamma", "0.2", "--beta", "5")
    assert both.code == 2
    assert "not both" in both.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve", "heart", "--gamma", "0.2"), "solving"),
        (("solve", "paper_uniform", "--problem", "funnel", "--max-leakage-bits", "0.01"), "solving and proving"),
        (("frontier", "paper_uniform", "--points", "3"), "range of the grid"),
        (("compare", "paper_uniform", "--solver", "accelerated", "--starts", "1"), "range of the grid"),
    ],
)
def test_work_is_seen_to_go_on(run, monkeypatch, arguments, words):
    shown, heard = [], []

    @contextmanager
    def seen(title, lines):
        shown.append((title, lines))
        yield heard.append

    module = {"solving and proving": "caps", "range of the grid": "frontier"}.get(words, "solve")
    monkeypatch.setattr(f"infoplane.cli.{module}.working", seen)
    assert run(*arguments).code == 0
    assert shown == [(words, True)]
    assert bool(heard) == (words != "solving and proving")  # the search under a cap has nothing to tell
