"""Run certificates, and tasks of Boolean plants, that do not follow the format: one thing wrong in each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ascertain.evidence.evidence import Step
from tests.reference.run_claims import Case, claim_of, rechained

Claim = dict[str, Any]


def at(*keys: Any) -> Callable[[Any], tuple[Any, Any]]:
    def find(claim: Any) -> tuple[Any, Any]:
        for key in keys[:-1]:
            claim = claim[key]
        return claim, keys[-1]

    return find


GONE = object()


def edit(claim: Claim, place: Callable[[Any], tuple[Any, Any]], value: object, chain: bool = True) -> Claim:
    """The claim with one value replaced, or taken away; its head is mended unless told otherwise."""
    changed = copy.deepcopy(claim)
    holder, key = place(changed)
    if value is GONE:
        del holder[key]
    else:
        holder[key] = value
    return rechained(changed) if chain and isinstance(changed.get("records"), list) else changed


def malformed_claims(nominal: Case, switching: Case, doubting: Case) -> Iterator[tuple[str, Claim]]:
    """From a run of the nominal, one with a fallback and one whose first action is doubted."""
    claim, fallback, doubt = claim_of(nominal), claim_of(switching), claim_of(doubting)
    for key in claim:
        if key != "claim":
            yield f"lacks-{key.replace('_', '-')}", edit(claim, at(key), GONE, chain=False)
    yield "extra-key", claim | {"time": 0}
    yield "label-number", claim | {"label": 1}
    yield "label-unknown", claim_of(replace(nominal, label="2"))
    yield "label-too-long", claim_of(replace(nominal, label="011"))
    yield "transcript-object", claim | {"transcript": {}}
    yield "transcript-step-short", edit(claim, at("transcript", 0), [0, 1])
    yield "transcript-certain-1", edit(claim, at("transcript", 0, 2), 1)
    yield "transcript-read-in-doubt", edit(claim, at("transcript", 0, 2), False)
    yield "transcript-action-unknown", edit(claim, at("transcript", 0, 0), 2)
    yield "transcript-reading-unknown", edit(claim, at("transcript", 0, 1), 2)
    yield "transcript-reading-true", edit(claim, at("transcript", 0, 1), True)
    yield "head-short", claim | {"head": "0"}
    yield "head-upper-case", claim | {"head": claim["head"].upper()}
    yield "bank-empty", claim | {"bank": []}
    yield "bank-object", claim | {"bank": {}}
    yield "bank-candidate-short", claim | {"bank": [[1]]}
    yield "bank-candidate-unknown", claim | {"bank": [[4, "1"]]}
    yield "bank-candidate-true", claim | {"bank": [[True, "1"]]}
    yield "bank-candidate-twice", claim | {"bank": [[1, "1/2"], [1, "1/2"]]}
    yield "bank-not-ascending", claim | {"bank": [[2, "1/2"], [1, "1/2"]]}
    yield "bank-weight-zero", claim | {"bank": [[1, "0"]]}
    yield "bank-weight-zero-among-others", claim | {"bank": [[1, "1/2"], [2, "0"]]}
    yield "bank-weight-number", claim | {"bank": [[1, 1]]}
    yield (
        "bank-denominators-too-long",
        claim
        | {
            "bank": [[s, f"1/{10**1999 + 2 * s + 1}"] for s in range(4)]
            and [[0, f"1/{7**2300}"], [1, f"1/{11**1900}"], [2, f"1/{13**1790}"]]
        },
    )
    yield "scored-from-beyond", claim | {"scored_from": 5}
    yield "scored-from-true", claim | {"scored_from": True}
    yield "share-number", claim | {"share": 1}
    yield "shares-list", claim | {"shares": ["1/20", "1/20"]}
    yield "shares-number", claim | {"shares": {"nominal": 1}}
    yield "records-object", claim | {"records": {}}
    yield "records-empty", claim | {"records": []}
    yield "records-begin-elsewhere", rechained(claim | {"records": claim["records"][1:]})
    yield "record-not-object", rechained(claim | {"records": [claim["records"][0], 7]})
    yield "record-without-kind", edit(claim, at("records", 1, "record"), GONE)
    yield "record-unknown", edit(claim, at("records", 1, "record"), "rumour")
    yield "record-extra-key", edit(claim, at("records", 1, "time"), 0)
    yield (
        "record-intent-unknown",
        claim | {"records": [*claim["records"][:1], {"record": "intent", "action": 2}, *claim["records"][2:]]},
    )
    yield "record-intent-true", edit(claim, at("records", 1, "action"), False)
    yield "record-reading-unknown", edit(claim, at("records", 2, "reading"), 2)
    yield "record-reading-true", edit(claim, at("records", 2, "reading"), True)
    yield "record-reading-action-unknown", edit(claim, at("records", 2, "action"), 9)
    yield "record-doubt-action-unknown", edit(doubt, at("records", 2, "action"), 9)
    yield "record-stage-unknown", edit(fallback, at("records", 3, "stage"), "nominal")
    yield "record-stage-why-null", edit(fallback, at("records", 3, "why"), None)
    yield "record-stage-hash-null", edit(fallback, at("records", 3, "bank_sha256"), None)
    yield "record-verdict-label-null", edit(claim, at("records", -1, "label"), None)
    yield "record-half-surrogate", edit_surrogate(claim)
    first = ("records", 0)
    yield "commitment-format", edit(claim, at(*first, "format"), "diary")
    yield "commitment-version-true", edit(claim, at(*first, "version"), True)
    yield "commitment-version-2", edit(claim, at(*first, "version"), 2)
    yield "commitment-made-by-null", edit(claim, at(*first, "made_by"), None)
    yield "commitment-bank-list", edit(claim, at(*first, "bank"), [])
    yield "commitment-task-number", edit(claim, at(*first, "task_sha256"), 0)
    yield "commitment-settings-list", edit(claim, at(*first, "settings"), [])
    settings = (*first, "settings")
    yield "settings-format", edit(claim, at(*settings, "format"), "ascertain-journal")
    yield "settings-version", edit(claim, at(*settings, "version"), 2)
    yield "settings-version-true", edit(claim, at(*settings, "version"), True)
    yield "settings-key-unknown", edit(claim, at(*settings, "note"), "")
    yield "settings-rejection-one", edit(claim, at(*settings, "rejection"), "1")
    yield "settings-rejection-zero", edit(claim, at(*settings, "rejection"), "0")
    yield "settings-budget-long", edit(claim, at(*settings, "budget"), 10**18)
    yield "settings-losses-long", edit(claim, at(*settings, "losses"), 10**18)
    yield "settings-nominal-budget-long", edit(claim, at(*settings, "nominal_budget"), 10**18)
    yield "settings-limit-twice", edit(claim, at(*settings, "limits"), [[0, 9], [0, 9]])
    yield "settings-limit-of-no-action", edit(claim, at(*settings, "limits"), [[2, 9]])
    yield "settings-limit-short", edit(claim, at(*settings, "limits"), [[0]])
    yield "settings-limit-long", edit(claim, at(*settings, "limits"), [[0, 10**18]])
    yield "settings-probing-number", edit(claim, at(*settings, "probing"), 1)
    for key in ("policy", "alpha", "nominal_share", "doubts", "threshold", "rejection", "budget", "limits", "probing"):
        yield f"settings-lack-{key.replace('_', '-')}", edit(claim, at(*settings, key), GONE)
    yield "settings-policy-list", edit(claim, at(*settings, "policy"), ["eager"])
    yield "settings-nominal-unknown", edit(claim, at(*settings, "nominal"), 4)
    yield "settings-nominal-true", edit(claim, at(*settings, "nominal"), True)
    yield "settings-nominal-share-one", edit(claim, at(*settings, "nominal_share"), "1")
    yield "settings-nominal-share-zero", edit(claim, at(*settings, "nominal_share"), "0")
    yield "settings-doubts-short", edit(claim, at(*settings, "doubts"), [4])
    yield "settings-doubts-many", edit(claim, at(*settings, "doubts", 0), 10**6)
    yield "settings-ran-zero", edit(claim, at(*settings, "doubts", 1), "0")
    yield "settings-ran-one", edit(claim, at(*settings, "doubts", 1), "1")
    yield (
        "too-many-doubts-to-follow",
        claim_of(replace(nominal, steps=(Step(0, None, certain=False),) * 13, max_doubts=20)),
    )


def edit_surrogate(claim: Claim) -> Claim:
    changed = copy.deepcopy(claim)
    changed["records"][0]["made_by"] = "SURROGATE"
    return changed


def malformed_tasks(task: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """From the task of a plant of two bits, a and b, with the commands A and B."""
    for key in task:
        if key not in ("format", "version", "model"):
            yield f"lacks-{key}", edit(task, at(key), GONE)
    for key in ("bits", "commands", "flip"):
        yield f"model-lacks-{key}", edit(task, at("model", key), GONE)
    yield "model-extra-key", edit(task, at("model", "states"), [])
    yield "version-2", task | {"version": 2}
    yield "extra-key", task | {"labels": []}
    yield "bits-twice", edit(task, at("model", "bits"), ["a", "a"])
    yield "bits-too-many", edit(task, at("model", "bits"), [f"b{i}" for i in range(65)])
    yield "commands-empty", edit(task, at("model", "commands"), [])
    yield "commands-object", edit(task, at("model", "commands"), {})
    yield "command-twice", edit(task, at("model", "commands", 1, 0), "A")
    yield "command-short", edit(task, at("model", "commands", 0), ["A", []])
    yield "command-name-number", edit(task, at("model", "commands", 0, 0), 0)
    yield "command-gates-object", edit(task, at("model", "commands", 0, 1), {})
    yield "tap-unknown", edit(task, at("model", "commands", 0, 2), 2)
    yield "tap-true", edit(task, at("model", "commands", 0, 2), True)
    for name, gate in {
        "gate-empty": [],
        "gate-text": "not",
        "gate-unknown": ["nand", 0, 0, 1],
        "gate-number": [0, 0],
        "gate-without-sources": ["and", 0],
        "gate-with-a-source-too-many": ["not", 0, 1],
        "gate-target-unknown": ["not", 2],
        "gate-source-true": ["copy", 0, True],
        "gate-cnot-on-itself": ["cnot", 0, 0],
        "gate-toffoli-on-itself": ["toffoli", 0, 1, 0],
    }.items():
        yield name, edit(task, at("model", "commands", 0, 1), [gate])
    yield "flip-half", edit(task, at("model", "flip"), "1/2")
    yield "flip-number", edit(task, at("model", "flip"), 0)
    yield "about-end", task | {"about": "end"}
    yield "about-list", task | {"about": ["start"]}
    yield "actions-empty", task | {"actions": []}
    yield "actions-twice", task | {"actions": [0, 0]}
    yield "actions-unknown", task | {"actions": [2]}
    yield "never-unknown", task | {"never": [4]}
    yield "never-twice", task | {"never": [1, 1]}
    yield "hypotheses-empty", task | {"hypotheses": []}
    yield "hypotheses-twice", task | {"hypotheses": [1, 1]}
    yield "hypotheses-unknown", task | {"hypotheses": [4]}
    yield "cost-zero", task | {"cost": ["1", "0"]}
    yield "cost-short", task | {"cost": ["1"]}
    yield "alpha-one", task | {"alpha": "1"}
    yield "beta-one", task | {"beta": "1"}
    for name, rule in {
        "label-empty": [],
        "label-text": "state",
        "label-unknown": ["pattern", "a"],
        "label-number": [0],
        "label-state-with-more": ["state", 0],
        "label-bits-alone": ["bits"],
        "label-bits-empty": ["bits", []],
        "label-bits-twice": ["bits", [0, 0]],
        "label-bits-unknown": ["bits", [2]],
        "label-nominal-alone": ["nominal"],
        "label-nominal-unknown": ["nominal", 4],
        "label-expression-alone": ["expression"],
        "label-expression-text": ["expression", "a"],
        "label-expression-empty": ["expression", []],
        "label-expression-takes-from-nothing": ["expression", [0, "and"]],
        "label-expression-begins-with-not": ["expression", ["not", 0]],
        "label-expression-leaves-two": ["expression", [0, 1]],
        "label-expression-unknown-word": ["expression", [0, "nand"]],
        "label-expression-unknown-bit": ["expression", [2]],
        "label-expression-true": ["expression", [True]],
        "label-expression-too-deep": ["expression", [0] * 257 + ["and"] * 256],
        "label-expression-too-long": ["expression", [0] + ["not"] * 10_000],
    }.items():
        yield name, task | {"label": rule}
    large = edit(task, at("model", "bits"), [f"b{i}" for i in range(27)])
    yield "too-many-bits-to-follow", large
