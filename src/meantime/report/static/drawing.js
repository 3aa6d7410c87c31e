function drawing(style) {
  // The drawing of one segment's alignment, made when it is looked at. `svg.py` is the same drawing
  // in Python: a test holds both to the same characters, so change them together.
  "use strict";
  const LINE = 20;
  const SYMBOLS = {match: "=", exact: "=", stem: "≈", synonym: "≈", substitution: "≠", shift: "⇄", insertion: "missing", deletion: "extra"};
  const escape = (text) => text.replace(/[&<>"]/g, (one) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[one]);
  const within = (code, ranges) => ranges.some(([low, high]) => low <= code && code <= high);

  function measure(text, size = 13) {
    let units = 0;
    for (const mark of text) {
      const code = mark.codePointAt(0);
      if (code >= 32 && code < 127) units += style.widths[code - 32];
      else if (within(code, style.none)) continue;
      else if (within(code, style.wide)) units += 1000;
      else units += style.other;
    }
    return Math.ceil(units * size / 1000);
  }
  const sign = (value) => (value < 0 ? "−" : "");
  function number(value) {
    const size = Math.abs(value);
    return `${sign(value)}${Math.floor(size / 1000)}.${String(size % 1000).padStart(3, "0")}`;
  }
  function hundredths(value) {
    const size = Math.floor((Math.abs(value) + 5) / 10);
    return `${sign(value)}${Math.floor(size / 100)}.${String(size % 100).padStart(2, "0")}`;
  }
  const worth = (share, loss) => `share ${number(share)}, lost ${number(loss)}`;
  function pieces(text, room, size = 13) {
    if (measure(text, size) <= room) return [text];
    const made = [""];
    for (const mark of text) {
      if (made.at(-1) && measure(made.at(-1) + mark, size) > room) made.push("");
      made[made.length - 1] += mark;
    }
    return made;
  }
  function compared(words, others) {
    const known = new Set(others.map((word) => word.toLowerCase()));
    return words.map((word) => [word, others.length > 0 && word !== "…" && !known.has(word.toLowerCase())]);
  }

  function draw(figure, asked, segment = "") {
    const width = Math.max(asked, 280);
    const out = [];
    let y = 0;

    function text(x, at, kind, said, length = 0) {
      const fit = length ? ` textLength="${length}" lengthAdjust="spacingAndGlyphs"` : "";
      out.push(`<text x="${x}" y="${at}" class="d-${kind}"${fit}>${escape(said)}</text>\n`);
    }
    const fitted = (x, at, kind, said, room, size = 13) => text(x, at, kind, said, measure(said, size) > room ? room : 0);
    const middled = (x, at, kind, said, room) => text(x, at, kind, said, measure(said, 11) > room ? room : 0);
    const rect = (x, at, wide, high, kind, round = 3) => out.push(`<rect x="${x}" y="${at}" width="${wide}" height="${high}" rx="${round}" class="d-${kind}"/>\n`);
    const path = (steps, kind) => out.push(`<path d="${steps}" class="d-${kind}"/>\n`);
    function heading(said) {
      y += 12;
      fitted(0, y + 14, "h", said, width);
      y += 24;
    }

    function title() {
      const better = figure.u ? "higher is better" : "lower is better";
      const first = `${figure.m} ${figure.s}`;
      text(0, 14, "h", first);
      const left = measure(first) + 24;
      fitted(left, 14, "k", `segment ${segment}, ${better}`, width - left, 11);
      y = 28;
    }
    function mark(x, at, size, kind) {
      if (kind === "w") path(`M${x} ${at}h${size}`, "dot");
      else if (kind === "p") path(`M${x} ${at}h${size}`, "partly");
      else if (kind === "m") {
        let steps = "";
        for (let n = 0; n < Math.floor(size / 3); n++) steps += `l3 ${n % 2 ? -3 : 3}`;
        path(`M${x} ${at - 1}${steps}`, "zig");
      } else if (kind === "x") path(`M${x} ${at - 1}h${size}M${x} ${at + 2}h${size}`, "dbl");
    }
    function sentence(name, tokens, marks) {
      text(0, y + 12, "k", name);
      y += 18;
      let x = 0;
      if (!tokens.length) text(0, y + 13, "k", "(empty)");
      tokens.forEach((token, place) => {
        const kind = place < marks.length ? marks[place] : ".";
        for (const piece of pieces(token, width)) {
          const size = measure(piece);
          if (x > 0 && x + size > width) {
            x = 0;
            y += LINE + 4;
          }
          if (kind === "f") rect(x - 2, y - 1, size + 4, 19, "fact");
          text(x, y + 13, "t", piece, size);
          mark(x, y + 17, size, kind);
          x += size + 4;
        }
      });
      y += LINE + 8;
    }
    function legend() {
      const used = (figure.a || "") + (figure.b || "");
      let x = 0;
      for (const [kind, meaning] of [["m", "missing"], ["x", "too much"], ["w", "unlike all words of the other side"], ["p", "changed places"], ["f", "a fact only one side has"]]) {
        if (!used.includes(kind)) continue;
        const size = measure(meaning, 11);
        if (x > 0 && x + 28 + size > width) {
          x = 0;
          y += 16;
        }
        if (kind === "f") rect(x, y + 1, 22, 11, "fact");
        else mark(x, y + 8, 21, kind);
        fitted(x + 28, y + 11, "k", meaning, width - 28, 11);
        x += size + 46;
      }
      if (x > 0) y += 18;
    }
    function wrapped(words, room) {
      const lines = [];
      let x = 0;
      for (const [said, differs] of words) for (const word of said.split(" ")) for (const piece of pieces(word, room)) {
        const size = measure(piece);
        if (!lines.length || (x > 0 && x + 4 + size > room)) {
          lines.push([]);
          x = 0;
        }
        lines.at(-1).push([piece, differs]);
        x += size + (x > 0 ? 4 : 0);
      }
      return lines;
    }
    function losses() {
      if (!figure.l) return;
      heading("Lost most by");
      for (const [points, what] of figure.l) {
        text(48, y + 13, "n", number(-points));
        for (const line of wrapped([[what, false]], width - 60)) {
          text(60, y + 13, "t", line.map((one) => one[0]).join(" "));
          y += LINE;
        }
      }
      y += 2;
    }
    function components() {
      if (!figure.c) return;
      heading("Value × weight = share");
      const heaviest = Math.max(1, ...figure.c.map((one) => one[2]));
      const room = width - 86 - 138;
      for (const [name, value, weight, share] of figure.c) {
        fitted(0, y + 13, "t", name, 80);
        const whole = Math.floor(room * weight / heaviest);
        const part = Math.min(whole, Math.max(0, Math.floor(whole * value / 1000)));
        if (whole > part) rect(86 + part, y + 3, whole - part, 12, "less", 0);
        if (part) rect(86, y + 3, part, 12, "full", 0);
        text(width, y + 13, "e", `${number(value)} × ${number(weight)} = ${number(share)}`);
        y += LINE;
      }
    }
    function costs() {
      if (!figure.w) return;
      heading("Words that cost most");
      const most = Math.max(1, ...figure.w.map((one) => one[3] + one[4]));
      const room = width - 86 - 138;
      for (const [name, side, tokens] of [["in the reference", 2, figure.r], ["in the hypothesis", 1, figure.h]]) {
        const rows = figure.w.filter((one) => one[0] === side);
        if (rows.length) {
          text(0, y + 11, "k", name);
          y += 16;
        }
        for (const [, place, , share, loss] of rows) {
          fitted(0, y + 13, "t", tokens[place], 80);
          const whole = Math.floor(room * (share + loss) / most);
          const part = Math.floor(room * share / most);
          if (whole > part) rect(86 + part, y + 3, whole - part, 12, "less", 0);
          if (part) rect(86, y + 3, part, 12, "full", 0);
          text(width, y + 13, "e", worth(share, loss));
          y += LINE;
        }
      }
      if (!figure.v) return;
      const [count, share, loss] = figure.v;
      fitted(0, y + 11, "k", `${count} other word${count === 1 ? "" : "s"}: ${worth(share, loss)}`, width, 11);
      y += 16;
    }
    function fillerWords(spans, tokens) {
      const found = [];
      for (let n = 0; n < (spans.length || 0); n += 2) {
        if (n) found.push("…");
        found.push(...tokens.slice(spans[n], spans[n + 1]));
      }
      return found;
    }
    function line(x, at, words) {
      const runs = words.map(([word, differs], n) => (n ? " " : "") + (differs ? `<tspan class="d-d">${escape(word)}</tspan>` : escape(word)));
      const length = measure(words.map((one) => one[0]).join(" "));
      out.push(`<text x="${x}" y="${at}" class="d-t" textLength="${length}" lengthAdjust="spacingAndGlyphs">${runs.join("")}</text>\n`);
    }
    function phrase([role, left, right, similarity, , loss], column, middle) {
      const theirs = fillerWords(right, figure.r);
      const ours = fillerWords(left, figure.h);
      const sides = [wrapped(compared(theirs, ours), column - 16), wrapped(compared(ours, theirs), column - 16)];
      const height = Math.max(36, ...sides.map((lines) => LINE * lines.length + 8));
      const centre = y + Math.floor(height / 2);
      for (const [lines, there, x] of [[sides[0], right, 0], [sides[1], left, column + middle]]) {
        const tall = Math.max(28, LINE * lines.length + 8);
        const top = y + Math.floor((height - tall) / 2);
        rect(x, top, column, tall, there ? "box" : "gap");
        if (!there) middled(x + Math.floor(column / 2), centre + 4, "a", x ? "missing" : "not in the reference", column - 8);
        lines.forEach((words, n) => line(x + 8, top + 18 + LINE * n, words));
      }
      const x = column + Math.floor(middle / 2);
      middled(x, centre - 7, "g", role, middle - 8);
      let said = "";
      if (left && right) {
        path(`M${column} ${centre}h${middle}`, similarity >= 800 ? "strong" : similarity >= 400 ? "partly" : "weak");
        said = hundredths(similarity);
      } else {
        const [start, end] = right ? [column, x - 6] : [column + middle, x + 6];
        path(`M${start} ${centre}H${end}`, "weak");
        path(`M${x - 5} ${centre - 5}l10 10m0 -10l-10 10`, "cross");
      }
      if (loss > 0) said += `${said ? " " : ""}${number(-loss)}`;
      if (said) middled(x, centre + 16, loss > 0 ? "a" : "c", said, middle - 8);
      y += height + 8;
    }
    function frames() {
      if (!figure.f) return;
      heading("Who did what to whom");
      const middle = width >= 560 ? 150 : 88;
      const column = Math.floor((width - middle) / 2);
      text(0, y + 9, "k", "reference");
      text(column + middle, y + 9, "k", "hypothesis");
      y += 16;
      figure.f.forEach(([sides, share, loss, phrases], place) => {
        if (place) {
          path(`M0 ${y + 4}h${width}`, "rule");
          y += 12;
        }
        const only = ["", ", only in the hypothesis", ", only in the reference"][sides];
        let said = `event ${place + 1}${only}: share ${number(share)}`;
        if (loss > 0) said += `, lost ${number(loss)}`;
        fitted(0, y + 11, "k", said, width, 11);
        y += 18;
        for (const one of phrases) phrase(one, column, middle);
      });
    }
    function parts() {
      if (!figure.p) return;
      heading("Word by word: reference above, hypothesis below");
      let x = 0;
      for (const [label, start, end, first, last] of figure.p) {
        const below = start >= 0 ? figure.h.slice(start, end).join(" ") : "";
        const above = first >= 0 ? figure.r.slice(first, last).join(" ") : "";
        const symbol = Object.hasOwn(SYMBOLS, label) ? SYMBOLS[label] : label;
        const size = Math.min(width, Math.max(measure(above), measure(below), measure(symbol, 11)) + 14);
        if (x > 0 && x + size > width) {
          x = 0;
          y += 74;
        }
        const missing = start < 0 || first < 0;
        const agrees = !missing && symbol === "=";
        rect(x, y, size, 66, agrees ? "box" : missing ? "gap" : "bar");
        fitted(x + 7, y + 18, "t", above, size - 14);
        middled(x + Math.floor(size / 2), y + 37, agrees ? "c" : "a", symbol, size - 8);
        fitted(x + 7, y + 56, "t", below, size - 14);
        x += size + 5;
      }
      y += 74;
    }
    function elsewhere() {
      if (!figure.o) return;
      heading("What the score is made of");
      const most = Math.max(1, ...figure.o.map((one) => Math.abs(one[1])));
      const names = Math.min(200, Math.floor(width * 2 / 5));
      const room = width - names - 70;
      const negative = figure.o.some((one) => one[1] < 0);
      const half = negative ? Math.floor(room / 2) : room;
      const origin = names + 6 + (negative ? half : 0);
      for (const [label, value] of figure.o) {
        fitted(0, y + 13, "t", label, names);
        const size = Math.floor(half * Math.abs(value) / most);
        if (size) rect(value < 0 ? origin - size : origin, y + 3, size, 12, value < 0 ? "less" : "full", 0);
        text(width, y + 13, "e", number(value));
        y += LINE;
      }
      path(`M${origin} ${y - LINE * figure.o.length}V${y}`, "rule");
    }

    if (segment) title();
    sentence("reference", figure.r, figure.b || "");
    sentence("hypothesis", figure.h, figure.a || "");
    legend();
    losses();
    components();
    costs();
    frames();
    parts();
    elsewhere();
    return {body: out.join(""), height: y};
  }

  // Read out by a screen reader in the place of the drawing.
  function describe(figure) {
    const found = [`${figure.m} ${figure.s}`];
    for (const [points, what] of figure.l || []) found.push(`${number(-points)} ${what}`);
    return found.join("; ");
  }

  // An element with the drawing in it, as wide as asked for.
  function element(figure, width) {
    const {body, height} = draw(figure, width);
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const size = Math.max(width, 280) + 8;
    made.setAttribute("viewBox", `-4 -4 ${size} ${height + 8}`);
    made.setAttribute("width", size);
    made.setAttribute("height", height + 8);
    made.setAttribute("class", "drawing");
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", describe(figure));
    made.innerHTML = body;
    return made;
  }
  return {draw, element, describe, number};
}
