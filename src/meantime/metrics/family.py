"""The MEANT family by name: what each paper used, as defaults of one engine.

    meant-2012     Min/Max with mutual information, window 5; arithmetic mean; fitted weights
    meant-jaccard  Jaccard's coefficient, window 5; geometric mean; fitted weights
    meant-2013     Min/Max with mutual information, window 3; Mihalcea's; fitted weights
    meant-2014     Min/Max with mutual information, window 5; best-match F; fitted weights
    umeant         as meant-2014; weights from the references
    imeant         as meant-2014; bracketing ITG, best parse

The papers fitted their weights to judgements that cannot be had; ours were fitted to those of WMT
2015 and 2016 by the same search (`meantime weights fit`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from meantime.alignment.weights import UNSUPERVISED
from meantime.metrics.frames import FrameMetric, changed


@dataclass(frozen=True, kw_only=True)
class Meant2012(FrameMetric):
    """MEANT as first automated."""

    name: ClassVar[str] = "meant-2012"
    summary: ClassVar[str] = "MEANT of 2012: context vectors, mean over all word pairs"
    paper: ClassVar[str] = "Lo, Tumuluru and Wu 2012, Fully automatic semantic MT evaluation"

    similarity: str = changed("similarity", "context:minmax-mi:5")
    phrase: str = changed("phrase", "arithmetic")
    weights: str = changed("weights", "meant-2012")


@dataclass(frozen=True, kw_only=True)
class MeantJaccard(FrameMetric):
    """MEANT with the Jaccard coefficient and the geometric mean."""

    name: ClassVar[str] = "meant-jaccard"
    summary: ClassVar[str] = "MEANT with Jaccard's coefficient and the geometric mean"
    paper: ClassVar[str] = "Tumuluru, Lo and Wu 2012, Accuracy and robustness"

    similarity: str = changed("similarity", "context:jaccard:5")
    phrase: str = changed("phrase", "geometric")
    floor: float = changed("floor", 1e-4)
    weights: str = changed("weights", "meant-jaccard")


@dataclass(frozen=True, kw_only=True)
class Meant2013(FrameMetric):
    """MEANT with Mihalcea's phrase similarity."""

    name: ClassVar[str] = "meant-2013"
    summary: ClassVar[str] = "MEANT of 2013: Mihalcea's phrase similarity, window 3"
    paper: ClassVar[str] = "Lo, Beloucif and Wu 2013, IWSLT; Beloucif, Lo and Wu 2014, section 5.1"

    similarity: str = changed("similarity", "context:minmax-mi:3")
    phrase: str = changed("phrase", "mihalcea")
    weights: str = changed("weights", "meant-2013")


@dataclass(frozen=True, kw_only=True)
class Meant2014(FrameMetric):
    """MEANT with the F-score of best matches."""

    name: ClassVar[str] = "meant-2014"
    summary: ClassVar[str] = "MEANT of 2014: F-score of best-matching words, window 5"
    paper: ClassVar[str] = "Beloucif, Lo and Wu 2014, section 3.1"

    similarity: str = changed("similarity", "context:minmax-mi:5")
    phrase: str = changed("phrase", "best-match")
    weights: str = changed("weights", "meant-2014")


@dataclass(frozen=True, kw_only=True)
class Umeant(FrameMetric):
    """MEANT whose weights are the frequencies of the roles in the references."""

    name: ClassVar[str] = "umeant"
    summary: ClassVar[str] = "MEANT with role weights estimated from the references"
    paper: ClassVar[str] = "Lo and Wu 2012, SSST; Beloucif, Lo and Wu 2014, section 3.1"

    similarity: str = changed("similarity", "context:minmax-mi:5")
    weights: str = changed("weights", UNSUPERVISED)


@dataclass(frozen=True, kw_only=True)
class Imeant(FrameMetric):
    """MEANT whose fillers are compared by a bracketing ITG."""

    name: ClassVar[str] = "imeant"
    summary: ClassVar[str] = "MEANT with fillers parsed together by a bracketing ITG"
    paper: ClassVar[str] = "Wu, Lo, Beloucif and Saers 2014; Beloucif, Lo and Wu 2014, section 3.2"

    similarity: str = changed("similarity", "context:minmax-mi:5")
    phrase: str = changed("phrase", "itg")
    null_weight: float = changed("null_weight", 0.1)
    weights: str = changed("weights", "imeant")
