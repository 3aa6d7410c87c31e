"""The network: one small encoder, and heads that read its states.

The encoder is MiniLM (6 layers, 384 wide) with one more embedding, the word's shape, because
its vocabulary is lower-cased. Heads: part of speech, predicate or not, constituents by their
two ends, roles by a small transformer over (word, predicate) pairs, and the vector that is
kept close to the encoder's own from before training, for similarity.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(slots=True)
class Configuration:
    """Sizes."""

    vocabulary: int = 30522
    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    shapes: int = 8
    tags: int = 50
    constituents: int = 100
    states: int = 100
    span_width: int = 192
    role_width: int = 256
    role_layers: int = 2
    role_heads: int = 4
    role_inner: int = 512
    reach: int = 32
    dropout: float = 0.2

    def as_dict(self) -> dict[str, int | float]:
        return asdict(self)


class Layer(nn.Module):
    """A transformer layer with the norm after each part, as BERT has it."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.mix = nn.Linear(width, width)
        self.mix_norm = nn.LayerNorm(width, eps=1e-12)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)
        self.down_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        rows, length, width = x.shape

        def split(y: Tensor) -> Tensor:
            return y.view(rows, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = query @ key.transpose(-1, -2) / math.sqrt(width // self.heads)
        if bias is not None:
            scores = scores + bias
        chosen = functional.dropout(scores.softmax(-1), self.dropout, self.training) @ value
        mixed = self.mix(chosen.transpose(1, 2).reshape(rows, length, width))
        x = self.mix_norm(x + functional.dropout(mixed, self.dropout, self.training))
        inner = self.down(functional.gelu(self.up(x)))
        return self.down_norm(x + functional.dropout(inner, self.dropout, self.training))


class Encoder(nn.Module):
    """MiniLM, with the shape of words added to its input."""

    def __init__(self, c: Configuration, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = dropout
        self.word = nn.Embedding(c.vocabulary, c.width)
        self.position = nn.Embedding(c.positions, c.width)
        self.kind = nn.Parameter(torch.zeros(c.width))
        self.shape = nn.Embedding(c.shapes, c.width)
        nn.init.zeros_(self.shape.weight)
        self.norm = nn.LayerNorm(c.width, eps=1e-12)
        self.layers = nn.ModuleList(
            Layer(c.width, c.heads, c.inner, dropout) for _ in range(c.layers)
        )

    def forward(self, pieces: Tensor, shapes: Tensor, there: Tensor | None) -> list[Tensor]:
        """States after the embedding and after each layer; all pieces count without `there`."""
        x = self.word(pieces) + self.position.weight[: pieces.shape[1]] + self.kind
        x = self.norm(x + self.shape(shapes))
        x = functional.dropout(x, self.dropout, self.training)
        bias = None if there is None else (1.0 - there[:, None, None, :].to(x.dtype)) * -10000.0
        states = [x]
        for layer in self.layers:
            states.append(layer(states[-1], bias))
        return states

    def load(self, path: Path) -> None:
        """Take MiniLM's weights from its safetensors file."""
        from safetensors.torch import load_file

        given = {name.removeprefix("bert."): value for name, value in load_file(path).items()}
        self.word.weight.data.copy_(given["embeddings.word_embeddings.weight"])
        self.position.weight.data.copy_(given["embeddings.position_embeddings.weight"])
        self.kind.data.copy_(given["embeddings.token_type_embeddings.weight"][0])
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


class RoleHead(nn.Module):
    """Roles of one predicate: a small transformer over the words, told which one it is."""

    def __init__(self, c: Configuration) -> None:
        super().__init__()
        self.reach = c.reach
        self.token = nn.Linear(c.width, c.role_width)
        self.predicate = nn.Linear(c.width, c.role_width)
        self.product = nn.Linear(c.role_width, c.role_width, bias=False)
        self.distance = nn.Embedding(2 * c.reach + 1, c.role_width)
        self.norm = nn.LayerNorm(c.role_width)
        self.dropout = c.dropout
        self.layers = nn.ModuleList(
            Layer(c.role_width, c.role_heads, c.role_inner, c.dropout) for _ in range(c.role_layers)
        )
        self.out = nn.Linear(c.role_width, c.states)

    def project(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """What the pairs are made of, once a word."""
        return self.token(words), self.predicate(words)

    def forward(
        self, token: Tensor, predicate: Tensor, row: Tensor, place: Tensor, there: Tensor | None
    ) -> Tensor:
        """Scores (pairs, words, states).

        Args:
            token: (sentences, words, width) of `project`.
            predicate: Likewise.
            row: The sentence of each predicate.
            place: The word of each predicate.
            there: (sentences, words), 1 where there is a word; without it, everywhere.
        """
        tokens = token[row]
        heads = predicate[row, place][:, None, :]
        steps = torch.arange(token.shape[1], device=token.device)[None, :] - place[:, None]
        x = tokens + heads + self.product(tokens * heads)
        x = x + self.distance(steps.clamp(-self.reach, self.reach) + self.reach)
        x = functional.dropout(self.norm(x), self.dropout, self.training)
        bias = None
        if there is not None:
            bias = (1.0 - there[row][:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return self.out(x)


class SpanHead(nn.Module):
    """Constituents: a span is the difference of the states at its two ends."""

    def __init__(self, c: Configuration) -> None:
        super().__init__()
        self.left = nn.Linear(c.width, c.span_width)
        self.right = nn.Linear(c.width, c.span_width)
        self.bias = nn.Parameter(torch.zeros(c.span_width))
        self.norm = nn.LayerNorm(c.span_width)
        self.out = nn.Linear(c.span_width, c.constituents)
        self.dropout = c.dropout

    def fences(self, words: Tensor, before: Tensor, after: Tensor) -> Tensor:
        """What stands between two words, for every gap from before the first word on.

        `before` and `after` are the states of the marks around the sentence; words past the
        end of a sentence hold `after`.
        """
        left = self.left(torch.cat([before[:, None], words], 1))
        right = self.right(torch.cat([words, after[:, None]], 1))
        return left + right

    def forward(self, start: Tensor, end: Tensor) -> Tensor:
        x = functional.gelu(self.norm(end - start + self.bias))
        return self.out(functional.dropout(x, self.dropout, self.training))


class VectorHead(nn.Module):
    """The vector kept for similarity: the mixed state, and what is to be put back into it."""

    def __init__(self, c: Configuration) -> None:
        super().__init__()
        self.up = nn.Linear(c.width, 2 * c.width)
        self.down = nn.Linear(2 * c.width, c.width)
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.down.bias)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(functional.gelu(self.up(x)))


class Analyser(nn.Module):
    """Encoder and heads."""

    def __init__(self, c: Configuration) -> None:
        super().__init__()
        self.c = c
        self.encoder = Encoder(c)
        self.layer_weights = nn.Parameter(torch.zeros(3, c.layers + 1))
        with torch.no_grad():
            # Syntax from the top, vectors from the middle, to begin with.
            self.layer_weights[:2, -1] = 2.0
            self.layer_weights[2, -1] = 2.0
        self.tag = nn.Linear(c.width, c.tags)
        self.is_predicate = nn.Linear(c.width, 1)
        self.spans = SpanHead(c)
        self.roles = RoleHead(c)
        self.vector = VectorHead(c)

    def words(
        self, pieces: Tensor, shapes: Tensor, there: Tensor | None, firsts: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """States of the words for tagging and spans, for roles, for vectors; of the marks."""
        states = torch.stack(self.encoder(pieces, shapes, there))
        mixed = torch.einsum(
            "kl,lbsw->kbsw", self.layer_weights.softmax(-1).to(states.dtype), states
        )
        index = firsts[None, :, :, None].expand(3, -1, -1, mixed.shape[-1])
        words = mixed.gather(2, index)
        if there is None:
            return words[0], words[1], words[2], mixed[0][:, 0], mixed[0][:, -1]
        last = there.sum(1).long() - 1
        after = mixed[0].gather(1, last[:, None, None].expand(-1, 1, mixed.shape[-1]))[:, 0]
        return words[0], words[1], words[2], mixed[0][:, 0], after

    def drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.c.dropout, self.training)

    def forward(
        self,
        pieces: Tensor,
        shapes: Tensor,
        there: Tensor,
        firsts: Tensor,
        words_there: Tensor,
        row: Tensor,
        place: Tensor,
    ) -> dict[str, Tensor]:
        syntax, semantic, vector, before, after = self.words(pieces, shapes, there, firsts)
        syntax, semantic = self.drop(syntax), self.drop(semantic)
        # Past the end of a sentence stands the mark behind it, as the span head wants it.
        fences = self.spans.fences(
            torch.where(words_there[:, :, None] > 0, syntax, after[:, None, :]), before, after
        )
        token, predicate = self.roles.project(semantic)
        return {
            "tags": self.tag(syntax),
            "predicates": self.is_predicate(syntax)[..., 0],
            "spans": self.spans(fences[:, :, None, :], fences[:, None, :, :]),
            "roles": self.roles(token, predicate, row, place, words_there),
            "vectors": self.vector(vector),
        }
