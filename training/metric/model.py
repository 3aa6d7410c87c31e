"""The network: one small encoder reads hypothesis and reference, first apart, then together.

MiniLM's first layers. In the lower ones a word sees its own sentence only, in the upper ones both.
After each half every word looks for its most similar word on the other side; what that says
(weighed by rarity and by a learned importance), a few numbers of the surface and the state of the
first mark go into a small head.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.analyser.model import Layer

TARGETS = (
    "meant", "frames-precision", "frames-recall", "frames", "words", "names",
    "negation", "numbers", "modality", "consensus", "consensus-words", "judge",
)  # fmt: skip
"""What is learned beside the score: what can be said of a pair without a judge, and one judge."""

SURFACE = 6
"""Numbers of the surface that are given: see `meantime.learned.trained.surface`."""


@dataclass(slots=True)
class Configuration:
    """Sizes."""

    vocabulary: int = 30522
    width: int = 384
    apart: int = 2
    together: int = 3
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    hidden: int = 192
    dropout: float = 0.1

    def as_dict(self) -> dict[str, int | float]:
        return asdict(self)


class Matching(nn.Module):
    """How well the words of each side are found on the other."""

    FEATURES = 8

    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, width)
        nn.init.eye_(self.project.weight)
        nn.init.zeros_(self.project.bias)
        self.importance = nn.Linear(width, 2)
        nn.init.zeros_(self.importance.weight)
        nn.init.zeros_(self.importance.bias)

    def forward(
        self, states: Tensor, side: Tensor, rarity: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Features (rows, 8), best similarity of each piece, and what each piece weighs.

        Args:
            states: (rows, length, width).
            side: 0 for pieces of the hypothesis, 1 for the reference's, 2 and 3 for their marks.
            rarity: What each piece weighs by its rarity; 0 for marks and filling.
        """
        vectors = functional.normalize(self.project(states).float(), dim=-1)
        similar = vectors @ vectors.transpose(1, 2)
        other = (side[:, :, None] + side[:, None, :]) == 1
        best = torch.where(other, similar, torch.full_like(similar, -1.0)).amax(-1)
        raw = self.importance(states).float()
        weight = rarity * torch.exp(2.0 * torch.tanh(raw[..., 0]))
        gate = torch.sigmoid(raw[..., 1])
        found = []
        for one in (0, 1):
            mine = (side == one).float() * weight
            total = mine.sum(1).clamp_min(1e-6)
            found.append((mine * best).sum(1) / total)
            lost = (side == one).float() * gate * (1.0 - best) * (rarity > 0).float()
            found.append(lost.amax(1))
            found.append(lost.sum(1) / 4.0)
            found.append(torch.log1p(mine.sum(1)) / 4.0)
        return torch.stack(found, 1), best, weight


class Judge(nn.Module):
    """Encoder, matchings and head."""

    def __init__(self, c: Configuration) -> None:
        super().__init__()
        self.c = c
        self.word = nn.Embedding(c.vocabulary, c.width)
        self.position = nn.Embedding(c.positions, c.width)
        self.norm = nn.LayerNorm(c.width, eps=1e-12)
        self.side = nn.Embedding(2, c.width)
        self.layers = nn.ModuleList(
            Layer(c.width, c.heads, c.inner, c.dropout) for _ in range(c.apart + c.together)
        )
        self.register_buffer("rarity", torch.ones(c.vocabulary))
        self.lower = Matching(c.width)
        self.upper = Matching(c.width)
        self.hidden = nn.Linear(c.width + 2 * Matching.FEATURES + SURFACE, c.hidden)
        self.score = nn.Linear(c.hidden, 1)
        self.others = nn.Linear(c.hidden, len(TARGETS))

    def read(self, pieces: Tensor, there: Tensor | None) -> Tensor:
        """States of texts by themselves, (texts, length, width)."""
        x = self.norm(self.word(pieces) + self.position.weight[: pieces.shape[1]])
        x = functional.dropout(x, self.c.dropout, self.training)
        bias = None if there is None else torch.where(there, 0.0, -10000.0)[:, None, None]
        for layer in self.layers[: self.c.apart]:
            x = layer(x, bias)
        return x

    def compare(
        self, x: Tensor, side: Tensor, rarity: Tensor, there: Tensor | None, surface: Tensor
    ) -> tuple[Tensor, ...]:
        """Score and all else of pairs, from the states of both texts end to end.

        Args:
            x: (rows, length, width).
            side: 0 for pieces of the hypothesis, 1 for the reference's, 2 and 3 for their marks.
            rarity: What each piece weighs by its rarity; 0 for marks and filling.
            there: What is no filling; all without.
            surface: (rows, SURFACE).
        """
        lower, lower_best, lower_weight = self.lower(x, side, rarity)
        x = x + self.side(side % 2)
        bias = None if there is None else torch.where(there, 0.0, -10000.0)[:, None, None]
        for layer in self.layers[self.c.apart :]:
            x = layer(x, bias)
        upper, best, weight = self.upper(x, side, rarity)
        given = torch.cat([x[:, 0].float(), lower, upper, surface], 1)
        hidden = functional.gelu(self.hidden(functional.dropout(given, 0.05, self.training)))
        return (
            self.score(hidden)[:, 0], self.others(hidden),
            lower_best, lower_weight, best, weight,
        )  # fmt: skip

    def forward(
        self, texts: Tensor, index: Tensor, side: Tensor, surface: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score and other targets of a batch.

        Args:
            texts: (texts, longest), pieces with marks; 0 is filling.
            index: (rows, length), where each piece of a pair stands in the flattened texts; -1 is
                filling.
            side: As in `compare`.
            surface: (rows, SURFACE).
        """
        states = self.read(texts, texts != 0)
        there = index >= 0
        place = index.clamp_min(0)
        x = states.reshape(-1, states.shape[-1])[place]
        rarity = self.rarity[texts.reshape(-1)[place]] * (side < 2)
        found = self.compare(x, side, rarity, there, surface)
        return found[0], found[1]

    def load_encoder(self, path: Path) -> None:
        """Take MiniLM's weights from its safetensors file."""
        from safetensors.torch import load_file

        given = {name.removeprefix("bert."): value for name, value in load_file(path).items()}
        self.word.weight.data.copy_(given["embeddings.word_embeddings.weight"])
        self.position.weight.data.copy_(given["embeddings.position_embeddings.weight"])
        # Texts have no kind here; what MiniLM adds to every piece goes to the places.
        self.position.weight.data += given["embeddings.token_type_embeddings.weight"][0]
        nn.init.normal_(self.side.weight, std=0.02)
        self.norm.weight.data.copy_(given["embeddings.LayerNorm.weight"])
        self.norm.bias.data.copy_(given["embeddings.LayerNorm.bias"])
        names = {
            "query": "attention.self.query",
            "key": "attention.self.key",
            "value": "attention.self.value",
            "mix": "attention.output.dense",
            "mix_norm": "attention.output.LayerNorm",
            "up": "intermediate.dense",
            "down": "output.dense",
            "down_norm": "output.LayerNorm",
        }
        for number, layer in enumerate(self.layers):
            for ours, theirs in names.items():
                for part in ("weight", "bias"):
                    value = given[f"encoder.layer.{number}.{theirs}.{part}"]
                    getattr(getattr(layer, ours), part).data.copy_(value)
