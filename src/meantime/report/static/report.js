// A report's segments: what is shown of them, and their drawings. Text from the data reaches the
// page as text nodes only.
function openReport(draw) {
  "use strict";
  const PAGE = 20;
  const $ = (id) => document.getElementById(id);

  async function open(id) {
    const bytes = Uint8Array.from(atob($(id).textContent), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }
  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value === null) continue;
      if (name === "class") made.className = value;
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((one) => one !== null));
    return made;
  }

  // Metric: one choice for the whole page.
  let metric = 0;
  const chooser = $("metric");
  function showMetric() {
    for (const one of document.querySelectorAll(".of")) one.hidden = Number(one.dataset.metric) !== metric;
  }
  if (chooser.options.length > 1) $("choice").hidden = false;
  chooser.value = "0";
  showMetric();

  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      let copied = false;
      try {
        await navigator.clipboard.writeText(code.textContent);
        copied = true;
      } catch {
        getSelection().selectAllChildren(code);
        copied = document.execCommand("copy");
      }
      button.textContent = copied ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  let data;
  const packs = new Map();
  const where = new Map();
  const lowered = [];
  let shown = [];
  let page = 0;
  const opened = new Set();

  const score = (number, system, place) => data.metrics[number][3][system][place];
  // Higher is better, whichever way the metric points; what has no score stands last.
  const good = (number, system, place) => {
    const value = score(number, system, place);
    return value === null ? -Infinity : data.metrics[number][1] ? value : -value;
  };
  const written = (number, value) => {
    const decimals = data.metrics[number][2];
    return value === null ? "–" : (value / 10 ** decimals).toFixed(decimals);
  };

  async function figures(place) {
    const at = where.get(place);
    if (at === undefined) return null;
    const number = Math.floor(at / data.explained.together);
    if (!packs.has(number)) packs.set(number, open(`packed${number}`));
    return (await packs.get(number))[at % data.explained.together];
  }

  // Choosing segments

  function spread(number, place) {
    const values = data.systems.map((_, system) => good(number, system, place)).filter(Number.isFinite);
    return values.length ? Math.max(...values) - Math.min(...values) : 0;
  }
  const deviations = [];
  function deviation(number) {
    // Of all differences of two systems; as metrics are made comparable on the command line.
    if (deviations[number] === undefined) {
      let sum = 0, squares = 0, count = 0;
      for (let place = 0; place < data.ids.length; place++) for (let a = 0; a < data.systems.length; a++) for (let b = a + 1; b < data.systems.length; b++) {
        const gap = good(number, a, place) - good(number, b, place);
        if (!Number.isFinite(gap)) continue;
        sum += gap;
        squares += gap * gap;
        count++;
      }
      deviations[number] = count ? Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2)) || 1 : 1;
    }
    return deviations[number];
  }
  function contradiction(place) {
    let most = 0;
    for (let number = 0; number < data.metrics.length; number++) {
      if (number === metric) continue;
      for (let a = 0; a < data.systems.length; a++) for (let b = a + 1; b < data.systems.length; b++) {
        const ours = (good(metric, a, place) - good(metric, b, place)) / deviation(metric);
        const theirs = (good(number, a, place) - good(number, b, place)) / deviation(number);
        if (ours * theirs < 0) most = Math.max(most, Math.min(Math.abs(ours), Math.abs(theirs)));
      }
    }
    return most;
  }
  const ORDERS = {
    differ: (place) => -spread(metric, place),
    worst: (place) => good(metric, Number($("system").value), place),
    best: (place) => -good(metric, Number($("system").value), place),
    behind: (place) => good(metric, Number($("system").value), place) - good(metric, Number($("other").value), place),
    ahead: (place) => good(metric, Number($("other").value), place) - good(metric, Number($("system").value), place),
    contrary: (place) => -contradiction(place),
  };
  function choose() {
    const words = $("search").value.trim().toLowerCase();
    const kind = $("kind").value;
    let places = data.ids.map((_, place) => place);
    if (kind) {
      const [group, number] = kind.split(" ").map(Number);
      places = [...data.groups[group].kinds[number][1]];
    }
    if (words) places = places.filter((place) => lowered[place].includes(words));
    const order = ORDERS[$("order").value];
    if (order) {
      const keys = new Map(places.map((place) => [place, order(place)]));
      places.sort((a, b) => (keys.get(a) - keys.get(b)) || a - b);
    }
    shown = places;
    page = 0;
    opened.clear();
    render();
  }

  // Showing them

  function marked(text) {
    const words = $("search").value.trim().toLowerCase();
    const lower = text.toLowerCase();
    if (!words || lower.length !== text.length) return [text];
    const made = [];
    let from = 0;
    for (let at = lower.indexOf(words); at >= 0; at = lower.indexOf(words, from)) {
      if (at > from) made.push(text.slice(from, at));
      made.push(make("mark", {}, text.slice(at, at + words.length)));
      from = at + words.length;
    }
    made.push(text.slice(from));
    return made;
  }
  // Of scripts that are written without spaces every character counts.
  const PIECES = /\s+|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3134f}]|[^\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3134f}]+/gu;
  const split = (text) => text.match(PIECES) || [];
  function different(text, reference) {
    const ours = split(text), theirs = split(reference).filter((one) => one.trim());
    const words = ours.filter((one) => one.trim());
    if (words.length * theirs.length > 400000) return marked(text);
    const bare = (word) => word.toLowerCase().replace(/^[\p{P}]+|[\p{P}]+$/gu, "") || word;
    const a = words.map(bare), b = theirs.map(bare);
    // The longest common subsequence, from the end.
    const table = Array.from({length: a.length + 1}, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    const same = new Set();
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      if (a[i] === b[j]) { same.add(i); i++; j++; } else if (table[i + 1][j] >= table[i][j + 1]) i++; else j++;
    }
    const made = [];
    let number = 0;
    for (const one of ours) {
      if (!one.trim()) made.push(one);
      else if (same.has(number++)) made.push(...marked(one));
      else made.push(make("u", {}, ...marked(one)));
    }
    return made;
  }
  function headline(place) {
    const system = Number($("system").value), other = Number($("other").value);
    const parts = [`${data.systems[system]} ${written(metric, score(metric, system, place))}`];
    if (other !== system) parts.push(`${data.systems[other]} ${written(metric, score(metric, other, place))}`);
    return parts.join(" · ");
  }
  function row(place) {
    const id = `detail-${place + 1}`;
    const button = make("button", {type: "button", class: "row", "aria-expanded": "false", "aria-controls": id},
      make("span", {class: "id"}, data.ids[place]),
      make("span", {class: "line"}, ...marked((data.references[place][0] ?? "").slice(0, 300))),
      make("span", {class: "figures"}, headline(place)));
    const detail = make("div", {id, class: "detail", hidden: true});
    button.addEventListener("click", () => toggle(place, button, detail));
    return make("li", {class: "segment", id: `segment-${place + 1}`}, button, detail);
  }
  function toggle(place, button, detail) {
    const open = detail.hidden;
    if (open && !detail.firstChild) fill(place, detail);
    detail.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) opened.add(place); else opened.delete(place);
  }
  function fill(place, detail) {
    const said = make("dl", {class: "said"});
    const add = (name, text) => said.append(make("dt", {}, name), make("dd", {dir: "auto"}, ...marked(text)));
    if (data.documents && data.documents[place]) add("document", data.documents[place]);
    if (data.sources && data.sources[place] !== null) add("source", data.sources[place]);
    const references = data.references[place];
    references.forEach((text, n) => add(references.length > 1 ? `reference ${n + 1}` : "reference", text));
    detail.append(said, make("p", {class: "quiet"}, "Underlined: not in the reference at this point."));
    const order = data.systems.map((_, system) => system).sort((a, b) => good(metric, b, place) - good(metric, a, place) || a - b);
    for (const system of order) detail.append(output(place, system));
  }
  function output(place, system) {
    const scores = make("span", {class: "score"});
    data.metrics.forEach(([name], number) => {
      if (number) scores.append(" · ");
      scores.append(make("span", {class: number === metric ? "chosen" : null}, `${name} ${written(number, score(number, system, place))}`));
    });
    const text = data.outputs[system][place];
    const block = make("div", {class: "output"},
      make("div", {class: "head"}, make("b", {}, data.systems[system]), scores),
      make("p", {class: "text", dir: "auto"}, ...(text.trim() ? different(text, data.references[place][0] ?? "") : ["(empty)"])));
    if (where.has(place)) {
      const buttons = make("div");
      data.explained.metrics.forEach((number, index) => {
        const why = make("div", {class: "why", hidden: true});
        const button = make("button", {type: "button", "aria-expanded": "false"}, `Why this ${data.metrics[number][0]}?`);
        button.addEventListener("click", () => explain(button, why, place, system, index));
        buttons.append(button, " ");
        block.append(why);
      });
      block.insertBefore(buttons, block.querySelector(".why"));
    }
    return block;
  }
  async function explain(button, why, place, system, index) {
    const open = why.hidden;
    if (open && !why.firstChild) {
      const found = await figures(place);
      why.figure = found[system][index];
      why.hidden = false;
      paint(why);
      observer.observe(why);
    }
    why.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  }
  function paint(why) {
    const padding = parseFloat(getComputedStyle(why).paddingLeft) * 2;
    const width = Math.floor(why.clientWidth - padding) - 8;
    // What is not on the page any more has no padding, and no width that is a number.
    if (!(width > 0) || why.painted === width) return;
    why.painted = width;
    why.replaceChildren(draw.element(why.figure, width));
  }
  const observer = new ResizeObserver((entries) => { for (const one of entries) paint(one.target); });

  function render() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(Math.max(0, page), pages - 1);
    const first = page * PAGE;
    const part = shown.slice(first, first + PAGE);
    $("list").replaceChildren(...part.map(row));
    const all = data.ids.length.toLocaleString("en");
    $("found").textContent = shown.length && data.ids.length === 1 ? "1 segment" : shown.length
      ? `${first + 1}–${first + part.length} of ${shown.length.toLocaleString("en")} segments${shown.length < data.ids.length ? ` (${all} in all)` : ""}`
      : `No segment of ${all} fits. Reset to see all.`;
    $("pager").hidden = pages < 2;
    $("page").max = pages;
    $("page").value = page + 1;
    $("pages").textContent = `of ${pages.toLocaleString("en")}`;
    $("previous").disabled = page === 0;
    $("next").disabled = page === pages - 1;
  }
  function turn(to) {
    page = to;
    render();
    $("found").scrollIntoView({block: "start"});
  }
  function reset() {
    $("search").value = "";
    $("kind").value = "";
    $("order").value = "file";
  }
  function goTo(place) {
    if (!(place >= 0 && place < data.ids.length)) return;
    if (!shown.includes(place)) {
      reset();
      choose();
    }
    page = Math.floor(shown.indexOf(place) / PAGE);
    render();
    const item = $(`segment-${place + 1}`);
    const button = item.querySelector(".row");
    if (item.querySelector(".detail").hidden) button.click();
    item.scrollIntoView({block: "start"});
    button.focus({preventScroll: true});
  }
  function follow() {
    const found = /^#segment-(\d+)$/.exec(location.hash);
    if (found) goTo(Number(found[1]) - 1);
  }

  async function begin() {
    data = await open("data");
    data.explained.segments.forEach((place, at) => where.set(place, at));
    data.ids.forEach((id, place) => {
      const texts = [id, data.documents?.[place] ?? "", data.sources?.[place] ?? "", ...data.references[place], ...data.outputs.map((one) => one[place])];
      lowered.push(texts.join("\n").toLowerCase());
    });
    data.groups.forEach((group, number) => {
      const options = group.kinds.map(([name, places], kind) => make("option", {value: `${number} ${kind}`}, `${name} (${places.length})`));
      $("kind").append(make("optgroup", {label: group.name}, ...options));
    });
    const best = data.systems.map((_, system) => system).sort((a, b) => average(b) - average(a));
    $("system").value = String(best[0]);
    $("other").value = String(best[1] ?? best[0]);
    $("controls").hidden = false;
    let typing;
    $("search").addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(choose, 120);
    });
    for (const id of ["kind", "order", "system", "other"]) $(id).addEventListener("change", choose);
    $("controls").addEventListener("submit", (event) => event.preventDefault());
    $("controls").addEventListener("reset", (event) => {
      event.preventDefault();
      reset();
      choose();
      $("search").focus();
    });
    $("previous").addEventListener("click", () => turn(page - 1));
    $("next").addEventListener("click", () => turn(page + 1));
    $("page").addEventListener("change", () => turn(Number($("page").value) - 1 || 0));
    chooser.addEventListener("change", () => {
      metric = Number(chooser.value);
      showMetric();
      choose();
    });
    for (const button of document.querySelectorAll(".show")) {
      const group = data.groups.findIndex((one) => one.key === button.dataset.group);
      if (group < 0) continue;
      button.hidden = false;
      button.addEventListener("click", () => {
        reset();
        $("kind").value = `${group} ${button.dataset.number}`;
        choose();
        $("controls").scrollIntoView({block: "start"});
        $("kind").focus({preventScroll: true});
      });
    }
    addEventListener("hashchange", follow);
    for (const link of document.querySelectorAll("a.to")) link.addEventListener("click", () => setTimeout(follow));
    choose();
    follow();
    document.documentElement.dataset.ready = "yes";
  }
  function average(system) {
    const values = data.metrics[0][3][system].map((_, place) => good(0, system, place)).filter(Number.isFinite);
    return values.reduce((sum, one) => sum + one, 0) / (values.length || 1);
  }
  begin().catch((error) => {
    $("found").textContent = `The segments cannot be shown in this browser (${error.message}); a newer one can.`;
  });
}
