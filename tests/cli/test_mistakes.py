"""Mistakes that new users make: each is refused, and the way out is said."""

from __future__ import annotations

import io
import json
import shlex
import zipfile

import numpy as np
import pandas as pd
import pytest

import mipaudit as package
from tests.within import run_within

MISTAKES = [
    # Files of several audits, of one class, of more than two labels.
    ("estimate model_0.csv model_1.csv", "`mipaudit compare FILES --baseline NAME`"),
    ("estimate coins_0.csv coins_1.csv coins_2.csv", "`mipaudit compare FILES --baseline NAME`"),
    ("check model_0.csv model_1.csv", "`mipaudit compare FILES --baseline NAME`"),
    ("records model_0.csv model_1.csv", "If each file is another model, run the command once"),
    ("estimate ids.csv", "For one score per id: --unit-col id"),
    ("estimate long.csv", 'To audit one model alone: --where "model = VALUE".'),
    (
        "estimate m.csv h.csv",
        "If members and holdout have a file each: --members FILE --holdout FILE.",
    ),
    ("estimate --members m.csv --holdout loss.csv", "the same name in every file"),
    ("estimate three.csv", "Rows of known labels: train 30, val 10, test 20. --member-value train"),
    ("estimate odd.csv", "Say with --member-value which one means member"),
    ("compare model_0.csv model_1.csv --baseline model_0.csv", "without the ending"),
    ("estimate s.csv,m.csv", "Separate files by spaces, not by commas."),
    # Kinds of files.
    ("estimate scores.npz", "pandas.DataFrame(dict(numpy.load('scores.npz')))"),
    ("estimate x.db", "pandas.read_sql('select ...', sqlite3.connect('x.db'))"),
    ("estimate x.png", "x.png: a picture."),
    ("estimate x.xlsx", "pandas.read_excel('x.xlsx')"),
    ("estimate x.pkl", "pandas.read_pickle('x.pkl')"),
    ("estimate rows.json", "pandas.read_json('rows.json')"),
    ("estimate semicolon.csv", "a number with a decimal comma"),
    ("estimate percent.csv", "write plain numbers, without a unit or %"),
    ("estimate lists.parquet", "A list of numbers is no score."),
    ("estimate lists.parquet --score-col score", "A list of numbers is no score."),
    # Columns in a place that is not theirs.
    ("estimate s.csv --score-col member", "'member' says who is a member, and is no score."),
    ("estimate s.csv --member-col score", "score (given to another option, such as --member-col"),
    (
        "estimate s.csv --member-value 2",
        "There is no member record: every row",
    ),
    (
        "estimate s.csv --where 'member == 1'",
        "There is no holdout record: every row",
    ),
    ("estimate s.csv --where 'member != 1'", "add a column that marks the rows to keep"),
    ("estimate s.csv --where 'score > 1'", "add a column that marks the rows to keep"),
    ("estimate s.csv --where member=train", "Write a number, as in 'member = 1'."),
    # Options of other tools, of other commands, and typed otherwise.
    ("estimate s.csv -score-col score", "Did you mean --score-col?"),
    ("estimate s.csv --fail-on inconclusive", "Did you mean --on-inconclusive fail?"),
    ("estimate s.csv --max-advantage", "Write --max-advantage X: the advantage must be at most X."),
    ("records s.csv --max-advantage 0.1", "Did you mean --max-risk"),
    ("compare s.csv --max-advantage 0.1", "Did you mean --max-increase"),
    ("simulate gauss-shift-1 -n 100", "Did you mean --n-members and --n-holdout?"),
    ("verify r.json s.csv", "Did you mean --input s.csv?"),
    ("init policy.toml", "Did you mean --output policy.toml?"),
    ("bounds 1", "--epsilon 1."),
    ("bounds --epsilon", "--epsilon 1."),
    ("simulate laplace-1 --n-members 1.5", "'1.5' is not a whole number. See"),
    ("schema estimate", "One schema describes the reports of all commands."),
    ("noise s.csv", "Write --eta X: "),
    ("shift m.csv", "shift takes two tables: mipaudit shift MEMBERS HOLDOUT"),
    ("epsilon --canaries 100 --guesses 10", "--correct is how many of the guesses were right."),
    # Values.
    ("estimate s.csv --max-advantage 0", "No data can show that nothing leaks"),
    ("estimate s.csv --max-advantage 0 --prior 0.1", "consider --max-eta"),
    (
        "estimate s.csv --max-advantage 1,2",
        "Write 1.2, if this is one number.",
    ),
    ("estimate s.csv --confidence 0.05", "If it is the share of errors (alpha), write 0.95."),
    ("estimate s.csv --confidence 95", "If it is a percentage, write 0.95."),
    ("estimate s.csv -f github", "mipaudit render report.json --format github"),
    ("estimate s.csv -f jsn", "Did you mean json?"),
    ("epsilon s.csv --design one_run", "Did you mean one-run?"),
    ("query nn,kth:5", "Separate queries by spaces"),
    ("query kth5", "Did you mean kth:5?"),
    ("query kth=5", "Did you mean kth:5?"),
    # Where things are written.
    ("estimate -o s.parquet", "Is s.parquet the input? Name it without --output."),
    ("estimate s.csv -o report.xlsx", "A spreadsheet opens .csv."),
    ("records s.csv -o report.html", "The report itself goes to --report report.html."),
    ("summarize s.csv --min-cell 10 -o s.summary", "and take out only its report"),
    # Words in the place of a command.
    ("completion", "Did you mean mipaudit --install-completion?"),
    ("run s.csv", "Did you mean mipaudit estimate"),
    ("mipaudit estimate s.csv", "Type the name of the program once."),
    # Policies.
    ("estimate s.csv --config quoted.toml", "Write the number without quotes"),
    ("estimate s.csv --config section.toml", "`mipaudit init` writes an example."),
]


def _packed(entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in entries:
            archive.writestr(name, "x")
    return file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("mistakes"), np.random.default_rng(0)
    score, member = rng.normal(size=60), np.array([1, 0] * 30)
    table = pd.DataFrame({"member": member, "score": score})
    numbered = table.assign(id=range(60))
    tables = {
        "s.csv": table,
        "model_0.csv": numbered,
        "model_1.csv": numbered.assign(score=rng.normal(size=60)),
        **{f"coins_{at}.csv": numbered.assign(member=np.roll(member, at)) for at in range(3)},
        "long.csv": pd.concat([numbered.assign(model=at) for at in range(3)]),
        "ids.csv": numbered.assign(id=np.arange(60) // 4),
        "m.csv": table[["score"]],
        "h.csv": table[["score"]] + 1,
        "loss.csv": pd.DataFrame({"loss": score}),
        "three.csv": table.assign(member=["train"] * 30 + ["val"] * 10 + ["test"] * 20),
        "odd.csv": table.assign(member=["a", "b", "c"] * 20),
        "percent.csv": table.assign(score=[f"{one:.1f}%" for one in score]),
    }
    for name, one in tables.items():
        one.to_csv(place / name, index=False)
    table.to_csv(place / "semicolon.csv", sep=";", decimal=",", index=False)
    table.to_json(place / "rows.json", orient="records")
    table.assign(score=[[0.1, 0.2]] * 60).to_parquet(place / "lists.parquet")
    np.savez(place / "scores.npz", member=member, score=score)
    files = {
        "x.db": b"SQLite format 3\0" + b"0" * 80,
        "x.png": b"\x89PNG\r\n\x1a\n" + b"0" * 80,
        "x.xlsx": _packed(["[Content_Types].xml"]),
        "x.pkl": b"\x80\x04" + b"0" * 80,
        "quoted.toml": b"max_advantage = '0.1'\n",
        "section.toml": b"[judgements]\nmax_advantage = 0.1\n",
        "r.json": json.dumps({}).encode(),
    }
    for name, data in files.items():
        (place / name).write_bytes(data)
    return place


@pytest.mark.parametrize(("line", "said"), MISTAKES)
def test_a_mistake_is_met_with_the_way_out(environment, folder, line, said):
    done = run_within(shlex.split(line), environment=environment, folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr


SCORES = np.arange(4.0)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: package.estimate(SCORES, SCORES), TypeError, "members=scores[member], holdout="),
        (lambda: package.bounds(1), TypeError, "nothing may be given without a name"),
        (
            lambda: package.estimate_many("long.csv", by=["model"]),
            package.UsageError,
            "Read them into one frame: pandas.concat(",
        ),
        (lambda: package.estimate(SCORES), package.InputError, "members=scores[member]"),
        (lambda: package.audit, AttributeError, "did you mean estimate?"),
        (lambda: package.estmate, AttributeError, "did you mean estimate?"),
        (lambda: package.render, AttributeError, "did you mean render_report?"),
        (
            lambda: package.from_json("r.json"),
            package.InputError,
            "neither its JSON nor its HTML page",
        ),
    ],
)
def test_a_mistake_in_python_names_what_is_meant(call, kind, said):
    with pytest.raises(kind) as found:
        call()

    assert said in str(found.value)


def test_a_name_that_python_asks_for_is_guessed_at_by_nobody():
    with pytest.raises(AttributeError, match=r"has no attribute '__estimate__'$"):
        package.__estimate__  # noqa: B018 - looking is what fails
