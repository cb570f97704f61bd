"""Every key of a policy file, at its top and in tables, for every command: here or elsewhere."""

from __future__ import annotations

import json

import pytest

from mipaudit.cli import app
from mipaudit.cli import program as parsed
from mipaudit.options.commands import TABLE
from mipaudit.options.declare import declared
from mipaudit.statements.kinds import named

CONFIGURED = [one for one in TABLE if one.configured]
# What is typed. Nothing is read: the options are made and checked.
TYPED = {
    "estimate": "s.csv",
    "records": "s.csv",
    "epsilon": "--canaries 100 --guesses 50 --correct 40",
    "compare": "s.csv",
    "attack": "s.csv",
    "attribute": "g.csv",
    "check": "s.csv",
    "shift": "a.csv b.csv",
    "query": "nn --members a.csv --holdout b.csv --synthetic c.csv",
    "query losses": "--logits m.npz",
    "query lira": "--shadow s.npz --inclusion i.npy --target t.npy --membership m.npy",
    "summarize": "s.csv -o s.summary",
    "simulate": "null -o s.csv",
    "bounds": "--epsilon 1",
    "noise": "--eta 0.1",
    "validate": "",
}
# Values that a text must have.
TEXTS = {
    "seed": "3",
    "output": '"s.csv"',
    "metric": '"ppv"',
    "max_metric": '"ppv=0.8"',
    "max_tpr_at_fpr": '"0.2@0.1"',
    "tpr_at_fpr": '"0.2@0.1"',
    "sizes": '"200"',
    "priors": '"0.5"',
    "memory": '"4G"',
    "range": '"age=1:2"',
    "dp_sgd": '"noise_multiplier=1,q=0.1,steps=2"',
    "compose": '"gaussian:noise_multiplier=2,count=1"',
    "counting_queries": '"k=1,n=2"',
    "baseline": '"0.1"',
    "success": '"0.2@0.1"',
    "rdp": '"2:0.1"',
    "gaussian_noise_for": '"epsilon=1,delta=1e-5"',
}
# They ask for something else than is typed, and pass over nothing: a limit must be judged, files
# that are named are read.
ASKS = {
    "epsilon": {"design"},
    "compare": {"max_increase"},
    "query losses": {
        *("probabilities", "holdout_probabilities", "holdout_labels"),
        *("holdout_reference_logits", "holdout_reference_probabilities"),
    },
    "summarize": {"cuts", "cuts_only"},
}


def keys_of(command):
    options = [one for kind in (command.asked, command.shown) for one in declared(named(kind))]
    return {one.key: one for one in options if one.key}


def value_of(key, one):
    if key in TEXTS:
        return TEXTS[key]
    if one.words:
        return f'"{one.words[0]}"'
    if one.kind is bool:
        return "true"
    if one.kind in {int, float}:
        within = one.option.within
        tried = (0.25, 0.6, 1, 2, 50, 1000) if one.kind is float else (1, 2, 50, 1000)
        return next(n for n in tried if within is None or within.holds(n))
    return '"x"'


def lines(keys):
    return "".join(f"{key} = {value_of(key, one)}\n" for key, one in keys)


EVERY = {key: one for command in CONFIGURED for key, one in keys_of(command).items()}


@pytest.fixture
def asked(monkeypatch, capsys, tmp_path):
    """Make the options of a command with a policy file; return the exit code and what is said."""

    def make(row, settings):
        settings.leave_out_idle(named(row.asked))
        settings.options_of(named(row.shown))
        settings.options_of(named(row.asked))
        return 0

    monkeypatch.setattr(parsed, "_run", make)
    monkeypatch.chdir(tmp_path)

    def run(command, text):
        (tmp_path / "mipaudit.toml").write_text(text)
        status = app.run([*command.name.split(), *TYPED[command.name].split()])
        return status, capsys.readouterr().err

    return run


@pytest.mark.parametrize("command", CONFIGURED, ids=lambda command: command.name)
def test_a_key_at_the_top_stops_no_command_that_it_means_nothing_to(asked, command):
    own = keys_of(command)
    foreign = [
        (key, one) for key, one in EVERY.items() if key not in own and one.option.steers != "act"
    ]
    assert asked(command, lines(foreign))[0] == 0
    for key, one in own.items():
        found = asked(command, lines([(key, one)]))

        stopped = key in ASKS.get(command.name, ()) or one.option.steers == "act"
        assert found[0] == (2 if stopped else 0), (key, found)
        assert found[1].startswith("Error: ") == stopped, (key, found)


@pytest.mark.parametrize("command", CONFIGURED, ids=lambda command: command.name)
def test_a_table_of_a_command_has_its_own_keys_and_no_others(asked, command):
    own = keys_of(command)
    foreign = [(key, one) for key, one in EVERY.items() if key not in own]
    for key, one in [*own.items(), *foreign[:3]]:
        status, text = asked(command, f'["{command.name}"]\n' + lines([(key, one)]))

        unknown = f"The key '{key}' under '{command.name}' in 'mipaudit.toml' is unknown."
        assert (unknown in text) == (key not in own), (key, text)
        assert status == 2 if key not in own else "is unknown" not in text, (key, text)


# Whoever writes a file that others run under could do all of this to them.
ACTS = {
    *("output", "format", "report", "curve", "plot", "resume", "apply", "sha256"),
    *("scheduler", "engine", "exit_zero"),
}


def test_what_writes_connects_or_excuses_is_an_error_in_any_file_for_any_command(asked):
    estimate = next(one for one in CONFIGURED if one.name == "estimate")
    found = {key: one for key, one in EVERY.items() if one.option.steers == "act"}
    assert set(found) == ACTS
    for command in (estimate, CONFIGURED[-1]):
        for key, one in found.items():
            status, text = asked(command, lines([(key, one)]))
            assert status == 2, key
            assert f"'{key}' in 'mipaudit.toml' is refused" in text, text
            assert f"MIPAUDIT_{key.upper()}" in text, text
    for text in (
        'allow_scheme = "sftp"',
        '[estimate]\nallow-scheme = ["sftp"]',
        "[records]\nreport='x'",
    ):
        assert (
            "is refused: an option that writes, connects or excuses" in asked(estimate, text)[1]
        ), text


@pytest.mark.parametrize(("place", "said"), [("", ""), ("[estimate]\n", " under 'estimate'")])
def test_a_key_of_no_command_is_an_error_that_names_the_nearest(asked, place, said):
    estimate = next(one for one in CONFIGURED if one.name == "estimate")

    status, text = asked(estimate, f'{place}adjacencies = "substitution"\n')

    assert status == 2
    assert f"The key 'adjacencies'{said} in 'mipaudit.toml' is unknown." in text
    assert "Did you mean 'adjacency'?" in text


@pytest.mark.parametrize(
    ("name", "file", "said"),
    [
        # What is meant for all commands is no mistake; for this one alone it is.
        ("estimate", '[estimate]\nadjacency = "substitution"\n', "--claimed-epsilon"),
        ("estimate", 'adjacency = "replace"\n', "'replace' is not one of"),
        ("epsilon", '[epsilon]\nscore_col = "x"\n', "--score-col can only be used with scores"),
        ("bounds", "[bounds]\neta = 0.1\n", "one question at a time"),
        ("bounds", "mu = -1\n", "--mu must be"),
    ],
)
def test_what_is_meant_for_one_command_must_mean_something(mipaudit, tmp_path, name, file, said):
    (tmp_path / "mipaudit.toml").write_text(file)

    done = mipaudit(name, *TYPED[name].split())

    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("file", "words", "settings"),
    [
        ("sensitivity = 2\nnoise_sd = 1\n", "", {"sensitivity": 2, "noise_sd": 1}),
        ("sensitivity = 2\n", "--noise-sd 1", {"sensitivity": 2, "noise_sd": 1}),
        ("sensitivity = 2\n", "--epsilon 1", {"sensitivity": None, "epsilon": 1}),
        ("eta = 0.1\n", "--epsilon 1", {"eta": None, "epsilon": 1}),
        ("eta = 0.1\n", "", {"eta": 0.1}),
        ('adjacency = "substitution"\n', "--epsilon 1", {"adjacency": "substitution"}),
    ],
)
def test_what_belongs_to_the_question_is_kept(mipaudit, tmp_path, file, words, settings):
    (tmp_path / "mipaudit.toml").write_text(file)

    done = mipaudit("bounds", *words.split(), "-f", "json")

    assert done.returncode == 0, done.stderr
    found = {one["name"]: one["value"] for one in json.loads(done.stdout)["provenance"]["settings"]}
    assert {name: found[name] for name in settings} == settings
