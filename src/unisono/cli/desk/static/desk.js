// The desk: a table comes in, is looked at with the choices made so far, and is fused.

import { $, ask, make, Refused, refusal } from "./dom.js";
import { follow, restore } from "./results.js";
import { show } from "./understood.js";

let table = null; // its name at the desk, kept behind the # of the address, so that a tab keeps its own
let choices = {};
let looks = 0;

async function take(files) {
  if (!files.length) return;
  table = null;
  let told;
  for (const [i, file] of files.entries()) {
    $("coming").textContent = `Taking in ${file.name} (${i + 1} of ${files.length}) …`;
    const where = told ? `&table=${told.table}` : "";
    told = await ask(`tables?name=${encodeURIComponent(file.name)}${where}`, { method: "POST", body: file });
  }
  await begin(told);
}

async function begin(told) {
  ({ table, choices } = told);
  location.hash = table;
  remember();
  await restore([], choose);
  $("results").hidden = true;
  await look();
}

const remember = () => sessionStorage.setItem(table, JSON.stringify(choices));

async function look() {
  const turn = ++looks;
  $("coming").textContent = "Reading …";
  $("fuse").disabled = $("compare").disabled = true;
  const seen = await ask(`tables/${table}/look`, { method: "POST", data: choices });
  if (turn !== looks) return; // a later choice has been made meanwhile
  $("coming").textContent = "";
  document.desk = seen;
  show(seen, choices, choose);
  const model = $("model").value;
  $("model").replaceChildren(...["", ...(seen.models ?? [])].map(name => make("option", { value: name, selected: name === model }, name || "auto (recommended)")));
  $("go").hidden = false;
  $("fuse").disabled = Boolean(seen.refused);
  $("compare").disabled = Boolean(seen.refused) || !(seen.holds === "comparisons" || seen.dimensions.length);
}

// Choices made by a click: they hold at once, the table is looked at again, and fused if that was meant.
async function choose(more, fuse = false) {
  for (const [name, value] of Object.entries(more)) {
    const empty = value === null || (typeof value === "object" && !Object.keys(value).length);
    if (empty) delete choices[name];
    else choices[name] = value;
  }
  remember();
  if (fuse) return run("fuse");
  await look();
}

async function run(verb) {
  const model = $("model").value;
  const data = model && verb === "fuse" ? { ...choices, model } : choices;
  const { job } = await ask(`tables/${table}/${verb}`, { method: "POST", data });
  $("results").hidden = false;
  $("results").scrollIntoView({ behavior: "smooth" });
  await follow(job, choose);
}

const guarded = work => async (...given) => {
  try {
    await work(...given);
  } catch (error) {
    $("coming").textContent = "";
    if (error instanceof Refused) $("coming").replaceChildren(refusal(error.told, choose, () => {}));
    else if ($("lost").hidden) throw error;
  }
};

// All files of what was dropped, those in folders as well.
async function dropped(transfer) {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some(entry => entry.isDirectory)) return [...transfer.files];
  const found = [];
  for (const entry of entries) await gather(entry, found);
  return found;
}

async function gather(entry, found) {
  if (entry.isFile) return found.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const one of some) await gather(one, found);
  }
}

$("file").addEventListener("change", guarded(async () => { await take([...$("file").files]); $("file").value = ""; }));
for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, event => {
    event.preventDefault();
    $("drop").classList.toggle("over", name === "dragover");
  });
}
document.addEventListener("drop", guarded(async event => take(await dropped(event.dataTransfer))));
for (const button of document.querySelectorAll("[data-sample]")) {
  button.addEventListener("click", guarded(async () => begin(await ask(`tables?sample=${button.dataset.sample}`, { method: "POST" }))));
}
$("fuse").addEventListener("click", guarded(() => run("fuse")));
$("compare").addEventListener("click", guarded(() => run("compare")));

// A page that is loaded again goes on where it was.
if (location.hash.length > 1) {
  guarded(async () => {
    table = location.hash.slice(1);
    choices = JSON.parse(sessionStorage.getItem(table) ?? "{}");
    await look();
    await restore(await ask(`tables/${table}/jobs`), choose);
  })();
}
