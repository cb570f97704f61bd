"""The grammars: what makes archives, policies, summaries, reports and statements of all kinds."""

from __future__ import annotations

import io
import json
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.report.codec import carried
from mipaudit.statements.kinds import KINDS as REPORTS_OF
from mipaudit.statements.kinds import kind_of_schema, report_type
from tests.fuzz.bases import base_files
from tests.fuzz.policies import policy
from tests.fuzz.runs import Case, Kind
from tests.fuzz.summaries import cuts, summary
from tests.fuzz.typed_json import changed, made, shape_of
from tests.places import REPORTS

if TYPE_CHECKING:
    import random

_FORMS: Final = (
    *("table", "json", "csv", "markdown", "html", "junit"),
    *("in-toto", "cyclonedx", "model-card", "metrics", "github", "gitlab", "annex"),
)
_SOURCES: Final = ("edpb-28-2024", "nist-sp-800-226", "owasp-aisvs-1.0")
_TYPE: Final = "https://in-toto.io/Statement/v1"


# Of a model: outputs for every record.
def _numbers(draw: random.Random, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    numbers = np.random.default_rng(draw.getrandbits(32))
    found = numbers.normal(size=shape) * draw.choice((1, 1, 30, 1e-6, 1e300))
    if draw.random() < 0.05 and found.size:
        found.reshape(-1)[draw.randrange(found.size)] = draw.choice((np.nan, np.inf, -np.inf))
    return found


def _outputs(draw: random.Random, rows: int) -> dict[str, np.ndarray[Any, Any]]:
    numbers = np.random.default_rng(draw.getrandbits(32))
    classes = draw.choice((2, 2, 3, 10, 1))
    outputs = _numbers(draw, (rows, classes))
    kind = draw.choice(("logits", "logits", "probabilities"))
    if kind == "probabilities":
        with np.errstate(all="ignore"):
            raised = np.exp(np.clip(outputs, -50, 50))
            outputs = raised / raised.sum(axis=1, keepdims=True)
    label = numbers.integers(0, classes, rows)
    member = numbers.random(rows) < 0.5
    return {kind: outputs, "label": label, "member": member}


_DTYPES: Final = ("f2", "f4", ">f8", "<f8", "i1", "i8", "u8", "?", "U7", "S3", "c16", "g")


def _odd_outputs(
    arrays: dict[str, np.ndarray[Any, Any]], draw: random.Random
) -> dict[str, np.ndarray[Any, Any]]:
    name = draw.choice(list(arrays))
    array = arrays.pop(name)
    match draw.randrange(9):
        case 0:
            with np.errstate(all="ignore"):
                array = array.astype(draw.choice(_DTYPES))
        case 1:
            array = array[: len(array) // 2]
        case 2:
            array = array.reshape(draw.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1))))
        case 3:
            name = draw.choice(("labels", "y", "MEMBER", "logits ", "extra", "a/b", "é", "x" * 99))
        case 4:
            array = np.asfortranarray(array)
        case 5:
            return arrays
        case 6:
            array = np.array(draw.choice((3, 0.5, "Zx9secret", True)))
        case 7:
            array = np.where(array == array, "Zx9secret", "b")  # noqa: PLR0124 - of its shape
        case _:
            array = array * draw.choice((-1, 0, 7))
    return {**arrays, name: array}


def archive(draw: random.Random) -> Case:
    """Return an archive of a model's outputs, and a command that makes scores of them."""
    rows = draw.choice((40, 40, 25, 7, 2, 1))
    arrays = _outputs(draw, rows)
    outputs = next(iter(arrays))
    secrets = [repr(float(one))[:9] for one in arrays[outputs].reshape(-1)[:5] if one % 1]
    apart = draw.random() < 0.2
    if draw.random() < 0.35:
        arrays = _odd_outputs(arrays, draw)
    file = io.BytesIO()
    save = draw.choice((np.savez, np.savez_compressed))
    save(file, allow_pickle=False, **arrays)
    words = ["query", "losses", f"--{outputs}", "x.npz", "-q"]
    files = {"x.npz": file.getvalue()}
    if apart and "label" in arrays:
        one = io.BytesIO()
        np.save(one, arrays["label"], allow_pickle=False)
        files["y.npy"] = one.getvalue()
        words += ["--labels", "y.npy"]
    if draw.random() < 0.2:
        words += ["--scores", draw.choice(("loss", "entropy,margin", "phi,correct"))]
    output = draw.choice(("out.csv", "out.parquet"))
    return Case(
        (*words, "-o", output),
        files,
        secrets=(*(one for one in secrets if len(one) > 7), "Zx9secret"),
        outputs=(output,),
    )


@cache
def _samples() -> tuple[tuple[Any, Any], ...]:
    """Return sound reports, each with the shape of its type."""
    every = [path.read_bytes() for path in sorted(REPORTS.glob("*.json"))]
    every += [data for name, data in base_files().items() if name.endswith(".json")]
    found = []
    for data in every:
        document = json.loads(data)
        kind = kind_of_schema(document["schema"])
        if kind is not None:
            found.append((shape_of(report_type(kind)), document))
    return tuple(found)


def _report(draw: random.Random) -> dict[str, Any]:
    """Return a report that its type takes: of chance alone, or one of which parts changed."""
    if draw.random() < 0.25:
        kind = draw.choice(REPORTS_OF)
        found = made(shape_of(report_type(kind)), draw)
        return {**found, "schema": kind.schema, "command": draw.choice(kind.commands)}
    shape, document = draw.choice(_samples())
    found = changed(shape, document, draw, draw.choice((0, 0.001, 0.002, 0.01)))
    if not isinstance(found, dict):
        return document
    if draw.random() < 0.9:
        found |= {"schema": document["schema"], "command": document["command"]}
    return found


def _as_file(report: dict[str, Any], draw: random.Random) -> tuple[str, bytes]:
    """Return a report as its JSON, or in a page."""
    text = json.dumps(report, indent=draw.choice((None, 1, 2)))
    if draw.random() < 0.1:
        page = f"<!doctype html><title>x</title>{carried(text.encode())}"
        return "x.html", page.encode()
    return "x.json", text.encode()


def report(draw: random.Random) -> Case:
    """Return a report or two, and a command that reads them."""
    name, data = _as_file(_report(draw), draw)
    files = {name: data}
    command = draw.choice(("render",) * 8 + ("verify", "verify", "compare", "history", "judged"))
    if command == "render":
        form = draw.choice(_FORMS)
        words = ["render", name, "-f", form]
        if form == "in-toto":
            files["model.bin"] = b"a model"
            words += ["--subject", "model.bin"]
        if form == "annex":
            words += ["--for", draw.choice(_SOURCES)]
    elif command == "judged":
        words = ["render", name, *draw.choice((["--max-advantage", "0.4"], ["--prior", "0.2"]))]
    elif command == "verify":
        files["a.csv"] = base_files()["a.csv"]
        words = ["verify", name, *draw.choice(([], ["--input", "a.csv"]))]
    else:
        files["good.json"] = base_files()["good.json"]
        words = [command, "good.json", name]
    return Case((*words, *draw.choice(((), ("-q",))), "-o", "out"), files)


def _stated(report: bytes, draw: random.Random) -> dict[str, Any]:
    """Return a statement on a report and a released file: what `render` writes, or nearly."""
    digest = sha256(report).hexdigest()
    model = {"name": "model.bin", "digest": {"sha256": sha256(b"a model").hexdigest()}}
    notes = {"command": "estimate", "says": "MET", "confidence": 0.95, "why": []}
    return {
        "_type": _TYPE,
        "subject": [{**model, "annotations": {"mipaudit": "not read"}}],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": draw.choice(("PASSED", "FAILED", "WARNED")),
            "configuration": [
                {"name": "x.json", "digest": {"sha256": digest}, "annotations": notes}
            ],
            **{name: [] for name in ("passedTests", "warnedTests", "failedTests")},
        },
    }


_NODES: Final = (None, 0, 1.5, "x", "", [], {}, "../x.json", "x" * 300, "\u0000", True, "0" * 64)


def _odd_node(value: Any, draw: random.Random, often: float) -> Any:
    """Return JSON with a few nodes replaced, left out or doubled."""
    if draw.random() < often:
        return draw.choice(_NODES)
    if isinstance(value, dict):
        kept = {key: _odd_node(one, draw, often) for key, one in value.items()}
        if draw.random() < often and kept:
            del kept[draw.choice(list(kept))]
        return kept
    if isinstance(value, list):
        found = [_odd_node(one, draw, often) for one in value]
        return found * 2 if draw.random() < often else found
    return value


def statement(draw: random.Random) -> Case:
    """Return a statement, with what it speaks of beside it."""
    report = _report(draw)
    if draw.random() < 0.8:
        judged = [one for one in _samples() if one[1].get("policy")]
        shape, document = draw.choice(judged)
        report = changed(shape, document, draw, draw.choice((0, 0.005)))
    data = json.dumps(report).encode()
    stated = _stated(data, draw)
    if draw.random() < 0.3:
        stated = _odd_node(stated, draw, 0.03)
    files = {"x.intoto.json": json.dumps(stated).encode(), "x.json": data}
    if draw.random() < 0.97:
        files["model.bin"] = b"a model"
    words = ["verify", "x.intoto.json", "-q", "-o", "out"]
    if draw.random() < 0.2:
        files["a.csv"] = base_files()["a.csv"]
        words += ["--input", "a.csv"]
    return Case(tuple(words), files)


_REPORT: Final = frozenset({"bad_report", "report_schema"})
_SUMMARY: Final = frozenset({"bad_summary", "summary_version"})
KINDS: Final = {
    "archives": Kind(archive, frozenset({"damaged_archive", "not_an_archive", "bad_array"})),
    "policies": Kind(policy, frozenset({"config", "limits", "waivers"})),
    "cuts": Kind(cuts, _SUMMARY),
    "summaries": Kind(summary, _SUMMARY),
    "reports": Kind(report, _REPORT),
    "statements": Kind(statement, frozenset({*_REPORT, "bad_statement"})),
}
