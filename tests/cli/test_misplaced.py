"""What is said where a word, an option or a file belongs somewhere else."""

from __future__ import annotations

import pytest

TABLES = ("--members", "m.csv", "--holdout", "h.csv", "--synthetic", "s.csv", "-o", "x.csv")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["query losses", "train.csv"], "--logits FILE or --probabilities FILE"),
        (["query lira", "train.csv"], "--shadow FILE, --inclusion FILE"),
        (["query", "m.csv", "h.csv", "s.csv"], "--members, --holdout and --synthetic"),
        (["query", "nn", "m.csv", "-o", "x.csv"], "--members, --holdout and --synthetic"),
        (["attribute", "m.csv", "h.csv"], "--members FILE --holdout FILE"),
        (["shift", "--members", "m.csv"], "mipaudit shift MEMBERS HOLDOUT"),
        (["shift", "m.csv", "h.csv", "--unit-col", "x"], "--id-col"),
        (["query", "nn", *TABLES, "--unit-col", "x"], "--keep"),
        (["query losses", "--members", "m.npz"], "--holdout-logits"),
        (
            ["query", "nn", *TABLES, "--max-advantage", "0.1"],
            "--max-advantage is an option of estimate, attack, attribute and render, not of query.",
        ),
        (["attack", "s.csv", "--blind", "s.json"], "is an option of estimate, not of attack."),
        (["query", "nn", *TABLES, "--prior", "0.5"], "estimate and other commands, not of query."),
        (["query lira", "--shadow", "s.npy", "--keep", "x"], "an option of query, not of"),
        (["estimate", "s.csv", "--scor-col", "x"], "Did you mean --score-col?"),
        (["estimate", "s.csv", "--blod"], "Did you mean --blind?"),
        (["query lira", "--inclusion", "i.npy"], "--shadow shadows.npz"),
        (["shift", "-", "-"], "Write one of them to a file first."),
        (["query losses", "--logits", "x.npz", "-o", "x.json"], "-o scores.parquet"),
        (["attribute", "g.csv", "--attribute-col", "guess"], "--guess-col NAME"),
    ],
)
def test_the_way_out_is_said(mipaudit, tmp_path, words, hint):
    first, *rest = words
    (tmp_path / "i.npy").write_bytes(b"")

    done = mipaudit(*first.split(), *rest)

    assert done.returncode == 2
    assert hint in done.stderr
    assert "Possible options" not in done.stderr
    assert done.stdout == ""


def test_what_is_no_report_of_shift_names_shift(mipaudit, tmp_path):
    (tmp_path / "scores.csv").write_text("member,loss\n" + "1,0.5\n0,0.25\n" * 30)

    done = mipaudit("estimate", "scores.csv", "--blind", "scores.csv")

    assert done.returncode == 2
    assert "mipaudit shift MEMBERS HOLDOUT -f json" in done.stderr


def test_a_report_of_shift_is_verified_from_two_tables(mipaudit, tmp_path):
    for seed, name in enumerate(("m.csv", "h.csv")):
        rows = "".join(f"{(row * 7 + seed) % 31},{row % 5}\n" for row in range(40))
        (tmp_path / name).write_text("age,ward\n" + rows)
    mipaudit("shift", "m.csv", "h.csv", "-f", "json", "-o", "shift.json")

    for wrong in ([], ["--input", "m.csv", "--input", "h.csv"], ["--input", "m.csv"]):
        done = mipaudit("verify", "shift.json", *wrong)
        assert done.returncode == 2
        assert "--members FILE --holdout FILE" in done.stderr
        assert "--input" not in done.stderr
    right = mipaudit("verify", "shift.json", "--members", "m.csv", "--holdout", "h.csv")
    assert right.returncode == 0


def test_what_cannot_be_verified_says_what_to_do_instead(mipaudit, tmp_path):
    rows = "".join(f"{at % 2},{at % 3},0.25,0.5,0.25\n" for at in range(60))
    (tmp_path / "p.csv").write_text("member,label,a,b,c\n" + rows)
    made = mipaudit("query", "losses", "--probabilities", "p.csv", "-o", "s.csv", "-f", "json")
    (tmp_path / "r.json").write_text(made.stdout)

    done = mipaudit("verify", "r.json", "--input", "s.csv")

    assert done.returncode == 2
    assert "seed" not in done.stderr
    assert "on the same files" in done.stderr


def test_shift_says_what_to_do_with_a_cell_in_its_own_options(mipaudit, tmp_path):
    cells = [f"{row}.5" for row in range(40)]
    (tmp_path / "h.csv").write_text("\n".join(["income", *cells]) + "\n")
    (tmp_path / "m.csv").write_text("\n".join(["income", *cells[:30], "secret", *cells]) + "\n")

    done = mipaudit("shift", "m.csv", "h.csv")

    assert done.returncode == 2
    assert "--ignore" in done.stderr
    assert "--score-col" not in done.stderr
    assert "secret" not in done.stderr
