"""The network: one small encoder reads hypothesis and reference, first apart, then together.

MiniLM's layers. In the lower ones a word sees its own sentence only, in the upper ones both. After
a middle layer and after the last every word looks for its most similar word on the other side; what
that says (weighed by rarity and by a learned importance) makes the score directly, and again with
the states of both sentences and a few numbers of the surface through a small head. So the score is
from the first step on what MiniLM's word vectors say, and training changes what they have wrong.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.analyser.model import Layer

OTHERS = ("characters", "pieces", "consensus", "consensus-pieces", "judge")
"""What is learned beside the score: what can be said of a pair without a judge, and one judge."""

SURFACE = 6
"""Numbers of the surface that are given: see `meantime.learned.encoding`."""


@dataclass(slots=True)
class Configuration:
    """Sizes."""

    vocabulary: int = 30522
    width: int = 384
    apart: int = 4
    together: int = 2
    match: int = 4
    """The lower layer after which words are matched first."""
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    hidden: int = 256
    dropout: float = 0.1

    def as_dict(self) -> dict[str, int | float]:
        return asdict(self)


class FusedLayer(Layer):
    """The same layer, in training with one fused product for the attention."""

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        if not self.training and x.device.type == "cpu":
            return super().forward(x, bias)
        rows, length, width = x.shape

        def split(y: Tensor) -> Tensor:
            return y.view(rows, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        chosen = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=None if bias is None else bias.to(query.dtype),
            dropout_p=self.dropout if self.training else 0.0,
        )
        mixed = self.mix(chosen.transpose(1, 2).reshape(rows, length, width))
        x = self.mix_norm(x + functional.dropout(mixed, self.dropout, self.training))
        inner = self.down(functional.gelu(self.up(x)))
        return self.down_norm(x + functional.dropout(inner, self.dropout, self.training))


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
        self, states: tuple[Tensor, Tensor], rarity: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Features (rows, 8); of each side the best similarity and the weight of each piece.

        Args:
            states: Of hypothesis and reference, (rows, length, width).
            rarity: What each piece weighs by its rarity; 0 for marks and filling.
        """
        ours, theirs = (functional.normalize(self.project(one).float(), dim=-1) for one in states)
        similar = ours @ theirs.transpose(1, 2)
        there = [(one > 0).float() for one in rarity]
        # What is no word is found by nobody.
        best = (
            (similar - 2.0 * (1.0 - there[1])[:, None, :]).amax(2).clamp_min(-1.0),
            (similar - 2.0 * (1.0 - there[0])[:, :, None]).amax(1).clamp_min(-1.0),
        )
        found = []
        weights = []
        for one in (0, 1):
            raw = self.importance(states[one]).float()
            weight = rarity[one] * torch.exp(2.0 * torch.tanh(raw[..., 0]))
            gate = torch.sigmoid(raw[..., 1])
            total = weight.sum(1)
            found.append((weight * best[one]).sum(1) / total.clamp_min(1e-6))
            lost = gate * (1.0 - best[one]) * there[one]
            found.append(lost.amax(1))
            found.append(lost.sum(1) / 4.0)
            found.append(torch.log1p(total) / 4.0)
            weights.append(weight)
        return torch.stack(found, 1), best, (weights[0], weights[1])


def _mean(states: Tensor, there: Tensor | None) -> Tensor:
    """The direction of the mean state of each text, as long as the root of its width."""
    mean = states.mean(1) if there is None else (states * there[..., None]).sum(1)
    return functional.normalize(mean, dim=1) * states.shape[-1] ** 0.5


def match_plainly(states: tuple[Tensor, Tensor], rarity: tuple[Tensor, Tensor]) -> Tensor:
    """F-score of every word's best match, all words alike, by the states as they are."""
    ours, theirs = (functional.normalize(one.float(), dim=-1) for one in states)
    similar = ours @ theirs.transpose(1, 2)
    there = [(one > 0).float() for one in rarity]
    best = (
        (similar - 2.0 * (1.0 - there[1])[:, None, :]).amax(2),
        (similar - 2.0 * (1.0 - there[0])[:, :, None]).amax(1),
    )
    one, other = (
        (best[n] * there[n]).sum(1) / there[n].sum(1).clamp_min(1e-6) for n in (0, 1)
    )  # fmt: skip
    return 2 * one * other / (one + other).clamp_min(1e-6)


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
            FusedLayer(c.width, c.heads, c.inner, c.dropout) for _ in range(c.apart + c.together)
        )
        self.register_buffer("rarity", torch.ones(c.vocabulary))
        self.lower = Matching(c.width)
        self.upper = Matching(c.width)
        features = 2 * Matching.FEATURES + SURFACE
        given = (4 if c.together else 2) * c.width + features
        self.hidden = nn.Linear(given, c.hidden)
        self.direct = nn.Linear(features, 1)
        nn.init.zeros_(self.direct.weight)
        nn.init.constant_(self.direct.bias, -6.0)
        for feature in (0, Matching.FEATURES // 2):
            # Precision and recall of the first matching: their spread is about an eighth.
            self.direct.weight.data[0, feature] = 4.0
        self.score = nn.Linear(c.hidden, 1)
        nn.init.normal_(self.score.weight, std=0.02)
        nn.init.zeros_(self.score.bias)
        self.others = nn.Linear(c.hidden, len(OTHERS))
        self.register_buffer("plain", torch.zeros(1))
        """What the plain matching of the middle states adds: see `recipe.blend`."""

    def read(self, pieces: Tensor, there: Tensor | None) -> tuple[Tensor, Tensor]:
        """States of texts by themselves after the middle and the last lower layer.

        Both are (texts, length, width).
        """
        x = self.norm(self.word(pieces) + self.position.weight[: pieces.shape[1]])
        x = functional.dropout(x, self.c.dropout, self.training)
        bias = None if there is None else torch.where(there, 0.0, -10000.0)[:, None, None]
        middle = x
        for number, layer in enumerate(self.layers[: self.c.apart], 1):
            x = layer(x, bias)
            if number == self.c.match:
                middle = x
        return middle, x

    def compare(
        self,
        middle: tuple[Tensor, Tensor],
        states: tuple[Tensor, Tensor],
        rarity: tuple[Tensor, Tensor],
        surface: Tensor,
        there: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Score, others, and of each side how well its pieces are found and what they weigh.

        Args:
            middle: Of hypothesis and reference after the middle layer, (rows, length, width).
            states: After the last layer that sees one text only.
            rarity: What each piece weighs by its rarity; 0 for marks and filling.
            surface: (rows, SURFACE).
            there: What is no filling; all without.
        """
        lower, _, _ = self.lower(middle, rarity)
        if self.c.together:
            own = states[0].shape[1]
            x = torch.cat([one + self.side.weight[n] for n, one in enumerate(states)], 1)
            both = None if there is None else torch.cat(there, 1)
            bias = None if both is None else torch.where(both, 0.0, -10000.0)[:, None, None]
            for layer in self.layers[self.c.apart :]:
                x = layer(x, bias)
            states = (x[:, :own], x[:, own:])
        upper, best, weight = self.upper(states, rarity)
        means = [_mean(one.float(), None if there is None else there[n])
                 for n, one in enumerate(states)]  # fmt: skip
        shown = [means[0] * means[1], (means[0] - means[1]).abs()]
        if self.c.together:
            shown += [one[:, 0].float() for one in states]
        features = torch.cat([lower, upper, surface], 1)
        given = functional.dropout(torch.cat(shown, 1), 0.1, self.training)
        hidden = functional.gelu(self.hidden(torch.cat([given, features], 1)))
        score = self.score(hidden)[:, 0] + self.direct(features)[:, 0]
        score = score + self.plain * (match_plainly(middle, rarity) - 0.8)
        return score, self.others(hidden), best, weight

    def forward(
        self, hypothesis: Tensor, reference: Tensor, group: Tensor | None, surface: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score and others of a batch.

        Args:
            hypothesis: (rows, longest), pieces with marks; 0 is filling.
            reference: (groups, longest).
            group: Which reference each row has; one each without.
            surface: (rows, SURFACE).
        """
        ours = self.read(hypothesis, hypothesis != 0)
        theirs = self.read(reference, reference != 0)
        if group is not None:
            reference = reference[group]
            theirs = (theirs[0][group], theirs[1][group])
        rarity = (self.rarity[hypothesis], self.rarity[reference])
        score, others, _, _ = self.compare(
            (ours[0], theirs[0]), (ours[1], theirs[1]), rarity, surface,
            (hypothesis != 0, reference != 0),
        )  # fmt: skip
        return score, others

    def load_encoder(self, given: dict[str, Tensor]) -> None:
        """Take MiniLM's weights, by the names of its safetensors file."""
        given = {name.removeprefix("bert."): value.float() for name, value in given.items()}
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
                    value = given[f"encoder.layer.{min(number, 5)}.{theirs}.{part}"]
                    getattr(getattr(layer, ours), part).data.copy_(value)


# Encoder files


def squeeze(encoder: Path, out: Path) -> None:
    """MiniLM at half its size: word vectors in int8 with a scale each, all else bf16."""
    from safetensors.torch import load_file, save_file

    kept = {}
    for name, value in load_file(encoder / "model.safetensors").items():
        if name.endswith("word_embeddings.weight"):
            scale = value.abs().amax(1, keepdim=True) / 127
            kept[name] = torch.round(value / scale).to(torch.int8)
            kept[f"{name}.scale"] = scale
        elif "pooler" not in name and value.dtype.is_floating_point:
            kept[name] = value.to(torch.bfloat16)
    save_file(kept, out)


def read_encoder(path: Path) -> dict[str, Tensor]:
    """MiniLM's weights, from its own file or a squeezed one."""
    from safetensors.torch import load_file

    given = load_file(path)
    for name in [name for name in given if name.endswith(".scale")]:
        of = name.removesuffix(".scale")
        given[of] = given[of].float() * given.pop(name)
    return given
