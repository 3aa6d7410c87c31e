// The page to try metrics on. What comes from texts or files reaches the page as text only.
"use strict";
const $ = (id) => document.getElementById(id);
const PAUSE = 700;
const EXAMPLE = {
  reference: "The mayor did not sign the contract, because the committee had rejected the proposal on Monday.",
  translations: [
    ["faithful", "Since the committee turned the proposal down on Monday, the mayor did not sign the contract."],
    ["fluent", "The mayor did sign the contract, because the committee had accepted the proposal on Monday."],
    ["literal", "The mayor has the contract not signed, because committee on Monday proposal has rejected."],
  ],
};

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((one) => one !== null));
  return made;
}
async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  if (!answer.ok) {
    const found = await answer.json().catch(() => ({}));
    throw new Error(found.problem || `The server answered ${answer.status}.`);
  }
  return answer;
}
const send = (path, body, signal) => ask(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), signal});
function tell(id, text, wrong = false) {
  $(id).textContent = text;
  $(id).classList.toggle("error", wrong);
}

// Texts

let count = 0;
let most = 8;
function addTranslation(text = "", name = "") {
  count++;
  const id = `translation-${count}`;
  const field = make("textarea", {id, rows: "2", dir: "auto", class: "text", "aria-label": `Translation ${count}`});
  field.value = text;
  const label = make("input", {class: "name", "aria-label": `Name of translation ${count}`, maxlength: "100"});
  label.value = name || `translation ${count}`;
  const remove = make("button", {type: "button", "aria-label": `Remove translation ${count}`}, "Remove");
  const block = make("div", {class: "translation"}, make("div", {class: "top"}, label, remove), field);
  remove.addEventListener("click", () => {
    block.remove();
    tidy();
    later();
    ($("translations").querySelector("textarea") || $("add")).focus();
  });
  $("translations").append(block);
  tidy();
  return field;
}
function tidy() {
  const blocks = $("translations").children;
  for (const one of blocks) one.querySelector("button").hidden = blocks.length < 2;
  $("add").disabled = blocks.length >= most;
}
function request() {
  const translations = [...$("translations").children]
    .map((one) => ({name: one.querySelector(".name").value, text: one.querySelector(".text").value}))
    .filter((one) => one.text.trim());
  const body = {references: [$("reference").value], translations, lang: $("lang").value};
  if ($("source").value.trim()) body.source = $("source").value;
  return body;
}

let waiting;
let running;
let last;
function later() {
  clearTimeout(waiting);
  if ($("live").checked) waiting = setTimeout(() => score(true), PAUSE);
}
async function score(quietly) {
  clearTimeout(waiting);
  const body = request();
  if (!body.references[0].trim() || !body.translations.length || !$("lang").checkValidity()) {
    if (!quietly) tell("told", "Give a reference and at least one translation.", true);
    return;
  }
  running?.abort();
  const mine = running = new AbortController();
  tell("told", "Scoring …");
  try {
    const answer = await (await send("/api/score", body, mine.signal)).json();
    if (mine !== running) return;
    last = {body, answer};
    show();
    tell("told", `Scored in ${answer.seconds < 0.1 ? "under 0.1" : answer.seconds.toFixed(1)} seconds.`);
  } catch (error) {
    if (error.name !== "AbortError") tell("told", error.message, true);
  }
}
function show() {
  const {answer} = last;
  const head = make("tr", {}, make("th", {scope: "col"}, "metric"), ...answer.names.map((name) => make("th", {scope: "col", class: "number"}, name)));
  const rows = answer.metrics.map((one) => {
    const known = one.scores.filter((value) => value !== null);
    const best = one.higher_is_better ? Math.max(...known) : Math.min(...known);
    const apart = new Set(known).size > 1;
    const about = summaries.get(one.metric) || null;
    const name = make("th", {scope: "row"}, `${one.specification} `, make("span", {"aria-label": one.higher_is_better ? "higher is better" : "lower is better"}, one.problem ? "" : one.higher_is_better ? "↑" : "↓"), about && make("small", {}, about));
    if (one.problem) return make("tr", {class: "problem"}, name, make("td", {colspan: answer.names.length}, make("small", {}, one.problem)));
    return make("tr", {}, name, ...one.scores.map((value) => {
      const top = apart && value === best;
      return make("td", {class: top ? "number best" : "number"}, value === null ? "–" : value.toFixed(one.decimals), top ? make("span", {title: "best", "aria-label": "best"}, " ★") : null);
    }));
  });
  $("scores").replaceChildren(make("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Scores"}, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
  $("scores").hidden = false;
  const explaining = answer.metrics.filter((one) => one.figures.some(Boolean));
  const before = $("explainer").value;
  $("explainer").replaceChildren(...explaining.map((one) => make("option", {value: one.specification}, one.specification)));
  if (explaining.some((one) => one.specification === before)) $("explainer").value = before;
  $("why").hidden = !explaining.length;
  drawAll();
}
function drawAll() {
  if (!last) return;
  const metric = last.answer.metrics.find((one) => one.specification === $("explainer").value);
  observer.disconnect();
  $("drawings").replaceChildren();
  if (!metric) return;
  metric.figures.forEach((figure, n) => {
    if (!figure) return;
    const save = make("button", {type: "button", "aria-label": `Download the drawing of ${last.answer.names[n]} as SVG`}, "Download SVG");
    save.addEventListener("click", () => download(n));
    const block = make("div", {class: "why"}, make("p", {class: "head"}, make("b", {}, `${last.answer.names[n]}: ${figure.m} ${figure.s}`), save));
    block.figure = figure;
    $("drawings").append(block);
    paint(block);
    observer.observe(block);
  });
}
function paint(block) {
  const padding = parseFloat(getComputedStyle(block).paddingLeft) * 2;
  const width = Math.floor(block.clientWidth - padding) - 8;
  // What is not on the page any more has no padding, and no width that is a number.
  if (!(width > 0) || block.painted === width) return;
  block.painted = width;
  block.querySelector("svg")?.remove();
  block.append(DRAW.element(block.figure, width));
}
const observer = new ResizeObserver((entries) => { for (const one of entries) paint(one.target); });
async function download(n) {
  const {references, translations, source, lang} = last.body;
  const body = {references, translation: translations[n].text, lang, metric: $("explainer").value};
  if (source) body.source = source;
  try {
    const drawn = await (await send("/api/draw", body)).blob();
    const link = make("a", {href: URL.createObjectURL(drawn), download: `alignment-${n + 1}.svg`});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  } catch (error) {
    tell("told", error.message, true);
  }
}

// Files

let job;
async function compare(event) {
  event.preventDefault();
  const form = new FormData($("compare"));
  if (!$("source-file").files.length) form.delete("source");
  $("done").hidden = true;
  $("start").disabled = true;
  tell("state", "Sending the files …");
  try {
    let now = await (await ask("/api/comparisons", {method: "POST", body: form})).json();
    job = now.id;
    $("stop").hidden = false;
    $("bar").hidden = false;
    while (job && (now.state === "waiting" || now.state === "running")) {
      $("bar").max = Math.max(1, now.total);
      if (now.total) $("bar").value = now.done; else $("bar").removeAttribute("value");
      tell("state", now.state === "waiting" ? "Waiting for another comparison …" : `${now.stage[0].toUpperCase()}${now.stage.slice(1)}${now.total ? `: ${now.done} of ${now.total}` : " …"}`);
      await new Promise((resolve) => setTimeout(resolve, 400));
      if (!job) break;
      now = await (await ask(`/api/comparisons/${encodeURIComponent(job)}`)).json();
    }
    if (!job) tell("state", "Stopped.");
    else if (now.state === "failed") tell("state", now.problem, true);
    else {
      tell("state", "The report is ready.");
      $("open").href = now.report;
      $("download").href = `${now.report}?download=true`;
      $("numbers").href = now.result;
      $("done").hidden = false;
      $("open").focus();
    }
  } catch (error) {
    tell("state", error.message, true);
  }
  job = null;
  $("stop").hidden = true;
  $("bar").hidden = true;
  $("start").disabled = false;
}
async function stop() {
  const old = job;
  job = null;
  if (old) await ask(`/api/comparisons/${encodeURIComponent(old)}`, {method: "DELETE"}).catch(() => {});
}

// What the server offers

const summaries = new Map();
async function begin() {
  const [metrics, limits, described] = await Promise.all(["/api/metrics", "/api/limits", "/openapi.json"].map(async (path) => (await ask(path)).json()));
  for (const one of metrics) {
    summaries.set(one.name, one.summary);
    const box = make("input", {type: "checkbox", name: "metrics", value: one.name, checked: ["meant", "bleu", "chrf", "ter"].includes(one.name), disabled: Boolean(one.problem)});
    $("choices").append(make("label", {title: one.problem || one.summary}, box, ` ${one.name}`));
  }
  most = limits.translations;
  tidy();
  $("version").textContent = described.info.version;
  $("limits").textContent = `Texts: up to ${limits.characters.toLocaleString("en")} characters and ${limits.words} words each, ${limits.translations} translations, ${limits.seconds} seconds. Comparisons: up to ${limits.systems} systems, ${limits.segments.toLocaleString("en")} segments and ${limits.bytes / 1e6} MB of files, ${limits.comparison_seconds} seconds.`;
  for (const [path, methods] of Object.entries(described.paths)) for (const [method, one] of Object.entries(methods)) $("paths").append(make("tr", {}, make("td", {}, make("code", {}, `${method.toUpperCase()} ${path}`)), make("td", {}, (one.description || one.summary || "").split("\n")[0])));
  $("curl").textContent = `curl ${location.origin}/api/score -H 'Content-Type: application/json' \\\n  -d '{"references": ["He did not come."], "translations": [{"text": "He did come."}], "metrics": ["meant", "bleu"]}'`;
}

$("try").addEventListener("submit", (event) => {
  event.preventDefault();
  score(false);
});
$("try").addEventListener("input", (event) => { if (event.target !== $("live")) later(); });
$("try").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    score(false);
  }
});
$("add").addEventListener("click", () => addTranslation().focus());
$("example").addEventListener("click", () => {
  $("reference").value = EXAMPLE.reference;
  $("lang").value = "en";
  $("translations").replaceChildren();
  count = 0;
  for (const [name, text] of EXAMPLE.translations) addTranslation(text, name);
  score(false);
});
$("explainer").addEventListener("change", drawAll);
$("compare").addEventListener("submit", compare);
$("stop").addEventListener("click", stop);
addTranslation();
begin().then(() => { document.documentElement.dataset.ready = "yes"; }, (error) => tell("told", error.message, true));
