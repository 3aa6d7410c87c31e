"""`meantime learn`: metrics trained from data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meantime.errors import InputError, UsageError
from meantime.learned.choices import Learner, Scaling, Stemming

if TYPE_CHECKING:
    from meantime.learned.features import FeatureSet
    from meantime.learned.figures import Figures
    from meantime.learned.fitting import Fitted
    from meantime.learned.groups import Settings
    from meantime.learned.journal import Journal
    from meantime.learned.searching import Candidate, Jackknifed, Tried
    from meantime.protocols import Array
    from meantime.types import Pair

learn_app = typer.Typer(
    name="learn",
    help="Train metrics: human or machine, same meaning or not, your own judgements.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PAPER_CS = (5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 150.0)
PAPER_SIGMAS = (10.0, 25.0, 50.0, 75.0, 100.0)

_OUT = typer.Option("--out", "-o", metavar="DIR", help="A new folder for the trained metric.")
_FEATURES = typer.Option(
    "--features",
    metavar="LIST",
    help="Feature groups with commas between; 'meantime learn features' lists them.",
)
_LOWERCASE = typer.Option("--lowercase", help="Compare words without regard to case.")
_STEM = typer.Option("--stem", help="Which of the analyser's words are compared by their stem.")
_C = typer.Option(
    "--c", metavar="LIST", help="What an error costs: numbers to try, with commas between."
)
_SEED = typer.Option("--seed", metavar="N", min=0, help="Of everything left to chance.")
_ANALYSER = typer.Option(
    "--analyser",
    metavar="NAME",
    help="A model's folder, or a registered analyser.  [default: the shipped one]",
)
_NO_CACHE = typer.Option("--no-cache", help="Analyse anew, and keep no analysis on disk.")
_LANG = typer.Option("--lang", metavar="CODE", help="Language of the texts.")


@learn_app.command("features")
def features(
    names: Annotated[
        str | None, typer.Argument(metavar="[LIST]", help="Groups with commas between.")
    ] = None,
) -> None:
    """List the feature groups; or the features of some of them by name."""
    from meantime.cli.output import emit
    from meantime.learned.groups import GROUPS, make_features, parse_groups

    if names is None:
        width = max(map(len, GROUPS))
        listed = [f"{name:<{width}}  {what}" for name, what in GROUPS.items()]
        listed.append(f"{'metric:NAME':<{width}}  the segment score of any metric")
        emit("\n".join(listed) + "\n", None)
        return
    made = make_features(parse_groups(names))
    needs = ", ".join(sorted(made.needs)) or "nothing beyond the text"
    emit("".join(f"{name}\n" for name in made.names), None)
    typer.echo(f"{len(made.names)} features; they need {needs}", err=True)


@learn_app.command("human-or-machine")
def human_or_machine(
    refs: Annotated[
        list[str],
        typer.Option("--refs", metavar="FILE", help="References; give it twice or more."),
    ],
    hyps: Annotated[
        list[str],
        typer.Option("--hyps", metavar="FILE", help="Outputs of a system; again for several."),
    ],
    out: Annotated[Path, _OUT],
    groups: Annotated[str, _FEATURES] = "basic",
    c: Annotated[str, _C] = "1,5,10,25,50,75,100,150",
    sigma: Annotated[
        str,
        typer.Option(
            "--sigma", metavar="LIST", help="Deviations of the kernel to try, in scaled features."
        ),
    ] = "1,2.5,5,10,25,50,75,100",
    scaling: Annotated[
        Scaling, typer.Option("--scaling", help="What is done to features before learning.")
    ] = Scaling.STANDARD,
    held_out: Annotated[
        float,
        typer.Option("--held-out", metavar="SHARE", help="Of the segments, to select by."),
    ] = 1 / 3,
    lowercase: Annotated[bool, _LOWERCASE] = False,
    lang: Annotated[str, _LANG] = "en",
    seed: Annotated[int, _SEED] = 1,
    analyser: Annotated[str | None, _ANALYSER] = None,
    no_cache: Annotated[bool, _NO_CACHE] = False,
) -> None:
    """Learn to tell human from machine translations; the signed distance is the metric.

    No judgement is needed: the references of a segment are human translations, each compared with
    the others. C and sigma are chosen by accuracy on segments held out. Killed, the search goes on
    where it was.
    """
    from meantime.formats import read
    from meantime.learned import origins, searching, splits
    from meantime.learned.groups import Settings

    settings = Settings(lowercase=lowercase)
    made = _checked(out, groups, settings)
    candidates = searching.grid(_numbers("--c", c), _numbers("--sigma", sigma), [scaling.value])
    if not 0 < held_out < 1:
        raise UsageError(f"--held-out {held_out:g}: give a share between 0 and 1")
    corpus = read(hyps, references=refs, lang=lang)
    found = origins.make_origins(corpus.segments, corpus.outputs, seed=seed)
    _tell(found.notes)
    if not len(found.labels):
        raise InputError("no segment gives an example of either class; give other references")
    held = splits.hold_out(found.segments, held_out, seed=seed)
    pairs, origin = _analyse(found.pairs, made, analyser, no_cache)
    rows = _features(made, pairs, origin, _work(out))
    for part, what in ((~held, "examples to train on"), (held, "held-out examples")):
        notes = searching.check_examples(rows[part], found.labels[part], made.names, what=what)
        _tell(notes if what.startswith("examples") else ())
    facts = {"kind": "human-or-machine", "seed": seed, "held_out": held_out, "analysis": origin}
    with _journal(out, facts, made, rows, found.labels, held) as journal:
        tried = _search(
            "trying parameters",
            lambda bar: searching.search(
                rows, found.labels, [held], candidates, journal=journal, progress=bar
            ),
        )
        chosen = searching.best(tried)
        classifier = searching.train(rows[~held], found.labels[~held], chosen.candidate)
        results = {
            "held-out accuracy": chosen.accuracy,
            "of machine translations": chosen.by_class[0],
            "of human translations": chosen.by_class[1],
            "grid": [_trial(one) for one in tried],
        }
        training = {
            **facts,
            "data": [Path(path).name for path in (*refs, *hyps)],
            "examples": int((~held).sum()),
            "held out": int(held.sum()),
            "parameters": str(chosen.candidate),
        }
        _save(
            out, "human-or-machine", groups, settings, classifier, journal,
            references=found.references, training=training, results=results,
        )  # fmt: skip
    text = _grid_table(tried, chosen)
    text += (
        f"\nchosen: C={chosen.candidate.c:g}, sigma={chosen.candidate.sigma:g}: "
        f"{chosen.accuracy:.1%} of {int(held.sum())} held-out translations told apart\n"
        f"(machine {chosen.by_class[0]:.1%}, human {chosen.by_class[1]:.1%}; "
        f"{len(classifier.machine.weights)} support vectors of {int((~held).sum())} examples)\n"
    )
    text += _edges(candidates, chosen.candidate)
    _finish(text, out)


@learn_app.command("pairs")
def pairs(
    train: Annotated[
        str, typer.Option("--train", metavar="FILE", help="Pairs with labels, to learn from.")
    ],
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="FILE", help="Pairs with labels, to test on alone."),
    ] = None,
    groups: Annotated[str, _FEATURES] = "all",
    out: Annotated[Path | None, _OUT] = None,
    jackknife: Annotated[
        int | None,
        typer.Option(
            "--jackknife",
            metavar="N",
            min=3,
            help="Estimate on the training pairs too: N folds, each tested once.",
        ),
    ] = None,
    c: Annotated[str, _C] = "0.5,1,2,4,8",
    sigma: Annotated[
        str,
        typer.Option(
            "--sigma",
            metavar="LIST",
            help="Deviations of the kernel to try, times the root of the number of features.",
        ),
    ] = "0.7,1,1.4,2",
    scaling: Annotated[
        list[Scaling] | None,
        typer.Option("--scaling", help="What to try of scaling.  [default: standard]"),
    ] = None,
    stem: Annotated[Stemming, _STEM] = Stemming.NOUNS_VERBS,
    lowercase: Annotated[bool, _LOWERCASE] = False,
    synonyms: Annotated[
        str | None,
        typer.Option(
            "--synonyms",
            metavar="FILE",
            help="Let synonyms match in WER, PER and pos: a text to count WordNet's senses in.",
        ),
    ] = None,
    wordnet: Annotated[
        str | None,
        typer.Option("--wordnet", metavar="DIR", help="WordNet's dictionary folder."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="The greatest distance of synonyms.  [default: 2]"),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", min=2, help="Inner folds, to choose parameters.")
    ] = 5,
    lang: Annotated[str, _LANG] = "en",
    seed: Annotated[int, _SEED] = 1,
    analyser: Annotated[str | None, _ANALYSER] = None,
    no_cache: Annotated[bool, _NO_CACHE] = False,
) -> None:
    """Learn whether two sentences mean the same, from pairs with a label.

    Features are computed in both directions and averaged. C, sigma and scaling are chosen by
    cross-validation on the training pairs; what --test names is only tested on.
    """
    from meantime.learned import figures, searching
    from meantime.learned.groups import Settings
    from meantime.learned.labelled import read_labelled

    if test is None and out is None and jackknife is None:
        raise UsageError("nothing would come of it; give --test FILE, --jackknife N or --out DIR")
    if synonyms is None and (wordnet is not None or threshold is not None):
        raise UsageError("--wordnet and --threshold are for synonyms; add --synonyms FILE")
    bare = Settings(both_directions=True, lowercase=lowercase, stem=stem.value)
    _checked(out, groups, bare)
    scalings = [one.value for one in scaling or [Scaling.STANDARD]]
    candidates = searching.grid(
        _numbers("--c", c), _numbers("--sigma", sigma), scalings, relative=True
    )
    learned = read_labelled(train, lang=lang)
    tested = None if test is None else read_labelled(test, lang=lang)
    settings = bare
    if synonyms is not None:
        counted = _count_synonyms(synonyms, wordnet, threshold, lang, analyser, no_cache)
        settings = Settings(
            both_directions=True, lowercase=lowercase, stem=stem.value, synonyms=counted
        )
    made = _checked(out, groups, settings)
    known, origin = _analyse(learned.pairs, made, analyser, no_cache)
    rows = _features(made, known, origin, _work(out))
    most = max(folds, jackknife or 0)
    notes = searching.check_examples(rows, learned.labels, made.names, folds=most, what="pairs")
    _tell(notes)
    facts = {
        "kind": "pairs", "seed": seed, "folds": folds, "analysis": origin,
    }  # fmt: skip
    lines: list[str] = []
    with _journal(out, facts, made, rows, learned.labels) as journal:
        if jackknife is not None:
            knifed = _search(
                "jackknife",
                lambda bar: searching.jackknife(
                    rows, learned.labels, candidates, folds=jackknife, seed=seed,
                    journal=journal, progress=bar, name=f"jackknife {jackknife}",
                ),
            )  # fmt: skip
            lines += _jackknifed(knifed)
        tried = _search(
            "trying parameters",
            lambda bar: searching.cross_validate(
                rows, learned.labels, candidates, folds=folds, seed=seed, journal=journal,
                progress=bar, name="all",
            ),
        )  # fmt: skip
        chosen = searching.best(tried)
        classifier = searching.train(rows, learned.labels, chosen.candidate)
        lines += [
            f"chosen by {folds}-fold cross-validation on {len(learned)} pairs: {chosen.candidate} "
            f"({chosen.accuracy:.2%})",
        ]
        results: dict[str, object] = {
            "cross-validated accuracy": chosen.accuracy,
            "grid": [_trial(one) for one in tried],
        }
        if tested is not None:
            asked, _ = _analyse(tested.pairs, made, analyser, no_cache)
            decided = classifier(_features(made, asked, origin, _work(out))) > 0
            whole = figures.measure(decided, tested.labels)
            lines += ["", *_tested(decided, tested.labels, tested.tasks)]
            results["test"] = {"file": Path(test or "").name, **asdict(whole)}
        if out is not None:
            training = {
                **facts,
                "data": [Path(train).name],
                "examples": len(learned),
                "parameters": str(chosen.candidate),
            }
            _save(
                out, "pairs", groups, settings, classifier, journal,
                references=1, training=training, results=results,
            )  # fmt: skip
    _finish("\n".join(lines) + "\n", out)


@learn_app.command("metric")
def metric(
    data: Annotated[
        list[str],
        typer.Option("--data", metavar="FILE", help="Translations with human scores."),
    ],
    out: Annotated[Path, _OUT],
    groups: Annotated[str, _FEATURES] = "basic,meant,metric:chrf",
    learner: Annotated[
        Learner, typer.Option("--learner", help="What is trained; both chooses.")
    ] = Learner.BOTH,
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", min=2, help="Outer folds, which estimate.")
    ] = 5,
    stem: Annotated[Stemming, _STEM] = Stemming.NOUNS_VERBS,
    lowercase: Annotated[bool, _LOWERCASE] = False,
    seed: Annotated[int, _SEED] = 1,
    analyser: Annotated[str | None, _ANALYSER] = None,
    no_cache: Annotated[bool, _NO_CACHE] = False,
) -> None:
    """Fit a metric to human scores of your own.

    Nested cross-validation by segment tells what it is worth on other segments, and a learning
    curve whether more judgements would help. The metric that is written is fitted to all of them.
    """
    from meantime.learned import fitting
    from meantime.learned.groups import Settings
    from meantime.learned.machines import load_svm
    from meantime.metaeval.reading import read_human_scores

    settings = Settings(lowercase=lowercase, stem=stem.value)
    made = _checked(out, groups, settings)
    if learner is not Learner.RIDGE:
        load_svm()
    known: list[Pair] = []
    scores: list[float] = []
    segments: list[tuple[str, ...]] = []
    for path in data:
        judged = read_human_scores(path).without_human_translations()
        for one, pair in zip(judged.pairs, judged.as_pairs(), strict=True):
            if one.score is not None:
                known.append(pair)
                scores.append(one.score)
                segments.append((path, *one.key))
    if not known:
        raise InputError(f"{', '.join(data)}: no translation has a human score")
    counts = {len(pair.segment.references) for pair in known}
    if len(counts) > 1:
        raise InputError(
            f"{', '.join(data)}: segments have {' or '.join(map(str, sorted(counts)))} references; "
            "the features of one depend on how many there are: give every segment as many"
        )
    pairs, origin = _analyse(known, made, analyser, no_cache)
    rows = _features(made, pairs, origin, _work(out))
    _tell(fitting.check_scores(rows, scores, segments, made.names, folds))
    import numpy

    from meantime.learned.splits import number_groups

    facts = {"kind": "metric", "seed": seed, "folds": folds, "analysis": origin}
    targets = numpy.array(scores, dtype=numpy.float64)
    with _journal(out, facts, made, rows, targets, number_groups(segments)) as journal:
        found = _search(
            "fitting",
            lambda bar: fitting.fit(
                rows, targets, segments, made.names, learner=learner.value, folds=folds,
                seed=seed, journal=journal, progress=bar,
            ),
        )  # fmt: skip
        training = {
            **facts,
            "data": [Path(path).name for path in data],
            "examples": len(rows),
            "segments": len(set(segments)),
            "parameters": str(found.trial),
        }
        results = {
            "pearson": asdict(found.pearson),
            "kendall": asdict(found.kendall),
            "kendall within segments": found.within_segments,
            "best single feature": found.best_feature,
            "best single feature pearson": asdict(found.alone),
            "learning curve": [
                {"segments": point.segments, "pearson": asdict(point.pearson)}
                for point in found.curve
            ],
            "verdict": found.verdict,
        }
        _save(
            out, "metric", groups, settings, found, journal, references=counts.pop(),
            mean=found.mean, deviation=found.deviation, training=training, results=results,
        )  # fmt: skip
    _finish(_fitted(found, len(rows), len(set(segments)), folds), out)


# What the verbs share


def _checked(out: Path | None, groups: str, settings: Settings) -> FeatureSet:
    """The features, once it is clear that the metric can be written."""
    from meantime.learned.groups import make_features, parse_groups
    from meantime.learned.models import check_free

    if out is not None:
        check_free(out)
    return make_features(parse_groups(groups), settings)


def _numbers(name: str, text: str) -> tuple[float, ...]:
    from meantime.learned.machines import check_numbers

    try:
        values = [float(item) for item in text.split(",") if item.strip()]
    except ValueError:
        raise UsageError(f"{name} {text!r}: give numbers with commas between") from None
    return check_numbers(name, values)


def _work(out: Path | None) -> Path | None:
    """Where features and what was tried are kept until the metric is written."""
    return None if out is None else out.with_name(f"{out.name}.unfinished")


def _analyse(
    pairs: Sequence[Pair], made: FeatureSet, analyser: str | None, no_cache: bool
) -> tuple[list[Pair], str]:
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.progress import Bar
    from meantime.scoring import ANALYSED, analyse_pairs

    if not made.needs & set(ANALYSED):
        return list(pairs), "none"
    with Bar("analysing") as bar:
        opened = open_cached(analyser, cached=not no_cache, progress=bar)
        known, origin = analyse_pairs(pairs, made.needs, opened)
    tell_note(opened)
    return known, origin


def _features(made: FeatureSet, pairs: Sequence[Pair], origin: str, folder: Path | None) -> Array:
    from meantime.cli.progress import Bar
    from meantime.learned.caching import compute_features

    with Bar("computing features") as bar:
        return compute_features(made, pairs, analysis=origin, folder=folder, progress=bar)


@contextmanager
def _journal(
    out: Path | None, facts: Mapping[str, object], made: FeatureSet, *arrays: Any
) -> Iterator[Journal]:
    """What was tried before on the very same data; the folder goes once all is written."""
    from meantime.learned.journal import Journal, fingerprint
    from meantime.learned.machines import trainer_version

    everything = {**facts, "recipe": made.recipe, "trainer": trainer_version()}
    folder = _work(out)
    journal = Journal(
        None if folder is None else folder / "tried.jsonl", fingerprint(everything, *arrays)
    )
    if journal.resumed:
        typer.echo(f"note: going on with {journal.resumed} trainings done before", err=True)
    yield journal
    if folder is not None:
        for path in sorted(folder.iterdir()):
            path.unlink()
        folder.rmdir()


def _search(what: str, work: Callable[[Any], Any]) -> Any:
    from meantime.cli.progress import Bar

    with Bar(what) as bar:
        return work(bar)


def _save(
    out: Path,
    kind: str,
    groups: str,
    settings: Settings,
    found: Any,
    journal: Journal,
    *,
    training: Mapping[str, object],
    **facts: Any,
) -> None:
    from meantime.learned.groups import parse_groups
    from meantime.learned.models import make_model, save_model

    signed = {"signature": journal.fingerprint, **training}
    model = make_model(
        kind, parse_groups(groups), settings, found.scaler, found.machine, training=signed, **facts
    )
    save_model(out, model)


def _finish(text: str, out: Path | None) -> None:
    from meantime.cli.output import emit

    emit(text, None)
    if out is not None:
        typer.echo(f"wrote {out}; use it with -m {_as_argument(out)}", err=True)


def _as_argument(out: Path) -> str:
    """The folder as `-m` takes it for a folder, wherever it lies."""
    text = str(out)
    return text if "/" in text else f"./{text}"


def _tell(notes: Sequence[str]) -> None:
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def _count_synonyms(
    path: str,
    wordnet: str | None,
    threshold: float | None,
    lang: str,
    analyser: str | None,
    no_cache: bool,
) -> Any:
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.progress import Bar
    from meantime.formats import read
    from meantime.learned.synonyms import THRESHOLD, count_synonyms

    sentences = [one.references[0] for one in read([], references=[path], lang=lang).segments]
    with Bar("analysing the text") as bar:
        opened = open_cached(analyser, cached=not no_cache, progress=bar)
        analysed = opened.analyse(sentences)
    tell_note(opened)
    return count_synonyms(
        analysed,
        folder=wordnet,
        threshold=THRESHOLD if threshold is None else threshold,
        text=f"{Path(path).name}, {len(sentences)} sentences",
    )


# What they print


def _trial(one: Tried) -> dict[str, object]:
    return {
        "c": one.candidate.c,
        "sigma": one.candidate.sigma,
        "scaling": str(one.candidate.scaling),
        "accuracy": one.accuracy,
    }


def _grid_table(tried: Sequence[Tried], chosen: Tried) -> str:
    """Held-out accuracy over C and sigma, the chosen one starred."""
    cs = sorted({one.candidate.c for one in tried})
    sigmas = sorted({one.candidate.sigma for one in tried})
    by = {(one.candidate.c, one.candidate.sigma): one for one in tried}
    lines = ["held-out accuracy", f"{'C':>6}" + "".join(f"  σ={sigma:<6g}" for sigma in sigmas)]
    for c in cs:
        cells = [
            f"  {by[c, sigma].accuracy:.4f}{'*' if by[c, sigma] is chosen else ' '} "
            for sigma in sigmas
        ]
        lines.append(f"{c:>6g}" + "".join(cells))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _edges(candidates: Sequence[Candidate], chosen: Candidate) -> str:
    """Say where the best lies at an edge, for beyond it may be better."""
    sigmas = sorted({one.sigma for one in candidates})
    cs = sorted({one.c for one in candidates})
    at = []
    if len(sigmas) > 1 and chosen.sigma in (sigmas[0], sigmas[-1]):
        at.append("--sigma")
    if len(cs) > 1 and chosen.c in (cs[0], cs[-1]):
        at.append("--c")
    if not at:
        return ""
    return f"the best is at the edge of the grid; try values beyond with {' and '.join(at)}\n"


def _row(name: str, one: Figures) -> str:
    from meantime.learned.figures import wilson

    low, high = wilson(one.accuracy, one.examples)
    return (
        f"{name:<10}  {one.accuracy:8.2%}  [{low:.2%}, {high:.2%}]  {one.precision:9.2%}  "
        f"{one.recall:7.2%}  {one.f:7.2%}  {one.examples:5d}"
    )


def _tested(decided: Any, labels: Any, tasks: Sequence[str] | None) -> list[str]:
    import numpy

    from meantime.learned.figures import measure

    head = f"{'test':<10}  accuracy  {'95 % interval':<16}  precision   recall        F  pairs"
    lines = [head]
    if tasks is not None:
        named = numpy.array(tasks)
        for task in sorted(set(tasks)):
            there = named == task
            lines.append(_row(task or "(none)", measure(decided[there], labels[there])))
    return [*lines, _row("all", measure(decided, labels))]


def _jackknifed(found: Jackknifed) -> list[str]:
    from meantime.learned.figures import estimate

    lines = [f"jackknife of {len(found.folds)} folds, mean ± 95 % of the mean"]
    for figure in ("accuracy", "precision", "recall", "f"):
        one = estimate(found.of(figure))
        lines.append(f"{figure:<10}  {one.mean:7.2%} ± {one.margin:.2%}")
    return [*lines, ""]


def _fitted(found: Fitted, translations: int, segments: int, folds: int) -> str:
    lines = [
        f"{translations} translations of {segments} segments, {folds} folds by segment; "
        "mean ± 95 % of the mean",
        f"pearson          {found.pearson.mean:6.3f} ± {found.pearson.margin:.3f}",
        f"kendall          {found.kendall.mean:6.3f} ± {found.kendall.margin:.3f}",
    ]
    if found.within_segments is not None:
        lines.append(f"kendall within segments  {found.within_segments:.3f}")
    lines += [
        f"best feature     {found.alone.mean:6.3f} ± {found.alone.margin:.3f}  (pearson; "
        f"over all it is {found.best_feature})",
        f"chosen           {found.trial}",
        "",
        "segments  pearson",
    ]
    lines += [
        f"{point.segments:8d}  {point.pearson.mean:.3f} ± {point.pearson.margin:.3f}"
        for point in found.curve
    ]
    return "\n".join([*lines, found.verdict]) + "\n"
