"""The course of a tuning as a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from meantime.errors import MissingPart


def draw_curve(records: Sequence[Mapping[str, Any]], metric: str) -> str:
    """An SVG of the score by iteration, decoded and as foretold on the merged lists.

    Raises:
        MissingPart: altair or vl-convert is not installed.
    """
    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise MissingPart(
            f"the curve needs the package {error.name}; pip install 'meantime[plots]'"
        ) from error

    decoded, foretold = "decoded", "foretold from merged lists"
    points = []
    for record in records:
        if "failed" in record:
            continue
        points.append({"iteration": record["iteration"], "what": decoded, "score": record["score"]})
        if "pool_after" in record and record["iteration"] < len(records):
            # What is learned in one iteration is decoded with in the next, if there is one.
            points.append(
                {
                    "iteration": record["iteration"] + 1,
                    "what": foretold,
                    "score": record["pool_after"],
                }
            )
    last = max([2, *(point["iteration"] for point in points)])
    # By hand, or there would be ticks between two iterations.
    ticks = list(range(1, last + 1, -(-last // 15)))
    chart = (
        altair.Chart({"values": points})
        .mark_line(point=True)
        .encode(
            x=altair.X(
                "iteration:Q",
                title="iteration",
                axis=altair.Axis(values=ticks, format="d"),
                scale=altair.Scale(domain=[1, last]),
            ),
            y=altair.Y("score:Q", title=metric, scale=altair.Scale(zero=False)),
            color=altair.Color("what:N", title=None, sort=[decoded, foretold]),
            # Said twice, for those who do not see the colours.
            strokeDash=altair.StrokeDash(
                "what:N", title=None, sort=[decoded, foretold], legend=None
            ),
        )
        .properties(width=480, height=280)
    )
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg
