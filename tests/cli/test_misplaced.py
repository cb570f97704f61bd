"""What is said where a word, an option or a file belongs somewhere else, or is none."""

from __future__ import annotations

import shlex

import pytest

from mipaudit import estimate
from mipaudit.commands.query.options import parse_queries
from mipaudit.options.commands import BY_NAME, MEANT, TABLE
from mipaudit.options.declare import declared
from mipaudit.statements.kinds import named

NN = "query nn --members m.csv --holdout h.csv --synthetic s.csv -o x.csv"
TWICE = "': The option is given twice"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("query losses train.csv", "--logits FILE or --probabilities FILE"),
        ("query lira train.csv", "--shadow FILE, --inclusion FILE"),
        ("query m.csv h.csv s.csv", "--members, --holdout and --synthetic"),
        ("query nn m.csv -o x.csv", "--members, --holdout and --synthetic"),
        ("attribute m.csv h.csv", "--members FILE --holdout FILE"),
        ("shift --members m.csv", "mipaudit shift MEMBERS HOLDOUT"),
        ("shift m.csv h.csv --unit-col x", "--id-col"),
        (f"{NN} --unit-col x", "--keep"),
        ("query losses --members m.npz", "--holdout-logits"),
        (
            f"{NN} --max-advantage 0.1",
            "--max-advantage is an option of estimate, attack, attribute and render, not of query.",
        ),
        ("attack s.csv --blind s.json", "is an option of estimate, not of attack."),
        (f"{NN} --prior 0.5", "estimate and other commands, not of query."),
        ("query lira --shadow s.npy --keep x", "an option of query, not of"),
        ("estimate s.csv --scor-col x", "Did you mean --score-col?"),
        ("estimate s.csv --blod", "Did you mean --blind?"),
        ("query lira --inclusion i.npy", "--shadow shadows.npz"),
        ("shift - -", "Write the others to files first."),
        ("query losses --logits x.npz -o x.json", "--output scores.parquet"),
        ("attribute g.csv --attribute-col guess", "--guess-col NAME"),
        ("bounds --gdp 1", "Did you mean --mu (The mu of Gaussian differential privacy)?"),
        ("bounds --zcdp 1", "Did you mean --rho (The rho of zero-concentrated"),
        ("bounds --sigma 1", "Did you mean --noise-sd (Gaussian noise: standard"),
        ("bounds --noise-multiplier 1", "Did you mean --dp-sgd (DP-SGD"),
        ("estimate s.csv --gdp 1", "Did you mean --mu of mipaudit bounds"),
        ("estimate s.csv --threshold 0.1", "Did you mean --max-advantage (the advantage"),
        ("estimate s.csv --alpha 0.05", "--confidence (How often the true value"),
        ("estimate s.csv --pvalue", "No option is needed"),
        ("estimate s.csv --json", "Did you mean --format json?"),
        ("estimate s.csv --kde", "Did you mean --method kde?"),
        ("estimate s.csv --output-format json", "Did you mean --format (The form"),
        ("estimate s.csv --policy p.toml", "Did you mean --config FILE"),
        ("estimate s.csv --max-adv 0.1", "Did you mean --max-advantage?"),
        ("estimate s.csv --xyzzy", "See `mipaudit estimate --help`."),
        ("estimate s.csv --max-advantage 10%", "Write 0.1."),
        ("estimate s.csv --max-advantage 0,1", "Write 0.1, if this is one number."),
        ("estimate s.csv --max-advantage 10", "If it is a percentage, write 0.1."),
        ("estimate s.csv --confidence 95", "If it is a percentage, write 0.95."),
        ("estimate s.csv --max-tpr-at-fpr 0.01@0.1", "swapped, write 0.1@0.01: at most"),
        ("bounds --tpr-at-fpr 0.01@0.1", "swapped, write 0.1@0.01: at most 10% of"),
        ("estimate s.csv --max-tpr-at-fpr 2%@0.1%", "Write 0.02@0.001."),
        ("estimate s.csv --max-tpr-at-fpr 0.02:0.001", "Write 0.02@0.001."),
        ("estimate s.csv --max-tpr-at-fpr 0.02", "For example 0.02@0.001"),
        ("query losses --labels i.npy", "Give --logits or --probabilities of the records."),
        ("verify i.npy", "i.npy: the file is empty."),
        ("verify none.json", "The report none.json cannot be read"),
        ("estimate s.csv --allow-scheme 'a b'", "--allow-scheme takes the name"),
        ("estimate s.csv --store-timeout x", "--store-timeout takes a number"),
        ("estimate sftp://host/s.csv", "or name sftp in --allow-scheme."),
        ("records s.csv --max-risk 20", "If it is a percentage, write 0.2."),
        ("estimate ftp://127.0.0.1:9/x.csv", "name ftp in --allow-scheme"),
        ("estimate ftp://127.0.0.1:9/x.csv --allow-scheme ftp", "cannot be reached"),
        ("estimate http://127.0.0.1:9/x --store-timeout -1", "--store-timeout takes"),
        *(
            (
                f"{command} parts --engine dask",
                "--engine dask needs a scheduler.\nStart one with `dask",
            )
            for command in ("estimate", "check", "records")
        ),
        *(
            (f"{command} parts --engine dask", "No such option")
            for command in ("compare", "epsilon")
        ),
        # An option with one value that is given twice: the parser would drop the first.
        ("estimate s.csv --max-advantage 0.01 --max-advantage 0.9", TWICE),
        ("estimate s.csv --max-tpr-at-fpr 0.1@0.01 --max-tpr-at-fpr 0.2@0.1", TWICE),
        ("estimate s.csv --where 'a = 1' --where 'b = 2'", "'--where': The option is given twice"),
        ("compare s.csv --max-increase 0 --max-increase 0.5", TWICE),
        ("render s.csv --max-advantage 0.01 --max-advantage 0.9", TWICE),
        ("epsilon s.csv --guesses 20 --guesses 30", "Give several values at once, as R|K+,K-."),
        ("simulate laplac-1", "There is no scenario of that name."),
        ("simulate laplac-1 -f json", '"code": "unknown_scenario"'),
        ("simulate laplace-99", "EPS is a number from 0.01 to 30"),
        ("simulate laplace-1 --list", "one scenario, or --list"),
        ("simulate -q", "one scenario, or --list"),
        ("simulate laplace-1 -o s.json", ".csv, .csv.gz or .parquet"),
        ("simulate laplace-1 -o no/such.csv", "cannot be written"),
        *(
            (f"validate --replications 1 -f json {words}", f'"code": "{code}"')
            for words, code in (
                *((f"--sizes {one}", "sizes") for one in ("10", "50,", "50.5", "1e999")),
                *((f"--priors {one}", "priors") for one in ("'0.5;0.1'", "1")),
                ("--scenario '\x1b[2J'", "unknown_scenario"),
                *((f"--resume {one}", "unusable_resume_file") for one in (".", "no/such/file")),
                ("--resume same -o same", "output_is_input"),
                ("-o no/such/file", "unwritable_output"),
                ("extra", "usage_error"),
            )
        ),
        ("version", "Did you mean mipaudit --version?"),
        ("-V", "Did you mean mipaudit --version?"),
        ("audit s.csv", "Did you mean mipaudit estimate (Measure how"),
        ("lira", "Did you mean mipaudit query lira ("),
        ("nn", "Did you mean mipaudit query nn ("),
        ("estimat", "Did you mean mipaudit estimate?"),
        ("xyzzy", "See `mipaudit --help`, or look a word up: `mipaudit help WORD`."),
        ("s.csv --prior 0.1", "comes first: mipaudit estimate s.csv --prior 0.1"),
        ("a/*.parquet", "comes first: mipaudit estimate 'a/*.parquet'"),
        ("one.summary", "comes first: mipaudit estimate one.summary"),
        ("--prior 0.1 s.csv", "A command comes first: mipaudit estimate --prior"),
        ("model.npz", "mipaudit query losses --logits model.npz"),
        ("report.json", "`mipaudit verify report.json --input scores.parquet`"),
        ("table.xlsx", "pandas.read_excel('table.xlsx')"),
        (
            "estimate x.csv --prior much",
            "'much' is not a number.\nSee `mipaudit estimate --help`",
        ),
        *(
            (f"estimate x.csv --nan '{word}'", "'error', 'category', 'drop'")
            for word in ("maybe", "\x1b[31mred")
        ),
        *(
            (f"estimate x.csv --max-tpr-at-fpr={limit}", "0.02@0.001")
            for limit in ("0.02", "0.02@", "a@b", "@", "0.1@0.2@0.3", "0.1:0.2")
        ),
        ("estimate two.csv --blind two.csv", "mipaudit shift MEMBERS HOLDOUT -f json"),
        ("shift a.csv b.csv", "--ignore"),
        ("help glosary", "Did you mean glossary?"),
        ("help estimat", "Did you mean estimate"),
        ("help max-advantge", "Did you mean max-advantage, advantage?"),
        ("help above_limits", "Did you mean above_limit, "),
        ("help xyzzy", "Nothing is called 'xyzzy': no command, option, page, word or code."),
        ("help xyzzy", "mipaudit help lists"),
        ("tpr", "`mipaudit help tpr` says what it is."),
        ("dcr", "Did you mean mipaudit query nn ("),
        ("query nm", "There is no query 'nm'.\nDid you mean nn?"),
        ("query losse", "Did you mean losses?"),
        ("query dcr", "What others call dcr is mipaudit query nn."),
        ("query NNDR", "What others call NNDR is mipaudit query lnr."),
        ("query ims", "What others call ims is mipaudit query share:1e-6."),
    ],
)
def test_the_way_out_is_said(mipaudit, tmp_path, line, said):
    cells = "".join(f"{row}.5\n" for row in range(40))
    files = {"i.npy": "", "two.csv": "member,loss\n" + "1,0.5\n0,0.25\n" * 30}
    files |= {"a.csv": f"income\n{cells}secret\n{cells}", "b.csv": f"income\n{cells}"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    done = mipaudit(*shlex.split(line))

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.startswith(("Error: ", '{"error"'))
    for never in ("\x1b", "Traceback", "Possible options", "secret"):
        assert never not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == files.keys()


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


def test_other_names_are_few_and_stand_for_what_there_is():
    keywords = [{one.name for one in _options(row)} for row in TABLE]

    assert len(MEANT) <= 80
    for name, meant in MEANT.items():
        assert name not in BY_NAME or meant not in BY_NAME
        if meant.startswith("query ") and meant not in BY_NAME:
            assert parse_queries([meant.removeprefix("query ")])
            continue
        # What a command calls so itself is no name of another of its options.
        assert meant in BY_NAME or any(meant in one and name not in one for one in keywords)


def _options(row):
    return [one for kind in (row.asked, row.shown) for one in declared(named(kind))]


def test_keys_variables_and_keywords_have_the_same_other_names(mipaudit, tmp_path):
    (tmp_path / "s.csv").write_text("member,loss\n1,0.5\n0,0.25\n")
    (tmp_path / "p.toml").write_text("alpha = 0.05\n")

    key = mipaudit("estimate", "s.csv", "--config", "p.toml")
    variable = mipaudit("estimate", "s.csv", env={"MIPAUDIT_ALPHA": "0.05"})

    assert "Did you mean 'confidence'?" in key.stderr
    assert "Did you mean MIPAUDIT_CONFIDENCE?" in variable.stderr
    with pytest.raises(TypeError, match=r"no option 'alpha'; did you mean confidence=\?"):
        estimate(alpha=0.05)
    with pytest.raises(TypeError, match=r"no option 'scor_col'; did you mean score_col=\?"):
        estimate(scor_col="a")
