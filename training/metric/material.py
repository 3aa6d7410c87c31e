"""The packed material on the device that trains, cut into batches of whole groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from torch import Tensor

from training.metric.layout import END, LONGEST, SETS, START, unpack_surface


@dataclass(frozen=True)
class Batch:
    """Renderings of several groups; all indices are of rows in the batch."""

    rows: Tensor
    """Their numbers in the whole material."""
    hypothesis: Tensor
    """(rows, longest): pieces with marks; 0 is filling."""
    reference: Tensor
    """(groups, longest)."""
    group: Tensor
    """Of each row."""
    surface: Tensor
    better: Tensor
    worse: Tensor
    margin: Tensor


class Material:
    """All texts, rows and groups, on one device."""

    def __init__(self, path: Path, device: str) -> None:
        with numpy.load(path, allow_pickle=False) as file:
            self.arrays = {name: file[name] for name in file.files}
        a = self.arrays
        self.device = device
        self.sources = [str(one) for one in a["sources"]]
        lengths = numpy.diff(a["text_at"])
        table = numpy.zeros((len(lengths), LONGEST + 2), numpy.int32)
        table[:, 0] = START
        inside = numpy.arange(LONGEST)[None] < lengths[:, None]
        short = lengths <= LONGEST
        table[:, 1:-1][inside & short[:, None]] = a["pieces"][numpy.repeat(short, lengths)]
        table[numpy.arange(len(lengths)), numpy.minimum(lengths, LONGEST) + 1] = END
        self.lengths = lengths + 2
        self.table = torch.from_numpy(table).to(device)
        self.row_text = torch.from_numpy(a["row_text"].astype(numpy.int64)).to(device)
        surface = unpack_surface(a["row_surface"])
        self.surface = torch.from_numpy(surface).to(device)
        self.row_group = numpy.repeat(
            numpy.arange(len(a["group_at"]) - 1), numpy.diff(a["group_at"])
        )
        self.score = torch.from_numpy(a["row_score"]).to(device)
        self.judges = torch.from_numpy(a["row_judges"].astype(numpy.float32)).to(device)
        order_group = self.row_group[a["order_better"]]
        self.order_at = numpy.searchsorted(order_group, numpy.arange(len(a["group_at"])))
        rows = self.lengths[a["row_text"]]
        self.group_length = (
            numpy.maximum.reduceat(rows, a["group_at"][:-1])
            + self.lengths[a["group_reference"]]
        )  # fmt: skip

    def groups(self, name: str) -> numpy.ndarray:
        """The groups of a set."""
        return numpy.flatnonzero(self.arrays["group_set"] == SETS.index(name))

    def source_of(self, groups: numpy.ndarray) -> list[str]:
        return [self.sources[n] for n in self.arrays["group_source"][groups]]

    def rows_of(self, groups: Sequence[int] | numpy.ndarray) -> numpy.ndarray:
        at = self.arrays["group_at"]
        return numpy.concatenate([numpy.arange(at[g], at[g + 1]) for g in groups])

    def cut(
        self, groups: numpy.ndarray, size: int, rng: numpy.random.Generator | None
    ) -> list[numpy.ndarray]:
        """Groups in batches of at most so many pieces, those of about one length together."""
        sizes = numpy.diff(self.arrays["group_at"])
        noise = 0 if rng is None else rng.uniform(-4, 4, len(groups))
        order = groups[numpy.argsort(self.group_length[groups] + noise, kind="stable")]
        found: list[list[int]] = [[]]
        rows = longest = 0
        for n in order.tolist():
            longest = max(longest, int(self.group_length[n]))
            if found[-1] and (rows + sizes[n]) * longest > size:
                found.append([])
                rows, longest = 0, int(self.group_length[n])
            found[-1].append(n)
            rows += int(sizes[n])
        return [numpy.array(one) for one in found if one]

    def batch(self, groups: numpy.ndarray) -> Batch:
        """These groups side by side."""
        a = self.arrays
        rows = self.rows_of(groups)
        place = numpy.full(int(rows.max()) - int(rows.min()) + 1, -1)
        place[rows - rows.min()] = numpy.arange(len(rows))
        sizes = numpy.diff(a["group_at"])[groups]
        orders = numpy.concatenate(
            [numpy.arange(self.order_at[g], self.order_at[g + 1]) for g in groups]
        )
        device = self.device

        def texts(numbers: numpy.ndarray) -> Tensor:
            # Widths in steps of eight: few shapes come again and again, which the device likes.
            longest = min(-(-int(self.lengths[numbers].max()) // 8) * 8, self.table.shape[1])
            return self.table[torch.from_numpy(numbers.astype(numpy.int64)).to(device), :longest]

        number = torch.from_numpy(rows).to(device)
        return Batch(
            number,
            texts(a["row_text"][rows]),
            texts(a["group_reference"][groups]),
            torch.from_numpy(numpy.repeat(numpy.arange(len(groups)), sizes)).to(device),
            self.surface[number],
            torch.from_numpy(place[a["order_better"][orders] - rows.min()]).to(device),
            torch.from_numpy(place[a["order_worse"][orders] - rows.min()]).to(device),
            torch.from_numpy(a["order_margin"][orders].astype(numpy.float32)).to(device),
        )
