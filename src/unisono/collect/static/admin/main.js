// Live figures for the researcher: asked for every few seconds, painted in place.

import { ago, byId, cell, root, row } from "./dom.js";

const STATES = { joined: "not begun", active: "rating", finished: "finished", left: "left", declined: "declined", full: "turned away" };

function tile(figure, words) {
  const node = document.createElement("div");
  node.className = "tile";
  node.append(cell(figure, "strong"), cell(words, "span"));
  return node;
}

function paintTiles(data) {
  const { raters } = data;
  const share = data.wanted ? ` of ${data.wanted}` : "";
  byId("tiles").replaceChildren(
    tile(`${data.ratings}${share}`, data.mode === "trace" ? "recordings traced" : "items rated"),
    tile(String(raters.active), "rating now"),
    tile(String(raters.finished), "finished"),
    tile(String(raters.left + raters.declined), "left or declined"),
  );
}

function paintItems(data) {
  const target = data.target ? `, ${data.target} wanted` : "";
  const range = data.fewest === data.most ? data.most : `${data.fewest} to ${data.most}`;
  const what = data.mode === "trace" ? "trace" : "rating";
  byId("items-line").textContent = `Each item has ${range} ${what}${data.most === 1 ? "" : "s"}${target}.`;
  // A little air above, so that a full bar does not look like a wall.
  const tallest = 1.15 * Math.max(1, data.target, ...data.items.map((item) => item.done + item.active));
  byId("bars").replaceChildren(...data.items.map((item) => {
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.title = `${item.name}: ${item.done} rated, ${item.active} being rated`;
    const [done, active] = ["bar-done", "bar-active"].map((name) => Object.assign(document.createElement("i"), { className: name }));
    done.style.height = `${(100 * item.done) / tallest}%`;
    active.style.height = `${(100 * item.active) / tallest}%`;
    bar.append(active, done);
    return bar;
  }));
  byId("items").replaceChildren(...data.items.map((item) =>
    row(cell(item.name, "th"), cell(item.done, "td", "number"), cell(item.active, "td", "number"))));
}

function paintPeople(data) {
  const one = (person) => row(
    cell(person.name ? `${person.annotator} (${person.name})` : person.annotator, "th"),
    cell(person.excluded ? "excluded" : STATES[person.state] ?? person.state),
    excluding(person),
    cell(`${person.done} / ${person.pages}${person.broken ? `, ${person.broken} broken` : ""}`, "td", "number"),
    cell(person.evidence.time.median?.toFixed(1) ?? "–", "td", "number"),
    cell(person.reference_error === null ? "–" : `${person.reference_error} %`, "td", "number"),
    checks(person),
    cell(person.stalls ? `${person.stalls} (${person.stalled_seconds} s)` : "–", "td", "number"),
    cell(person.doubts.join("; "), "td", person.doubts.length ? "comment bad" : "comment"),
    cell(ago(person.seen_at)),
    cell(person.comment, "td", "comment"));
  // Painting would take the button from under a keyboard that is on it.
  const held = document.activeElement?.dataset?.rater;
  byId("people").replaceChildren(...data.people.map(one));
  if (held) document.querySelector(`[data-rater="${held}"]`)?.focus();
}

function checks({ checks_passed: passed, checks_failed: failed, evidence: { checks_skipped: skipped } }) {
  const missed = failed + skipped;
  return cell(passed + missed ? `${passed} / ${passed + missed}` : "–", "td", missed ? "number bad" : "number");
}

function excluding(person) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.rater = person.annotator;
  button.textContent = person.excluded ? "Take back" : "Exclude";
  button.setAttribute("aria-label", `${button.textContent} ${person.annotator}`);
  button.addEventListener("click", async () => {
    const body = new URLSearchParams({ rater: person.annotator, excluded: person.excluded ? "no" : "yes" });
    await fetch(`${root}/admin/exclude`, { method: "POST", body });
    update();
  });
  const node = cell("");
  node.append(button);
  return node;
}

// Second sessions of an identifier: whose they are only the researcher can say.
const CHOICES = { same: "Go on", anew: "Begin anew", refused: "Neither" };
function paintAsks({ asks }) {
  byId("asks").hidden = asks.length === 0;
  const held = document.activeElement?.dataset?.ask;
  byId("asks-rows").replaceChildren(...asks.map((one) => {
    const choices = cell("");
    choices.append(...Object.entries(CHOICES).map(([answer, words]) => deciding(one, answer, words)));
    return row(cell(one.name, "th"), cell(one.annotator), cell(one.begun_session), cell(one.session), cell(ago(one.asked_at)), choices);
  }));
  if (held) document.querySelector(`[data-ask="${held}"]`)?.focus();
}

function deciding({ ask, name }, answer, words) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.ask = `${ask}-${answer}`;
  button.textContent = words;
  button.setAttribute("aria-label", `${words}: ${name}`);
  button.addEventListener("click", async () => {
    await fetch(`${root}/admin/session`, { method: "POST", body: new URLSearchParams({ ask, answer }) });
    update();
  });
  return button;
}

function paint(data) {
  paintAsks(data);
  paintTiles(data);
  paintItems(data);
  paintPeople(data);
  for (const button of document.querySelectorAll("[data-phase]")) {
    button.setAttribute("aria-pressed", String(button.dataset.phase === data.phase));
  }
  const time = new Date().toLocaleTimeString();
  byId("updated").textContent = `As of ${time}`;
}

async function update() {
  try {
    const response = await fetch(`${root}/admin/data`);
    if (response.status === 401) return location.assign(`${root}/admin/login`);
    if (!response.ok) throw new Error(response.status);
    paint(await response.json());
  } catch {
    byId("updated").textContent = "The server does not answer; trying again.";
  }
  return undefined;
}

for (const button of document.querySelectorAll("[data-phase]")) {
  button.addEventListener("click", async () => {
    await fetch(`${root}/admin/phase`, { method: "POST", body: new URLSearchParams({ phase: button.dataset.phase }) });
    update();
  });
}
update();
setInterval(() => document.hidden || update(), 4000);
