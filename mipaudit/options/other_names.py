"""What is meant by a name that mipaudit does not have: a near one, or one that people bring.

None is accepted. An error about one says what is meant, for commands, options, keys of policy
files, variables and Python's keywords alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

# How much alike two names are of which one is taken for the other: of keys, and of options, which
# are more alike among themselves.
_ALIKE: Final = 0.6
CLOSE: Final = 0.75
_LEAST_PREFIX: Final = 3
# A command, or an option by its keyword, and what other tools call it.
_ELSEWHERE: Final = {
    "estimate": "audit mia",
    "records": "risk",
    "compare": "diff",
    "check": "inspect info",
    "shift": "drift",
    "query": "dcr synthetic",
    "query losses": "logits",
    "simulate": "generate demo",
    "init": "policy config",
    "bounds": "dp",
    "noise": "calibrate",
    "render": "report show export",
    "history": "log",
    "output": "out outfile save",
    "quiet": "silent",
    "format": "output_format",
    "exit_zero": "no_fail",
    "verbose": "debug",
    "full": "all details",
    "members": "train",
    "holdout": "test non_members control",
    "score_col": "scores column loss",
    "member_col": "label labels membership target",
    "member_value": "pos_label",
    "where": "filter",
    "unit_col": "id_col user_col patient_col",
    "key_col": "id index",
    "by": "group group_by",
    "seed": "random_state",
    "jobs": "n_jobs workers threads",
    "prior": "prevalence base_rate",
    "confidence": "alpha significance",
    "max_advantage": "threshold limit",
    "max_eta": "eta",
    "max_tpr_at_fpr": "tpr_at_fpr",
    "against": "attacker",
    "claimed_epsilon": "epsilon eps",
    "mu": "gdp",
    "rho": "zcdp",
    "noise_sd": "sigma",
    "dp_sgd": "noise_multiplier",
}
# What is meant, by the name for it: at most 80.
MEANT: Final = {name: meant for meant, names in _ELSEWHERE.items() for name in names.split()}


def near(name: str, known: Collection[str], alike: float = _ALIKE) -> str | None:
    """Return the name that another nearly is, or the only one that it begins; None for neither."""
    from difflib import get_close_matches

    begun = {one for one in known if one.startswith(name)}
    if len(begun) == 1 and len(name.lstrip("-")) >= _LEAST_PREFIX:
        return begun.pop()
    found = get_close_matches(name, known, n=1, cutoff=alike)
    return found[0] if found else None


def meant_key(key: str, known: Collection[str], alike: float = _ALIKE) -> str | None:
    """Return the key, or the keyword, that is meant by another; None where nothing is near."""
    meant = MEANT.get(key)
    return meant if meant in known else near(key, known, alike)
