// Steps of a task are forms. This sends them in the background and shows what comes back, so that
// a page need not be loaded anew; without it the same forms work by themselves.
"use strict";
(() => {
  document.documentElement.classList.add("script");
  const work = document.getElementById("work");
  const saved = document.getElementById("saved");
  if (!work || !saved) return;

  const waiting = [];
  let sending = false;

  const tell = (state) => {
    saved.className = state;
    saved.textContent = saved.dataset[state === "" ? "saved" : state];
  };

  // What a step says, without the fields that are read when it is sent: its key and revision are
  // those of the page that is shown then.
  const collect = (form, name, value) => {
    const fields = [];
    for (const [field, content] of new FormData(form)) {
      if (!["csrf", "key", "revision"].includes(field)) fields.push([field, content]);
    }
    fields.push([name, value]);
    return { action: form.getAttribute("action"), form: form.id, fields };
  };

  const step = (form, name, value) => {
    waiting.push(collect(form, name, value));
    if (name === "label") for (const box of selected()) box.checked = false;
    send();
  };

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  const send = async () => {
    if (sending) return;
    sending = true;
    while (waiting.length) {
      const next = waiting[0];
      const form = document.getElementById(next.form);
      if (!form) { waiting.length = 0; break; }
      tell("saving");
      const body = new URLSearchParams(next.fields);
      for (const name of ["csrf", "key", "revision"]) body.set(name, form.elements[name].value);
      let answer = null;
      for (let tries = 0; answer === null; tries += 1) {
        try {
          answer = await fetch(next.action, { method: "POST", body, headers: { "X-Fragment": "1" } });
          if (answer.status >= 500) answer = null;
        } catch { answer = null; }
        if (answer === null) {
          // The same body under the same key: if it did arrive, it is not taken twice.
          tell("lost");
          await pause(Math.min(500 * 2 ** tries, 8000));
        }
      }
      const goal = answer.headers.get("X-Location");
      if (goal) { waiting.length = 0; tell(""); location.assign(goal); return; }
      if (answer.status === 401 || answer.status === 403 || answer.status === 404) {
        waiting.length = 0; location.reload(); return;
      }
      const text = await answer.text();
      waiting.shift();
      // What was refused makes what was to follow it meaningless.
      if (!answer.ok) waiting.length = 0;
      show(text, answer.ok ? follow(next.fields) : "");
      if (!answer.ok) {
        for (const [field, content] of next.fields) {
          const box = field === "word" && document.getElementById(`w${content}`);
          if (box) box.checked = true;
        }
      }
      tell("");
    }
    sending = false;
  };

  // The button of a translation that was moved is elsewhere now: who pressed it may press it again.
  const follow = (fields) => {
    const said = fields.find(([field]) => field === "do");
    const found = said && /^(up|down):(\d+)$/.exec(said[1]);
    return found ? `${found[1]}-${Number(found[2]) + (found[1] === "up" ? -1 : 1)}` : "";
  };

  const show = (text, goal) => {
    const active = document.activeElement;
    const kept = selected().map((box) => box.id);
    const id = active && work.contains(active) ? goal || active.id : "";
    work.innerHTML = text;
    for (const one of kept) {
      const box = document.getElementById(one);
      if (box) box.checked = true;
    }
    let same = id && document.getElementById(id);
    if (same && same.disabled) same = document.getElementById(id.replace(/^(up|down)/, (way) => (way === "up" ? "down" : "up")));
    const again = same || (id && work.querySelector("input:not([type=hidden]), select, button:not(.default)"));
    if (again) again.focus({ preventScroll: true });
    const message = work.querySelector("[role=alert]");
    if (message) message.scrollIntoView({ block: "nearest" });
  };

  work.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-step]")) return;
    event.preventDefault();
    const button = event.submitter;
    if (!button || button.value === "nothing") return;
    step(form, button.name, button.value);
  });

  work.addEventListener("change", (event) => {
    const field = event.target;
    if (field.dataset.do) step(field.form, "do", field.dataset.do);
  });

  window.addEventListener("beforeunload", (event) => { if (waiting.length) event.preventDefault(); });

  // Words: from word to word by arrow keys, more with shift; labels by number keys.

  const boxes = () => [...work.querySelectorAll("input[name=word]")];
  const selected = () => boxes().filter((box) => box.checked);
  let anchor = null;

  const range = (from, to, state) => {
    const all = boxes();
    const [low, high] = from < to ? [from, to] : [to, from];
    for (let place = low; place <= high; place += 1) if (all[place]) all[place].checked = state;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (target.matches && target.matches("select, textarea, input:not([type=checkbox]):not([type=radio])")) return;
    const button = [...work.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key.toLowerCase());
    if (button) { event.preventDefault(); button.click(); return; }
    if (event.key === "Escape") { for (const box of selected()) box.checked = false; return; }
    if (!target.matches || !target.matches("input[name=word]")) return;
    const all = boxes();
    const place = all.indexOf(target);
    const backwards = getComputedStyle(target.closest("[dir]")).direction === "rtl";
    const moves = { ArrowRight: backwards ? -1 : 1, ArrowLeft: backwards ? 1 : -1, Home: -place, End: all.length - 1 - place };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const other = all[place + moves[event.key]];
    if (!other) return;
    if (event.shiftKey) { target.checked = true; other.checked = true; }
    other.focus();
  });

  // By mouse and touch: drawing over words selects them all.

  let drawing = null;
  const place = (event) => {
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const label = under && under.closest(".word");
    return label ? boxes().indexOf(label.querySelector("input")) : -1;
  };
  work.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".word") || event.button) return;
    const start = place(event);
    drawing = { start, before: boxes().map((box) => box.checked), moved: false };
    if (event.shiftKey && anchor !== null) drawing.shift = anchor;
    anchor = start;
    if (event.target.releasePointerCapture && event.target.hasPointerCapture(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
  });
  work.addEventListener("pointermove", (event) => {
    if (!drawing) return;
    const now = place(event);
    if (now < 0 || (now === drawing.start && !drawing.moved)) return;
    drawing.moved = true;
    boxes().forEach((box, number) => { box.checked = drawing.before[number]; });
    range(drawing.start, now, !drawing.before[drawing.start]);
  });
  document.addEventListener("pointercancel", () => { drawing = null; });
  document.addEventListener("click", (event) => {
    if (!drawing) return;
    const { moved, shift, start } = drawing;
    drawing = null;
    if (moved && event.target.closest(".word")) event.preventDefault();
    else if (shift !== undefined && event.target.matches("input[name=word]")) setTimeout(() => range(shift, start, true));
  }, true);
  document.addEventListener("pointerup", () => {
    // After the click that follows; by then the next drawing may have begun.
    const ended = drawing;
    setTimeout(() => { if (drawing === ended) drawing = null; }, 50);
  });

  // Cards: dragged onto an event (judging) or to another place (ordering).

  let dragged = null;
  work.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("[draggable]");
    if (dragged) event.dataTransfer.setData("text/plain", "");
  });
  const goal = (event) => {
    if (!dragged) return null;
    return event.target.closest(dragged.dataset.frame === undefined ? "[data-place]" : "[data-drop]");
  };
  work.addEventListener("dragover", (event) => {
    const there = goal(event);
    for (const one of work.querySelectorAll(".over")) one.classList.remove("over");
    if (there && there !== dragged) { event.preventDefault(); there.classList.add("over"); }
  });
  work.addEventListener("dragend", () => {
    for (const one of work.querySelectorAll(".over")) one.classList.remove("over");
    dragged = null;
  });
  work.addEventListener("drop", (event) => {
    const there = goal(event);
    if (!there || there === dragged) return;
    event.preventDefault();
    if (dragged.dataset.frame !== undefined) {
      const list = there.querySelector("select[data-do^=match]");
      list.value = dragged.dataset.frame;
      step(list.form, "do", list.dataset.do);
    } else {
      step(there.closest("form"), "do", `place:${dragged.dataset.place}:${there.dataset.place}`);
    }
    dragged = null;
  });
})();
