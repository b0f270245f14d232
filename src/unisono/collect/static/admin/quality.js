// What the ratings are worth so far: computed beside the server when somebody looks, painted when it comes.

import { ago, byId, cell, root, row } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [240, 48];
const WORDS = { items: "rating", series: "trace", comparisons: "comparison" };
let have = 0;
let next = 0;

const figure = (value, digits = 2) => (value == null ? "–" : value.toFixed(digits));
const withEnds = (ends, digits) => (ends ? `${figure(ends[0], digits)} [${figure(ends[1], digits)}, ${figure(ends[2], digits)}]` : "–");
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function line(found, figures) {
  if (found.error) {
    const before = have ? ` The figures below were made ${ago(have)}.` : "";
    return `${found.running ? "Computing again. " : ""}Could not be computed: ${found.error}.${before}`;
  }
  if (!figures) return found.running ? "Computing…" : "Nothing computed yet.";
  const from = `From ${counted(figures.judgements, WORDS[figures.kind])} by ${counted(figures.raters, "rater")}`;
  const now = found.running ? " New ratings have come in; computing again." : found.is_stale ? " New ratings have come in since." : "";
  const state = figures.too_early || `${from}, computed ${ago(have)} in ${found.seconds} s.`;
  return state + now;
}

function needed({ needed: found, target, kind }) {
  const what = kind === "series" ? "recording" : "item";
  const has = found.fewest === found.most ? found.most : `${found.fewest} to ${found.most}`;
  const goal = `a correlation of ${target} with the truth`;
  if (found.per_item === null) return `Every ${what} has ${has}. How many it takes for ${goal} in every dimension cannot be told yet.`;
  const missing = found.ratings ? `${found.ratings} more in all` : "that is enough";
  return `Every ${what} has ${has}; for ${goal} in every dimension it takes ${found.per_item}: ${missing}.`;
}

function dimension(one, tried) {
  const enough = one.enough ?? (tried ? `more than ${tried}` : "–");
  return row(cell(one.name, "th"), ...[one.alpha, one.icc_a1, one.icc_ak].map((ends) => cell(withEnds(ends), "td", "number")),
    cell(figure(one.others), "td", "number"), cell(enough, "td", "number"));
}

// A trace with its band, as wide as the recording is long and as high as the values go.
function drawing(name, seconds, points) {
  const [low, high] = [Math.min(...points.map((point) => point[1])), Math.max(...points.map((point) => point[2]))];
  const last = seconds.at(-1) || 1;
  const place = (value, index) => `${((WIDTH * seconds[index]) / last).toFixed(1)},${(HEIGHT - (HEIGHT * (value - low)) / (high - low || 1)).toFixed(1)}`;
  const draw = (kind, className, values) => {
    const node = document.createElementNS(SVG, kind);
    node.setAttribute("class", className);
    node.setAttribute("points", values.join(" "));
    return node;
  };
  const above = points.map((point, index) => place(point[2], index));
  const below = points.map((point, index) => place(point[1], index)).reverse();
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("class", "trace");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${name}, between ${figure(low, 1)} and ${figure(high, 1)} over ${figure(last, 1)} seconds`);
  svg.append(draw("polygon", "trace-band", [...above, ...below]), draw("polyline", "trace-line", points.map((point, index) => place(point[0], index))));
  const node = cell("");
  node.append(svg);
  return node;
}

function truth(one, names) {
  const values = one.series
    ? names.map((name, index) => drawing(`${one.item}, ${name}`, one.seconds, one.series[index]))
    : one.values.map((ends) => cell(withEnds(ends, 1), "td", "number"));
  const above = "above" in one ? [cell(figure(one.above), "td", "number")] : [];
  return row(cell(one.item, "th"), cell(one.ratings, "td", "number"), ...values, ...above);
}

function headings(names, kind) {
  const series = kind === "series";
  const last = kind === "comparisons" ? [...names, "Above the next"] : names;
  return ["Item", kind === "comparisons" ? "Comparisons" : "Ratings", ...last].map((name, index) => {
    const node = cell(index === 0 && series ? "Recording" : name, "th", index === 1 || (index > 1 && !series) ? "number" : "");
    node.scope = "col";
    return node;
  });
}

function paint(figures) {
  byId("quality-figures").hidden = Boolean(figures.too_early);
  if (figures.too_early) return;
  const names = figures.dimensions.map((one) => one.name);
  byId("quality-dimensions").replaceChildren(...figures.dimensions.map((one) => dimension(one, figures.needed.tried)));
  byId("quality-needed").textContent = needed(figures);
  byId("quality-nobody").hidden = figures.unusual.length > 0;
  byId("quality-people").hidden = figures.unusual.length === 0;
  byId("quality-unusual").replaceChildren(...figures.unusual.map((one) =>
    row(cell(one.annotator, "th"), cell(one.dimension || "all"), cell(one.words), cell(figure(one.probability, 3), "td", "number"))));
  byId("quality-alerts").replaceChildren(...figures.alerts.map((one) => cell(one.message, "li")));
  byId("quality-names").replaceChildren(...headings(names, figures.kind));
  byId("quality-truth").replaceChildren(...figures.truth.map((one) => truth(one, names)));
}

let figures = null;

async function update(method = "GET") {
  clearTimeout(next);
  let wait = 4000;
  let text = "The server does not answer; trying again.";
  try {
    const response = await fetch(`${root}/admin/quality?have=${have}`, { method });
    if (!response.ok) throw new Error(response.status);
    const found = await response.json();
    if (found.figures) {
      figures = found.figures;
      paint(figures);
    }
    have = found.made_at;
    text = line(found, figures);
    byId("quality-refresh").disabled = found.running;
    if (found.running) wait = 1000;
  } catch {
    // Said below.
  }
  // Only what is new is read out.
  if (byId("quality-line").textContent !== text) byId("quality-line").textContent = text;
  next = setTimeout(watch, wait);
}

function watch() {
  if (document.hidden) next = setTimeout(watch, 4000);
  else update();
}

byId("quality-refresh").addEventListener("click", () => update("POST"));
update();
