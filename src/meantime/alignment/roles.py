"""The twelve role classes of the MEANT papers, and which PropBank label belongs to which.

Papers weigh classes, not labels (Tumuluru, Lo and Wu 2012, Tables 4 and 5). Auxiliary labels
count for what they are about: `C-ARG1` goes on with an `ARG1`, `R-ARG0` refers to an `ARG0`.
"""

from __future__ import annotations

from types import MappingProxyType

PREDICATE = "predicate"
OTHER = "other"

CLASSES = (
    PREDICATE,
    "arg0",
    "arg1",
    "arg2",
    "temporal",
    "locative",
    "purpose",
    "extent",
    "manner",
    OTHER,
    "modal",
    "negation",
)
"""In the order of the papers' tables."""

NUMBER = MappingProxyType({name: number for number, name in enumerate(CLASSES)})

TABLE = MappingProxyType(
    {
        "V": PREDICATE,
        "ARG0": "arg0",
        "ARG1": "arg1",
        "ARG2": "arg2",
        "TMP": "temporal",
        "LOC": "locative",
        "PRP": "purpose",
        "PNC": "purpose",
        "CAU": "purpose",
        "EXT": "extent",
        "MNR": "manner",
        "MOD": "modal",
        "NEG": "negation",
    }
)
"""Labels without `ARGM-`, `C-` and `R-`; what is not here is `other`. PNC is PropBank's older
name for PRP."""


def base(label: str) -> str:
    """The label a continued or referring role belongs to: `ARG1` of `C-ARG1`."""
    bare = label.upper()
    while bare.startswith(("C-", "R-")):
        bare = bare[2:]
    return bare


def role_class(label: str) -> str:
    """The class of a PropBank label: `temporal` of `ARGM-TMP`, `arg0` of `R-ARG0` and `A0`."""
    bare = base(label)
    if bare.startswith("ARGM-"):
        bare = bare[5:]
    elif bare.startswith("AM-"):
        bare = bare[3:]
    elif len(bare) >= 2 and bare[0] == "A" and bare[1].isdigit():
        bare = f"ARG{bare[1:]}"
    # PropBank marks what a numbered argument is with a tail: ARG1-DSP, ARG2-LOC.
    if bare.startswith("ARG") and "-" in bare:
        bare = bare.partition("-")[0]
    return TABLE.get(bare, OTHER)
