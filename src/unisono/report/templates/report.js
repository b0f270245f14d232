"use strict";
// Tables: a click on a heading sorts, typing in the search field hides rows that do not match.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending" || !head.hasAttribute("aria-sort") && column === 0;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
      keyed.sort(([a], [b]) => compare(a, b, up ? 1 : -1));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}
for (const field of document.querySelectorAll("input[data-search]")) {
  const table = document.getElementById(field.dataset.search);
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  });
}
function keyOf(cell) {
  const text = cell.dataset.v ?? cell.textContent.trim();
  if (text === "" || text === "None" || text === "–") return null;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
// Unknown values stay at the end whichever way is up.
function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  return direction * String(a).localeCompare(String(b), undefined, { numeric: true });
}
for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", () => navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim()));
// Tables can be copied, also for LaTeX, and saved as CSV, pictures saved as SVG and PNG.
for (const box of document.querySelectorAll(".scroll")) {
  const table = box.querySelector("table"), picture = box.querySelector(":scope > svg");
  const name = box.closest("section")?.id ?? "table";
  if (table) tools(box, "table", { Copy: () => navigator.clipboard.writeText(textOf(table, "\t")), LaTeX: () => navigator.clipboard.writeText(latexOf(table)), CSV: () => save(textOf(table, ","), `${name}.csv`, "text/csv") });
  if (picture) tools(box, "picture", { SVG: () => save(drawn(picture), `${name}.svg`, "image/svg+xml"), PNG: () => saveImage(picture, `${name}.png`) });
}
function tools(box, what, actions) {
  const bar = document.createElement("p");
  bar.className = "tools";
  for (const [word, act] of Object.entries(actions)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = word;
    button.setAttribute("aria-label", `${word} of this ${what}`);
    button.addEventListener("click", act);
    bar.append(button);
  }
  box.after(bar);
}
// Heads over several columns go before the names below them; hidden rows are left out.
function rowsOf(table, read) {
  const rows = [...(table.tHead?.rows ?? [])], last = rows.pop(), above = [];
  for (const cell of rows[0]?.cells ?? []) for (let i = 0; i < cell.colSpan; i++) above.push(cell.textContent.trim());
  const head = last ? [[...last.cells].map((cell, i) => `${above[i] ?? ""} ${cell.textContent}`.trim())] : [];
  const body = [...table.tBodies].flatMap((part) => [...part.rows]).filter((row) => !row.hidden);
  return [...head, ...body.map((row) => [...row.cells].map(read))].map((row) => row.map((text) => text.trim().replace(/\s+/g, " ")));
}
function textOf(table, mark) {
  const rows = rowsOf(table, (cell) => (cell.dataset.v === "None" ? "" : cell.dataset.v) ?? cell.textContent); // all digits
  const quoted = (text) => /[",\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return rows.map((row) => row.map(quoted).join(mark)).join("\n") + "\n";
}
const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\u2212": "$-$", "\u2013": "--" };
function latexOf(table) {
  const shown = (cell) => [...cell.childNodes].filter((part) => part.nodeName !== "svg").map((part) => part.textContent).join(" ");
  const safe = (text) => text.replace(/[\\{}&%$#_~^\u2212\u2013]/g, (sign) => LATEX[sign] ?? `\\${sign}`);
  const rows = rowsOf(table, shown), columns = rows[0].length;
  const [head, ...body] = rows.map((row) => `${row.map(safe).join(" & ")} \\\\`);
  return ["% \\usepackage{booktabs}", `\\begin{tabular}{l${"r".repeat(columns - 1)}}`, "\\toprule", head, "\\midrule", ...body, "\\bottomrule", "\\end{tabular}"].join("\n") + "\n";
}
// A copy that looks the same without the page's style sheet.
function drawn(picture) {
  const copy = picture.cloneNode(true), from = picture.querySelectorAll("*"), to = copy.querySelectorAll("*");
  const size = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", size.width);
  copy.setAttribute("height", size.height);
  from.forEach((one, i) => {
    const seen = getComputedStyle(one);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-opacity", "font-size", "font-family", "text-anchor"]) to[i].style.setProperty(name, seen.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copy);
}
function saveImage(picture, name) {
  const image = new Image(), size = picture.viewBox.baseVal, factor = 3;
  image.onload = () => {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: size.width * factor, height: size.height * factor });
    const pen = canvas.getContext("2d");
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn(picture))}`;
}
function save(content, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
// On paper: every picture, without the tables behind pictures, and long and wide tables as parts that fit the page, with what is left out said.
const PAPER_WIDTH = 1000, PAPER_LINES = 80; // as wide on the screen as a page is, whose letters are smaller
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details[class]").forEach((one) => (one.open = true));
  document.querySelectorAll("table.sortable").forEach((table) => table.closest(".scroll").after(onPaper(table)));
});
window.addEventListener("afterprint", () => document.querySelectorAll(".paper").forEach((one) => one.remove()));
function onPaper(table) {
  const paper = document.createElement("div"), rows = [...table.tBodies[0].rows].filter((row) => !row.hidden), parts = partsOf(table);
  const shown = rows.slice(0, Math.max(Math.floor(PAPER_LINES / parts.length), 3));
  paper.className = "paper";
  for (const columns of parts) {
    const part = document.createElement("table"), body = part.createTBody();
    const own = (row) => { const copy = row.cloneNode(), cells = [...row.cells]; copy.append(...columns.map((i) => cells[i].cloneNode(true))); return copy; };
    part.append(document.createElement("thead"));
    if (table.tHead.rows.length > 1) part.tHead.append(groupHead(table, columns));
    part.tHead.append(own(table.tHead.rows[table.tHead.rows.length - 1]));
    body.append(...shown.map(own));
    paper.append(part);
  }
  if (shown.length < rows.length) paper.append(`The first ${shown.length} of ${rows.length} rows; all of them are in the page on a screen and in its files.`);
  return paper;
}
// The name, and as many groups of columns as fit beside it.
function partsOf(table) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells], groups = groupsOf(table), named = groups.shift();
  const width = (columns) => columns.reduce((sum, i) => sum + heads[i].offsetWidth, 0);
  const parts = [[...named]];
  for (const group of groups) {
    if (parts.at(-1).length > 1 && width([...parts.at(-1), ...group]) > PAPER_WIDTH) parts.push([named[0]]);
    parts.at(-1).push(...group);
  }
  return parts;
}
function groupsOf(table) {
  const groups = [];
  let first = 0;
  for (const cell of table.tHead.rows[0].cells) groups.push(Array.from({ length: cell.colSpan }, () => first++));
  return groups;
}
function groupHead(table, columns) {
  const row = document.createElement("tr"), above = table.tHead.rows[0].cells;
  groupsOf(table).forEach((group, i) => {
    const count = group.filter((column) => columns.includes(column)).length;
    if (count) { const cell = above[i].cloneNode(true); cell.colSpan = count; row.append(cell); }
  });
  return row;
}

// Curves: every trace, the estimate with its band, the mean; one view in time for all dimensions.
const holder = document.getElementById("curve-data");
if (holder) startCurves(JSON.parse(holder.textContent));

async function startCurves(data) {
  const bytes = Uint8Array.from(atob(data.packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const packed = await new Response(stream).json();
  const canvases = [...document.querySelectorAll(".curves canvas")];
  const select = document.getElementById("recording");
  const readout = document.getElementById("readout"), beyond = document.getElementById("beyond");
  const people = document.getElementById("one-annotator");
  const view = { from: 0, to: 1, cursor: null, drag: null };
  let curves, frames, start;

  function read(coded, d, step = data.step) {
    const out = new Float64Array(coded[d].length);
    let last = 0;
    coded[d].forEach((change, t) => { out[t] = change === null ? NaN : (last += change) * step[d]; });
    return out;
  }
  function above(base, distances) { return distances.map((distance, t) => base[t] + distance); }
  function choose(index) {
    const one = packed[index];
    ({ frames, start } = data.recordings[index]);
    curves = canvases.map((_, d) => {
      const floor = (steps) => steps.map((value) => value + data.floor[d]);
      const estimate = floor(read(one.estimate, d));
      return {
        estimate, low: above(estimate, read(one.low, d)), high: above(estimate, read(one.high, d)),
        mean: floor(read(one.mean, d)), traces: one.traces.map((trace) => floor(read(trace, d, data.trace_step))),
      };
    });
    const names = data.recordings[index].annotators;
    people.replaceChildren(new Option("everybody", ""), ...names.map((name, k) => new Option(name, k)));
    curves.forEach((own) => { own.ends = endsOf(own); });
    const leaves = (own, [low, high]) => low < own.ends[0] || high > own.ends[1];
    const outside = names.filter((_, k) => curves.some((own) => leaves(own, rangeOf(own.traces[k]))));
    beyond.textContent = outside.length ? `Traces that leave the picture, which is drawn for the estimate and for most annotators: ${outside.join(", ")}.` : "";
    Object.assign(view, { from: 0, to: frames - 1, cursor: null });
    draw();
  }
  function rangeOf(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
    return [low, high];
  }
  // The band, and as far as three quarters of the annotators go: nobody in other units flattens the picture.
  function endsOf(own) {
    const ranges = own.traces.map(rangeOf).filter(([low, high]) => low <= high), band = [rangeOf(own.low)[0], rangeOf(own.high)[1]];
    const most = (values) => values.sort((a, b) => a - b)[Math.floor(0.75 * (values.length - 1))] ?? -Infinity;
    const low = Math.min(band[0], -most(ranges.map((range) => -range[0]))), high = Math.max(band[1], most(ranges.map((range) => range[1])));
    return low < high ? [low, high] : [low - 0.5, low + 0.5];
  }
  function draw() { canvases.forEach((canvas, d) => drawOne(canvas, curves[d])); }

  function drawOne(canvas, own) {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const left = 46, bottom = height - 18;
    const x = (t) => left + (width - left - 6) * (t - view.from) / Math.max(view.to - view.from, 1e-9);
    const y = (v) => bottom - (bottom - 6) * (v - own.ends[0]) / (own.ends[1] - own.ends[0]);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colour("--soft"); pen.strokeStyle = colour("--line"); pen.lineWidth = 1;
    for (const value of rounds(own.ends[0], own.ends[1], 4)) {
      pen.beginPath(); pen.moveTo(left, y(value)); pen.lineTo(width - 6, y(value)); pen.stroke();
      pen.textAlign = "right"; pen.fillText(short(value), left - 5, y(value) + 4);
    }
    for (const second of rounds(start + view.from / data.rate, start + view.to / data.rate, 6)) {
      pen.textAlign = "center"; pen.fillText(`${short(second)} s`, x((second - start) * data.rate), height - 4);
    }
    pen.save(); pen.beginPath(); pen.rect(left, 0, width - left - 6, bottom + 1); pen.clip();
    const alone = people.value === "" ? null : own.traces[Number(people.value)];
    pen.strokeStyle = colour("--grey"); pen.globalAlpha = 0.45;
    if (!alone) for (const trace of own.traces) line(pen, trace, x, y, width - left);
    pen.globalAlpha = 0.5; pen.fillStyle = colour("--blue-soft");
    band(pen, own.low, own.high, x, y, width - left);
    pen.globalAlpha = 1; pen.strokeStyle = colour("--orange"); pen.lineWidth = 1.2;
    if (view.to - view.from < 4 * width) pen.setLineDash([5, 3]); // dashes on a path that crowds are lost, and slow
    line(pen, own.mean, x, y, width - left);
    pen.setLineDash([]); pen.strokeStyle = colour("--blue"); pen.lineWidth = 2;
    line(pen, own.estimate, x, y, width - left);
    pen.lineWidth = 1; pen.strokeStyle = colour("--ink");
    if (alone) { pen.lineWidth = 1.5; line(pen, alone, x, y, width - left); pen.lineWidth = 1; }
    if (view.cursor !== null) { pen.beginPath(); pen.moveTo(x(view.cursor), 0); pen.lineTo(x(view.cursor), bottom); pen.stroke(); }
    if (view.drag) {
      pen.globalAlpha = 0.2; pen.fillStyle = colour("--blue");
      pen.fillRect(x(view.drag[0]), 0, x(view.drag[1]) - x(view.drag[0]), bottom);
    }
    if (view.cursor !== null) label(pen, valuesAt(own, frame()), x(view.cursor), left, width - 6, colour);
    pen.restore();
  }
  // Beside the pointer, on the side where there is room.
  function label(pen, text, at, left, right, colour) {
    const wide = pen.measureText(text).width + 10, start = at + 8 + wide < right ? at + 8 : Math.max(at - 8 - wide, left);
    pen.globalAlpha = 0.92; pen.fillStyle = colour("--paper"); pen.fillRect(start, 6, wide, 18); pen.globalAlpha = 1;
    pen.fillStyle = colour("--ink"); pen.textAlign = "left"; pen.fillText(text, start + 5, 19);
  }
  // Where a pixel holds many frames, their lowest and highest value are enough to look the same.
  function line(pen, values, x, y, pixels) {
    const from = Math.max(Math.floor(view.from), 0), to = Math.min(Math.ceil(view.to), values.length - 1);
    const step = Math.max(Math.floor((to - from) / pixels), 1);
    pen.beginPath();
    let open = false;
    for (let t = from; t <= to; t += step) {
      let low = Infinity, high = -Infinity;
      for (let i = t; i < Math.min(t + step, to + 1); i++) { const v = values[i]; if (v < low) low = v; if (v > high) high = v; }
      if (low > high) { open = false; continue; }
      if (open) pen.lineTo(x(t), y(low)); else pen.moveTo(x(t), y(low));
      if (high > low) pen.lineTo(x(t), y(high));
      open = true;
    }
    pen.stroke();
  }
  function band(pen, low, high, x, y, pixels) {
    const from = Math.max(Math.floor(view.from), 0), to = Math.min(Math.ceil(view.to), low.length - 1);
    const step = Math.max(Math.floor((to - from) / pixels), 1);
    pen.beginPath();
    for (let t = from; t <= to; t += step) if (!Number.isNaN(high[t])) pen.lineTo(x(t), y(high[t]));
    for (let t = to; t >= from; t -= step) if (!Number.isNaN(low[t])) pen.lineTo(x(t), y(low[t]));
    pen.closePath(); pen.fill();
  }
  function frame() { return Math.min(Math.max(Math.round(view.cursor), 0), frames - 1); }
  function valuesAt(own, t) {
    const alone = people.value === "" ? "" : `, ${people.selectedOptions[0].text} ${short(own.traces[Number(people.value)][t])}`;
    return `${short(own.estimate[t])} [${short(own.low[t])}, ${short(own.high[t])}], mean ${short(own.mean[t])}${alone}`;
  }
  function tell() {
    const names = canvases.map((canvas) => canvas.closest("figure").querySelector("figcaption").textContent), t = frame();
    readout.textContent = `At ${short(start + t / data.rate)} s. ${curves.map((own, d) => `${names[d]}: ${valuesAt(own, t)}`).join(". ")}.`;
  }
  function zoom(from, to) {
    const least = Math.min(10, frames - 1);
    if (to - from < least) { const middle = (from + to) / 2; from = middle - least / 2; to = middle + least / 2; }
    view.from = Math.max(from, 0); view.to = Math.min(to, frames - 1);
    draw();
  }
  function scale(factor) {
    const middle = view.cursor ?? (view.from + view.to) / 2, half = (view.to - view.from) * factor / 2;
    zoom(middle - half, middle + half);
  }
  function frameAt(canvas, event) {
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - 46) / (box.width - 52);
    return view.from + Math.min(Math.max(share, 0), 1) * (view.to - view.from);
  }
  for (const canvas of canvases) {
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const t = frameAt(canvas, event);
      view.drag = [t, t]; canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      view.cursor = frameAt(canvas, event);
      if (view.drag) view.drag[1] = view.cursor;
      draw(); tell();
    });
    canvas.addEventListener("pointerup", () => {
      const drag = view.drag; view.drag = null;
      if (drag && Math.abs(drag[1] - drag[0]) > (view.to - view.from) / 100) zoom(Math.min(...drag), Math.max(...drag));
      else draw();
    });
    canvas.addEventListener("pointercancel", () => { view.drag = null; draw(); });
    canvas.addEventListener("dblclick", () => zoom(0, frames - 1));
    canvas.addEventListener("keydown", (event) => {
      const step = Math.max((view.to - view.from) / 100, 1);
      const move = { ArrowLeft: -step, ArrowRight: step }[event.key];
      if (move) {
        view.cursor = Math.min(Math.max((view.cursor ?? view.from) + move, 0), frames - 1);
        if (view.cursor < view.from || view.cursor > view.to) {
          const half = (view.to - view.from) / 2;
          zoom(view.cursor - half, view.cursor + half);
        } else draw();
        tell();
      } else if (event.key === "+" || event.key === "=") scale(0.5);
      else if (event.key === "-") scale(2);
      else if (event.key === "0") zoom(0, frames - 1);
      else return;
      event.preventDefault();
    });
  }
  for (const button of document.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => ({ in: () => scale(0.5), out: () => scale(2), all: () => zoom(0, frames - 1) })[button.dataset.zoom]());
  select.addEventListener("change", () => choose(Number(select.value)));
  people.addEventListener("change", () => { draw(); if (view.cursor !== null) tell(); });
  window.addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  choose(0);
  document.getElementById("curves").dataset.ready = "yes";
}
function rounds(low, high, count) {
  const rough = (high - low) / count, size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((nice) => nice * size >= rough * 0.999) * size;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step + 0); // no minus zero
  return found;
}
function short(value) {
  return Number.isNaN(value) ? "–" : value.toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: false });
}
