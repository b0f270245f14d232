// How a table is understood, and what the user says otherwise.

import { $, counted, figure, make, refusal } from "./dom.js";

const ROLES = {
  "": "not used", item: "item", annotator: "annotator", rating: "rating", category: "category", time: "time",
  kind: "kind of annotator", dimension: "name of the dimension", value: "number", annotators: "an annotator's answers",
  items: "answers on one item",
};
const CHOSEN = ["", "item", "annotator", "rating", "category", "time", "dimension", "value", "annotators", "items"];
const FIELDS = {
  missing: ["Codes for missing answers", "-99, 999", "besides empty, NA, NaN and null"],
  labels: ["What words mean", "bad=1, good=2", "nothing behind the equals sign: missing"],
  duplicates: ["Rated twice", ["", "first", "last", "mean"], "which answer holds"],
  humans: ["Who is a person", "P*, s0*", "patterns of names; all others are judges (language models)"],
  annotators_in_columns: ["Columns that are annotators", "rater*, or {dimension}_{annotator}", "if they stand side by side"],
  items_in_columns: ["Columns that are items", "clip*", "if they stand side by side"],
  sheet: ["Sheet, or file in an archive", "Sheet1", ""],
  time_unit: ["Unit of time", ["", "s", "ms", "us", "ns", "min", "h", "frames"], "of traces"],
  rate: ["Frames per second", "10", "of traces"],
  max_gap: ["Longest gap to bridge", "0.5", "seconds, of traces"],
};

// `changed(choices)` is called with what is to be chosen besides; null takes a choice back.
export function show(seen, choices, changed) {
  $("understood").hidden = false;
  $("facts").textContent = facts(seen);
  const lead = field => {
    $("more").open = true;
    (document.querySelector(`#fields [name="${field}"]`) ?? document.querySelector("#rows select"))?.focus();
  };
  $("refused").replaceChildren(...(seen.refused ? [refusal(seen.refused, changed, lead)] : []));
  $("notes").replaceChildren(...[...(seen.notes ?? []), ...(seen.warnings ?? [])].map(note => make("li", {}, note)));
  showRows(seen, changed);
  showDimensions(seen, choices, changed);
  showFields(choices, changed);
  $("comparisons").checked = Boolean(choices.comparisons);
  $("comparisons").onchange = () => changed({ comparisons: $("comparisons").checked || null });
}

function facts(seen) {
  if (seen.refused) return `${seen.name} could not be read as it is.`;
  const things = seen.holds === "comparisons" ? "comparison" : seen.series ? "trace" : "judgement";
  const kinds = Object.entries(seen.kinds ?? {});
  const who = kinds.length > 1 ? ` (${kinds.map(([kind, n]) => `${n} ${kind}`).join(", ")})` : "";
  const more = seen.annotators.length >= 500 ? " or more" : "";
  return `${seen.name}: ${counted(seen.answers, things)} of ${counted(seen.items, seen.series ? "recording" : "item")} ` +
    `by ${counted(seen.annotators.length, "annotator")}${more}${who}.`;
}

function showRows(seen, changed) {
  const head = seen.columns.map((column, i) => {
    const known = CHOSEN.includes(column.role) ? CHOSEN : [...CHOSEN, column.role];
    const select = make("select", { "aria-label": `What column ${column.name} is`, change: () => changed(fromRoles(seen.columns)) },
      ...known.map(role => make("option", { value: role, selected: role === column.role }, ROLES[role])));
    select.addEventListener("change", () => { column.role = select.value; }, { capture: true });
    return make("th", { scope: "col", class: column.role ? "" : "off" }, column.name || `column ${i + 1}`,
      seen.holds === "comparisons" ? null : select, column.why ? make("span", { class: "why small" }, `left out: ${column.why}`) : null);
  });
  const rows = seen.rows.map(row => make("tr", {}, ...row.map((cell, i) => make("td", { class: seen.columns[i].role ? "" : "off", title: cell }, cell))));
  $("rows").replaceChildren(make("caption", { class: "unseen" }, "First rows, with what each column was taken for"),
    make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

// Choices that say all roles by name, so that nothing is guessed any more.
function fromRoles(columns) {
  const of = role => columns.filter(column => column.role === role).map(column => column.name);
  const named = names => names.length ? Object.fromEntries(names.map(name => [name, name])) : null;
  const long = of("dimension").length > 0;
  const spread = of("annotators").length + of("items").length > 0;
  return {
    item: of("item").join(",") || null, annotator: of("annotator").join(",") || null,
    time: of("time")[0] ?? (of("item").length && of("annotator").length ? "none" : null),
    dims: long || spread ? null : named(of("rating")), categories: of("category").length ? named(of("category")) : "none",
    dimension: of("dimension")[0] ?? null, value: of("value")[0] ?? null,
    annotators_in_columns: of("annotators").join(",") || null, items_in_columns: of("items").join(",") || null,
  };
}

function showDimensions(seen, choices, changed) {
  const scales = typeof choices.scale === "object" && choices.scale ? choices.scale : {};
  const said = (name, text) => changed({ scale: { ...Object.fromEntries(Object.entries(scales).filter(([one]) => one !== name)), ...(text ? { [name]: text } : {}) } });
  const rows = (seen.dimensions ?? []).map(one => {
    const [low, high] = ["low", "high"].map((end, i) => make("input", {
      type: "number", step: "any", value: one.ends?.[i === 0 ? "low" : "high"] ?? "", "aria-label": `${end === "low" ? "Lowest" : "Highest"} answer of ${one.name}`,
    }));
    const both = () => { if (low.value !== "" && high.value !== "") said(one.name, `${low.value}:${high.value}`); };
    low.addEventListener("change", both);
    high.addEventListener("change", both);
    const free = make("button", { type: "button", click: () => said(one.name, one.ends?.low === undefined || !scales[one.name] ? "none" : "") },
      scales[one.name] ? "As inferred" : "No ends");
    return make("tr", {}, make("th", { scope: "row" }, one.name), make("td", {}, `${figure(one.least, 3)} to ${figure(one.most, 3)}`),
      make("td", {}, low, " to ", high), make("td", {}, one.ends === null || one.ends === undefined ? one.scale : one.given ? "as you said" : "inferred"), make("td", {}, free));
  });
  const words = (seen.categories ?? []).map(one => make("p", {}, make("strong", {}, one.name), `: categories without an order (${one.classes.join(", ")})`));
  const head = ["dimension", "answers", "scale", "", ""].map(name => name ? make("th", { scope: "col" }, name) : make("td", {}));
  $("dimensions").replaceChildren(...(rows.length ? [make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))] : []), ...words);
}

function showFields(choices, changed) {
  $("fields").replaceChildren(...Object.entries(FIELDS).map(([name, [title, example, about]]) => {
    const change = { change: event => changed({ [name]: event.target.value.trim() || null }) };
    const field = Array.isArray(example)
      ? make("select", { name, ...change }, ...example.map(one => make("option", { value: one, selected: one === (choices[name] ?? "") }, one || "as recognised")))
      : make("input", { name, value: choices[name] ?? "", placeholder: example, ...change });
    return make("label", {}, title, field, make("small", {}, about));
  }));
}
