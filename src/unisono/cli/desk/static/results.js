// Commands that run and what came of them: progress, the report in place, files, another fusion without somebody.

import { $, ask, copyable, figure, make, Refused, refusal, table } from "./dom.js";

const FILES = {
  "truth.csv": "Truth", "annotators.csv": "Annotators by dimension", "annotators_overall.csv": "Annotators",
  "categories.csv": "Categories", "groups.csv": "Groups", "report.html": "Report", "summary.json": "Summary",
};
const jobs = new Map(); // name -> what was told last
let shown = null;

export async function restore(names, choose) {
  jobs.clear();
  for (const name of names) await follow(name, choose);
}

export async function follow(name, choose) {
  jobs.set(name, await ask(`jobs/${name}`));
  shown = name;
  draw(choose);
  while (["waiting", "running"].includes(jobs.get(name)?.state)) {
    await new Promise(resolve => setTimeout(resolve, 300));
    if (!jobs.has(name)) return;
    jobs.set(name, await ask(`jobs/${name}`));
    if (shown === name && ["waiting", "running"].includes(jobs.get(name).state)) progress(jobs.get(name));
  }
  if (shown === name) draw(choose);
  else drawTabs(choose);
}

function title(job) {
  if (job.verb === "compare") return "Models compared";
  return `Fused (${job.model}${job.without.length ? `, without ${job.without.join(", ")}` : ""})`;
}

function drawTabs(choose) {
  const words = { waiting: " …", running: " …", refused: ": refused", failed: ": failed", cancelled: ": cancelled", done: "" };
  $("tabs").replaceChildren(...[...jobs].map(([name, job]) => make("button", {
    type: "button", "aria-pressed": String(name === shown), click: () => { shown = name; draw(choose); },
  }, title(job) + words[job.state])));
}

function draw(choose) {
  $("results").hidden = !jobs.size;
  drawTabs(choose);
  const job = jobs.get(shown);
  if (!job) return $("panel").replaceChildren();
  const name = shown;
  const parts = { waiting: running, running, cancelled: stopped, refused: refused, failed, done: job.verb === "fuse" ? fused : compared }[job.state];
  $("panel").replaceChildren(...parts(job, name, choose));
}

function running(job, name, choose) {
  const cancel = make("button", { type: "button", click: async () => { jobs.set(name, await ask(`jobs/${name}`, { method: "DELETE" })); draw(choose); } }, "Cancel");
  queueMicrotask(() => progress(job));
  return [make("p", { class: "row" }, make("progress", { "aria-label": "Progress" }), cancel), make("p", { id: "told", role: "status" })];
}

function progress(job) {
  const bar = document.querySelector("#panel progress");
  if (!bar) return;
  const { done, total, text } = job.progress;
  if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
  $("told").textContent = job.state === "waiting" ? "Waiting for others to end" : text || "Starting";
}

const stopped = () => [make("p", { class: "alert" }, "Cancelled; nothing was written.")];
const failed = job => [make("div", { class: "alert" }, make("p", {}, "This ended without a result. What it said last:"), make("pre", { tabindex: "0" }, job.said.join("\n") || "nothing"))];
const refused = (job, name, choose) => [refusal(job.refused, choose, () => $("understood").scrollIntoView())];

function fused(job, name, choose) {
  const link = (file, text) => make("a", { class: "file", href: `jobs/${name}/${file}`, download: file }, text);
  const files = Object.keys(FILES).filter(file => job.files.includes(file)).map(file => link(file, FILES[file]));
  if (job.files.includes("report.json")) files.push(link("methods.txt", "Methods paragraph"));
  const parts = [make("p", { class: "row" }, make("strong", {}, "Download:"), ...files)];
  if (job.said.length) parts.push(make("ul", { class: "alerts" }, ...job.said.map(text => make("li", { class: "warning" }, text))));
  parts.push(aside(job, choose), difference(job, name));
  parts.push(make("details", {}, make("summary", {}, "The same again: command and Python"), copyable(job.command, "the command"), copyable(job.python, "the Python")));
  if (job.files.includes("report.html")) {
    parts.push(make("p", {}, make("a", { href: `jobs/${name}/report.html`, target: "_blank" }, "Open the report by itself")),
      make("iframe", { src: `jobs/${name}/report.html`, title: "Report", sandbox: "allow-scripts allow-downloads allow-modals", allow: "clipboard-write" }));
  } else parts.push(make("pre", { tabindex: "0", class: "said" }, job.answer));
  return parts;
}

function aside(job, choose) {
  const names = (document.desk?.annotators ?? []).filter(one => !job.without.includes(one));
  if (names.length < 2) return null;
  const select = make("select", { id: "whom", "aria-label": "Annotator to set aside" }, ...names.map(one => make("option", {}, one)));
  const again = without => choose({ without }, true);
  return make("p", { class: "row" }, make("label", { for: "whom" }, "What changes without"), select,
    make("button", { type: "button", click: () => again([...job.without, select.value]) }, "Set aside and fuse"),
    job.without.length ? make("button", { type: "button", click: () => again([]) }, "Take everybody back") : null);
}

function difference(job, name) {
  const place = make("div", { id: "difference" });
  const before = [...jobs].find(([other, one]) => other !== name && one.verb === "fuse" && one.state === "done" && !one.without.length);
  if (!before || (!job.without.length && before[1].model === job.model && before[1].command === job.command)) return place;
  ask(`jobs/${name}/beside/${before[0]}`).then(found => {
    const rows = found.dimensions.map(one => [one.name, figure(one.correlation, 3), figure(one.mean), figure(one.most),
      `${Math.round(100 * one.inside)} %`, `${figure(one.before)} → ${figure(one.after)}`]);
    const moved = found.dimensions.map(one => make("li", {}, `${one.name}: `, one.items.map(item => `${item.item} (${item.moved > 0 ? "+" : ""}${figure(item.moved)})`).join(", ")));
    place.append(make("h3", {}, `Beside “${title(before[1])}”`),
      table(["dimension", "correlation", "moved on average", "at most", "within the former interval", "agreement"], rows),
      make("p", { class: "small" }, "Items that moved most:"), make("ul", { class: "small" }, ...moved));
  }).catch(error => { if (error instanceof Refused) place.append(make("p", { class: "small" }, error.message)); });
  return place;
}

function compared(job, name) {
  const place = make("div", {});
  ask(`jobs/${name}/compare.json`).then(found => {
    const head = ["model", "log density", "RMSE", "90 % intervals hold", "agreement"];
    const rows = (found.rows ?? []).map(row => [row.model, figure(row.log_density, 3), figure(row.rmse, 3), figure(row.coverage), figure(row.agreement)]);
    place.append(rows.length ? table(head, rows) : make("pre", { tabindex: "0", class: "said" }, job.answer),
      make("p", {}, rows.length ? job.answer.trim().split("\n\n").pop() : ""),
      make("p", { class: "small" }, "On ratings that were hidden from the models, in standard deviations of the ratings; a higher log density and a lower RMSE are better."));
  });
  return [make("p", { class: "row" }, make("a", { class: "file", href: `jobs/${name}/compare.json`, download: "compare.json" }, "Download as JSON")), place,
    make("details", {}, make("summary", {}, "The same again: command and Python"), copyable(job.command, "the command"), copyable(job.python, "the Python"))];
}
