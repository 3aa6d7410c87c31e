"""The pages in Chromium: from invitation to results, by mouse, touch and keyboard alone."""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from meantime.annotation import judging, training
from meantime.annotation.app import Config, create_app
from meantime.annotation.campaign import Kind, Role, Settings, Training
from meantime.annotation.results import compute
from meantime.annotation.simulate import Simulation
from meantime.annotation.store import NewCampaign, NewSegment, open_store
from meantime.annotation.words import split_words

pytestmark = pytest.mark.needs("chromium")

WIDE = {"viewport": {"width": 1100, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def browser() -> Iterator:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator:
    """A store and the address of a server for it."""
    import uvicorn

    store = open_store(tmp_path_factory.mktemp("site"), durable=False)
    bound = socket.create_server(("127.0.0.1", 0))
    address = f"http://localhost:{bound.getsockname()[1]}"
    app = create_app(store, Config(secret="browser" * 8, address=address))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    yield store, address
    server.should_exit = True
    thread.join(10)
    store.close()


@pytest.fixture
def visit(browser, site) -> Iterator:
    """Opens a page as somebody; fails on anything a console complains of."""
    store, address = site
    contexts, complaints = [], []

    def do(person, path: str = "/", quiet: bool = False, **options):
        context = browser.new_context(**(options or WIDE))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10000)
        if not quiet:
            page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url.startswith(address) or complaints.append(asked.url),
        )
        page.goto(f"{address}/enter/{store.make_link(person.id)}")
        page.get_by_role("button", name="Enter").click()
        page.wait_for_url(re.compile(r"/(work|campaigns)$"))
        page.goto(f"{address}{path}")
        return page

    yield do
    for context in contexts:
        context.close()
    # Steps refused on purpose are answered with codes that Chromium notes.
    assert [one for one in complaints if "status of 4" not in one] == []


def _new(store, name: str, segments, **changes) -> str:
    settings = Settings(**{"training": Training.OFF, "repeat_every": 0, **changes})
    return store.create_campaign(NewCampaign(name, settings, tuple(segments)))


def _fits(page) -> None:
    """Nothing sticks out to the side, and everything one can use has a name to be read out."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, input:not([type=hidden]), select, textarea, a')]
        .filter((one) => !one.matches('.default')
          && !(one.getAttribute('aria-label') || '').trim()
          && !(one.labels && [...one.labels].some((label) => label.textContent.trim()))
          && !one.textContent.trim())
        .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def _ready(page, what: str = "#work form") -> None:
    """Wait until a page is there with its script: a key pressed before that moves nothing."""
    _until(
        page,
        "document.readyState === 'complete' && "
        "document.documentElement.classList.contains('script') && "
        f"document.querySelector('{what}') !== null",
    )


def _begin(page) -> str:
    page.locator("#next").click()
    _ready(page)
    return page.url.rsplit("/", 1)[1]


def _next_page(page, before: str) -> None:
    """Wait for another page than the one there was."""
    _until(page, f"location.href !== {json.dumps(before)}")
    _ready(page, "main")


def _label(page, words, label: int, goal: str) -> None:
    """Select words and say what they are, and wait until it is shown."""
    for span in words:
        for word in range(span.start, span.end):
            page.locator("label.word").nth(word).click()
    page.locator(f"#label-{label}").click()
    page.wait_for_selector(goal)
    _saved(page)


def _mark_key(page, example, settings) -> None:
    """Mark an example as its key has it, by pointing."""
    names = [label.name for label in settings.labels]
    for number, frame in enumerate(example.frames):
        _label(page, [frame.predicate], 1, f"#choose-{number}")
        for place, role in enumerate(frame.roles):
            where = f"#remove-{number}-{place}"
            _label(page, role.spans, names.index(role.label) + 1, where)


def _train(page, store, settings) -> int:
    """Answer examples as their keys do until real work comes; returns how many there were."""
    count = 0
    while "Training" in page.locator("h1").inner_text():
        task = store.task(page.url.rsplit("/", 1)[1])
        example = training.open_example(store.example(task), settings)
        _fits(page)
        if example.kind is Kind.MARK:
            _mark_key(page, example, settings)
        else:
            _judge_key(page, example)
        page.locator("#done").click()
        page.get_by_text("That is enough to go on.").wait_for()
        assert "agreement 100 %" in page.locator("#verdict").inner_text()
        _fits(page)
        before = page.url
        page.get_by_role("button", name="Go on").click()
        _next_page(page, before)
        count += 1
    return count


def _judge_key(page, example) -> None:
    key = judging.from_judgement(example.judgement, example.theirs)["matches"]
    for number, match in key.items():
        chosen = "none" if match["hypothesis"] is None else str(match["hypothesis"])
        page.select_option(f"#match-{number}", chosen)
        _until(page, f"document.getElementById('match-{number}').value === '{chosen}'")
        _saved(page)
        for place, role in enumerate(match["roles"]):
            where = f"role-{number}-{place}"
            said = "none" if role["hypothesis"] is None else str(role["hypothesis"])
            if page.locator(f"#{where}").input_value() != said:
                page.select_option(f"#{where}", said)
                _saved(page)
            if role["verdict"] is not None:
                button = f"#verdict-{number}-{place}-{role['verdict']}"
                page.locator(button).click()
                page.wait_for_selector(f"{button}[aria-pressed=true]")
                _saved(page)


def _until(page, expression: str) -> None:
    """Wait for a truth; Playwright's own way is a script the pages' policy does not allow."""
    from playwright.sync_api import Error

    end = time.monotonic() + 10
    while time.monotonic() < end:
        # Between two pages there is nobody to ask.
        with contextlib.suppress(Error):
            if page.evaluate(expression):
                return
        time.sleep(0.03)
    raise AssertionError(f"not so within ten seconds: {expression}")


def _saved(page) -> None:
    _until(page, "document.getElementById('saved').textContent === 'Saved'")


def test_from_invitation_to_results(site, visit, tmp_path, truth) -> None:
    store, address = site
    owner = visit(store.add_person(None, "owner", Role.ADMINISTRATOR), "/campaigns/new")
    one = truth["3"]
    files = {"reference": one.reference, "source": one.source}
    for name, sentence in files.items():
        (tmp_path / f"{name}.txt").write_text(sentence.text + "\n")
        owner.set_input_files(f"#{name}", tmp_path / f"{name}.txt")
    outputs = []
    for system, (sentence, _) in one.outputs.items():
        outputs.append(tmp_path / f"{system}.txt")
        outputs[-1].write_text(sentence.text + "\n")
    owner.set_input_files("#hypotheses", outputs)
    owner.fill("#name", "From invitation to results")
    owner.fill("#judges", "1")
    owner.get_by_label("as the control").uncheck()
    owner.fill("#source_lang", "de")
    _fits(owner)
    owner.get_by_role("button", name="Make the campaign").click()
    owner.get_by_text("0 of at least 7 annotators").wait_for()
    campaign = owner.url.rsplit("/", 1)[1]
    links = {}
    for role, count in (("annotator", 7), ("judge", 1), ("ranker", 1)):
        owner.goto(f"{address}/campaigns/{campaign}/people")
        owner.fill("#names", "\n".join(f"{role} {n}" for n in range(count)))
        owner.select_option("#role", role)
        owner.get_by_role("button", name="Invite", exact=True).click()
        owner.get_by_text("Send these links now").wait_for()
        links[role] = owner.locator("code.link").all_inner_texts()
        assert len(links[role]) == count
    _fits(owner)

    people = {person.name: person for person in store.people(campaign)}
    ann = visit(people["annotator 0"], "/work")
    ann.goto(links["annotator"][0])
    ann.get_by_role("button", name="Enter").click()
    ann.wait_for_url("**/work")
    _fits(ann)
    settings = store.campaign(campaign).settings
    _begin(ann)
    assert _train(ann, store, settings) == 3
    # The key: everything by mouse, drawing over the words of a filler.
    words = ann.locator("label.word")
    assert "Training" not in ann.locator("h1").inner_text()
    words.filter(has_text="rescued").click()
    ann.locator("#label-1").click()
    ann.wait_for_selector("#choose-0")
    for label, first, last in (
        ("3", "Three", "children"),
        ("6", "from", "river"),
        ("2", "by", "fisherman"),
    ):
        start = words.filter(has_text=re.compile(f"^{first}")).first.bounding_box()
        end = words.filter(has_text=re.compile(f"^{last}")).first.bounding_box()
        ann.mouse.move(start["x"] + 6, start["y"] + 12)
        ann.mouse.down()
        ann.mouse.move(end["x"] + 6, end["y"] + 12, steps=6)
        ann.mouse.up()
        before = ann.locator("[id^=remove-0-]").count()
        ann.locator(f"#label-{label}").click()
        _until(ann, f"document.querySelectorAll('[id^=remove-0-]').length > {before}")
    _saved(ann)
    task = store.task(ann.url.rsplit("/", 1)[1])
    from meantime.annotation import marks

    assert {(r.label, r.spans) for r in marks.as_frames(task.answer)[0].roles} == {
        (r.label, r.spans) for r in one.frames[0].roles
    }
    ann.locator("#done").click()
    ann.wait_for_url("**/work?none=1")

    # The other readers by simulation; then a judge and a ranker in the browser.
    knowing = {"1": one}
    readers = [person for name, person in people.items() if name.startswith("annotator")]
    Simulation(store, knowing, settings, random.Random(1), None, 0.0).work(readers)
    judge = visit(people["judge 0"], "/work")
    _begin(judge)
    assert _train(judge, store, settings) == 2
    done = 0
    while "/task/" in judge.url:
        _fits(judge)
        before = judge.url
        if done == 0:
            judge.drag_and_drop(".card[data-frame='0']", "[data-drop='0']")
        else:
            judge.select_option("#match-0", "0")
        judge.wait_for_selector(".roles")
        for role in range(3):
            if judge.locator(f"#role-0-{role}").input_value() == "":
                judge.select_option(f"#role-0-{role}", "none")
                _saved(judge)
            else:
                judge.locator(f"#verdict-0-{role}-correct").click()
                judge.wait_for_selector(f"#verdict-0-{role}-correct[aria-pressed=true]")
        _saved(judge)
        assert "hmeant" not in judge.content().lower()
        judge.locator("#done").click()
        _next_page(judge, before)
        done += 1
    assert done == 6
    ranker = visit(people["ranker 0"], "/work")
    _begin(ranker)
    _fits(ranker)
    last = ranker.locator(".order li p").nth(2).inner_text()
    ranker.drag_and_drop(".order li >> nth=2", ".order li >> nth=0")
    _until(
        ranker,
        f"document.querySelector('.order li p').textContent.trim() === {json.dumps(last.strip())}",
    )
    ranker.locator("#done").click()
    ranker.wait_for_url("**/work?none=1")
    owner.goto(f"{address}/campaigns/{campaign}/results")
    found = compute(store.everything(campaign))
    assert len(found.systems) == 3
    assert owner.locator("table").first.locator("tbody tr").count() == 3
    _fits(owner)
    for tail in ("", "/people", "/settings", "/log", "/segments/1"):
        owner.goto(f"{address}/campaigns/{campaign}{tail}")
        _fits(owner)


def test_marking_with_the_keyboard_alone(site, visit, truth) -> None:
    store, _ = site
    campaign = _new(store, "keyboard", [truth["2"].new()])
    page = visit(store.add_person(campaign, "ann", Role.ANNOTATOR), "/work")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "next":
            break
    page.keyboard.press("Enter")
    _ready(page)
    task = page.url.rsplit("/", 1)[1]
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "w0":
            break
    # The mayor did not sign the contract.
    for _ in range(20):
        if page.evaluate("document.activeElement.id") == "w4":
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("1")
    page.wait_for_selector("#choose-0")
    assert page.evaluate("document.activeElement.id") == "w4"
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("2")
    page.wait_for_selector("#remove-0-0")
    page.keyboard.press("z")
    page.wait_for_selector("#remove-0-0", state="detached")
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("2")
    # Quicker than the answers come: steps stand in line.
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("3")
    page.wait_for_selector("#remove-0-1")
    _saved(page)
    frame = store.task(task).answer["frames"][0]
    assert frame["predicate"] == [4, 5]
    assert [(r["label"], r["spans"]) for r in frame["roles"]] == [
        ("agent", [[0, 2]]),
        ("experiencer", [[5, 7]]),
    ]
    # What a screen reader says of a marked word.
    assert page.locator("#w0").get_attribute("aria-description").strip() == "agent"
    page.focus("#done")
    page.keyboard.press("Enter")
    page.wait_for_url("**/work?none=1")


@pytest.mark.parametrize("options", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("zh", "至此，在中国内地停售了近两个月的SK-II全线产品恢复销售。" * 3),
        ("ar", "ذهبَ الولدُ إلى المدرسةِ الجديدةِ صباحَ اليومِ مع أخيه الصغير."),
        ("en", "Until after their sales had ceased in mainland China for almost two months, " * 5),
        ("en", "Donaudampfschifffahrtsgesellschaftskapitän" * 4 + " said so ."),
    ],
    ids=["chinese", "arabic", "long", "one-long-word"],
)
def test_scripts_and_lengths(site, visit, lang, text, options, request) -> None:
    store, _ = site
    sentence = split_words(text, lang)
    new = NewSegment("1", sentence, sentence, {"a": sentence, "b": sentence})
    campaign = _new(store, request.node.name[:80], [new], judges=1)
    page = visit(store.add_person(campaign, "ann", Role.ANNOTATOR), "/work", **options)
    task = _begin(page)
    _fits(page)
    assert page.locator("label.word").count() == len(sentence.tokens)
    direction = page.locator(".sentence [dir]").evaluate("(one) => getComputedStyle(one).direction")
    assert direction == ("rtl" if lang == "ar" else "ltr")
    page.focus("#w0")
    page.keyboard.press("Space")
    page.keyboard.press("1")
    page.wait_for_selector("#choose-0")
    # On to the next word: to the left where one reads from right to left.
    page.focus("#w1")
    page.keyboard.press("Shift+ArrowLeft" if lang == "ar" else "Shift+ArrowRight")
    page.keyboard.press("2")
    page.wait_for_selector("#remove-0-0")
    assert store.task(task).answer["frames"][0]["roles"][0]["spans"] == [[1, 3]]
    _fits(page)
    ranker = visit(store.add_person(campaign, "ranker", Role.RANKER), "/work", **options)
    _begin(ranker)
    _fits(ranker)


def test_touch_on_a_phone(site, visit, truth) -> None:
    store, _ = site
    campaign = _new(store, "touch", [truth["2"].new()])
    page = visit(store.add_person(campaign, "ann", Role.ANNOTATOR), "/work", **PHONE)
    page.locator("#next").tap()
    _ready(page)
    task = page.url.rsplit("/", 1)[1]
    page.locator("label.word", has_text="sign").tap()
    page.locator("#label-1").tap()
    page.wait_for_selector("#choose-0")
    for number in (0, 1):
        page.locator("label.word").nth(number).tap()
    page.locator("#label-2").tap()
    page.wait_for_selector("#remove-0-0")
    assert store.task(task).answer["frames"][0]["roles"] == [{"label": "agent", "spans": [[0, 2]]}]
    for box in ("#label-1", "#done", "#undo"):
        size = page.locator(box).bounding_box()
        assert size["height"] >= 38


def test_a_lost_connection_loses_nothing(site, visit, truth) -> None:
    store, _ = site
    campaign = _new(store, "lost", [truth["2"].new()])
    page = visit(store.add_person(campaign, "ann", Role.ANNOTATOR), "/work", quiet=True)
    task = _begin(page)
    lost = {"requests": 2, "answers": 1}

    def handle(route) -> None:
        if lost["requests"]:
            lost["requests"] -= 1
            route.abort()
        elif lost["answers"]:
            # It arrives, and its answer does not.
            lost["answers"] -= 1
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route(
        f"**/task/{task}", lambda r: handle(r) if r.request.method == "POST" else r.continue_()
    )
    page.focus("#w4")
    page.keyboard.press("Space")
    page.keyboard.press("1")
    page.get_by_text("Connection lost").wait_for()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.keyboard.press("2")
    page.wait_for_selector("#remove-0-0", timeout=20000)
    _saved(page)
    found = store.task(task)
    assert found.revision == 2
    assert [r["spans"] for r in found.answer["frames"][0]["roles"]] == [[[0, 1]]]


def test_two_tabs_and_a_double_click(site, visit, truth) -> None:
    store, _ = site
    campaign = _new(store, "tabs", [truth["2"].new()])
    one = visit(store.add_person(campaign, "ann", Role.ANNOTATOR), "/work")
    task = _begin(one)
    two = one.context.new_page()
    two.goto(one.url)
    _ready(two)
    one.focus("#w4")
    one.keyboard.press("Space")
    one.locator("#label-1").dblclick()
    one.wait_for_selector("#choose-0")
    _saved(one)
    two.focus("#w1")
    two.keyboard.press("Space")
    two.keyboard.press("1")
    two.get_by_role("alert").wait_for()
    assert "another window" in two.get_by_role("alert").inner_text()
    # The newest state is shown, and the words selected are selected still.
    assert two.locator("#choose-0").inner_text() == "sign"
    assert two.locator("#w1").is_checked()
    two.keyboard.press("2")
    two.wait_for_selector("#remove-0-0")
    frames = store.task(task).answer["frames"]
    assert [frame["predicate"] for frame in frames] == [[4, 5]]
    _saved(two)
    assert store.task(task).answer["frames"][0]["roles"][0]["spans"] == [[1, 2]]


def _tab_to(page, id: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == id:
            return
    raise AssertionError(f"the keyboard never gets to {id}")


def test_judging_with_the_keyboard_alone(site, visit, truth) -> None:
    store, _ = site
    one = truth["2"]
    settings = {"judges": 1, "annotators": 2, "control": False}
    campaign = _new(store, "keys judge", [one.new()], **settings)
    readers = [store.add_person(campaign, f"ann {n}", Role.ANNOTATOR) for n in range(7)]
    judge = store.add_person(campaign, "judy", Role.JUDGE)
    Simulation(store, {"2": one}, Settings(), random.Random(1), None, 0.0).work(readers)
    page = visit(judge, "/work")
    _tab_to(page, "next")
    page.keyboard.press("Enter")
    _ready(page)
    task = page.url.rsplit("/", 1)[1]
    _tab_to(page, "match-0")
    # The first choice of the list is none: "choose…".
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".roles")
    _saved(page)
    assert page.evaluate("document.activeElement.id") == "match-0"
    for role in range(page.locator(".roles > li:not(.extra)").count()):
        _tab_to(page, f"role-0-{role}")
        if page.input_value(f"#role-0-{role}") == "":
            page.keyboard.press("End")
            _until(page, f"document.getElementById('role-0-{role}').value === 'none'")
        else:
            _tab_to(page, f"verdict-0-{role}-correct")
            page.keyboard.press("Space")
            page.wait_for_selector(f"#verdict-0-{role}-correct[aria-pressed=true]")
            assert page.evaluate("document.activeElement.id") == f"verdict-0-{role}-correct"
        _saved(page)
    before = page.url
    _tab_to(page, "done")
    page.keyboard.press("Enter")
    _next_page(page, before)
    assert store.task(task).state == "done"


def test_ordering_with_the_keyboard_alone(site, visit, truth) -> None:
    store, _ = site
    campaign = _new(store, "keys order", [truth["1"].new()], rankers=1)
    page = visit(store.add_person(campaign, "rose", Role.RANKER), "/work")
    _tab_to(page, "next")
    page.keyboard.press("Enter")
    _ready(page)
    task = page.url.rsplit("/", 1)[1]
    first, second, third = store.task(task).answer["order"]
    _tab_to(page, "down-0")
    page.keyboard.press("Space")
    _saved(page)
    assert store.task(task).answer["order"] == [second, first, third]
    # The keyboard stays with the translation that moved, and at the end can take it back.
    assert page.evaluate("document.activeElement.id") == "down-1"
    page.keyboard.press("Space")
    _saved(page)
    assert store.task(task).answer["order"] == [second, third, first]
    assert page.evaluate("document.activeElement.id") == "up-2"
    _tab_to(page, "undo")
    page.keyboard.press("Enter")
    _saved(page)
    assert store.task(task).answer["order"] == [second, first, third]
    assert page.evaluate("document.activeElement.id") == "undo"
    _tab_to(page, "done")
    page.keyboard.press("Enter")
    page.wait_for_url("**/work?none=1")
    assert store.task(task).state == "done"


def test_rating_by_number_key(site, visit, truth) -> None:
    store, _ = site
    campaign = _new(store, "rate", [truth["1"].new()], raters=1)
    page = visit(store.add_person(campaign, "ray", Role.RATER), "/work", **PHONE)
    task = _begin(page)
    _fits(page)
    page.keyboard.press("4")
    page.wait_for_selector("#rating-4:checked")
    _saved(page)
    assert store.task(task).answer == {"rating": 4}
    before = page.url
    page.locator("#done").tap()
    _next_page(page, before)


@pytest.mark.parametrize("options", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.JUDGE], ids=str)
def test_training_is_passed_before_real_work(site, visit, truth, role, options, request) -> None:
    store, _ = site
    segment = truth["2"].new()
    new = replace(segment, key=truth["2"].frames)
    name = request.node.name[:80]
    campaign = _new(store, name, [new], training=Training.REQUIRED, key="file", judges=1)
    settings = store.campaign(campaign).settings
    if role is Role.JUDGE:
        readers = [store.add_person(campaign, f"reader {n}", Role.ANNOTATOR) for n in range(2)]
        Simulation(store, truth, settings, random.Random(1), None, 0.0).work(readers)
    page = visit(store.add_person(campaign, "new here", role), "/work", **options)
    assert "0 of" in page.locator("#training").inner_text()
    first = _begin(page)
    if role is Role.ANNOTATOR:
        page.locator("#confirm").check()
    else:
        page.select_option("#match-0", "none")
        _saved(page)
    page.locator("#done").click()
    page.get_by_text("are needed").wait_for()
    assert "Training" not in page.locator("h1").inner_text()
    _fits(page)
    before = page.url
    # The button is where the keyboard is.
    _until(page, "document.activeElement.textContent === 'Try again'")
    page.keyboard.press("Enter")
    _next_page(page, before)
    _ready(page)
    again = page.url.rsplit("/", 1)[1]
    assert again != first
    assert store.task(again).example == store.task(first).example
    count = len(training.shipped_names(Kind.MARK if role is Role.ANNOTATOR else Kind.JUDGE))
    assert _train(page, store, settings) == count
    _ready(page)
    real = store.task(page.url.rsplit("/", 1)[1])
    assert real.kind is not Kind.TRAINING
    _fits(page)


def test_without_a_script_everything_works(site, visit, truth) -> None:
    store, _ = site
    campaign = _new(store, "bare", [truth["2"].new()])
    options = {**WIDE, "java_script_enabled": False}
    page = visit(store.add_person(campaign, "ann", Role.ANNOTATOR), "/work", **options)
    page.locator("#next").click()
    page.locator("label.word", has_text="sign").click()
    page.locator("#label-1").click()
    page.locator("#choose-0").wait_for()
    page.locator("label.word").nth(1).click()
    page.locator("#label-2").click()
    page.locator("#remove-0-0").wait_for()
    page.locator("#done").click()
    page.wait_for_url("**/work?none=1")
