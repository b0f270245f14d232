// The rater's way through the study. The server knows what is done; this page shows what comes next.

import { say, setProgress } from "./dom.js";
import { Outbox } from "./outbox.js";
import { questionsPage } from "./questionnaire.js";
import { ratePage } from "./rate.js";
import { sentence } from "./sentences.js";
import { preload } from "./stimulus.js";
import * as steps from "./steps.js";
import { TracePass } from "./trace.js";

const base = `${location.pathname.replace(/\/$/, "")}/`;
const saved = document.getElementById("saved");
const WORDS = { saved: sentence("all_saved"), saving: sentence("saving"), waiting: sentence("not_saved") };

let view = null;
let trace = null;
let elsewhere = false;
let warmedUp = false;
let waiting = null;
const rested = new Set();

const outbox = new Outbox(`${base}events`, {
  onStatus: (status) => {
    if (saved.textContent === WORDS[status]) return;
    saved.textContent = WORDS[status];
    saved.className = `saved ${status}`;
  },
  onReceipt: (receipt) => { if (view) view.phase = receipt.phase; },
  onLost: () => steps.messagePage("link_lost"),
});

async function load() {
  for (let wait = 500; ; wait = Math.min(8000, 2 * wait)) {
    try {
      const response = await fetch(`${base}state`);
      if (response.ok) return response.json();
    } catch {
      // No answer: the same as an answer that is none.
    }
    saved.textContent = sentence("no_connection");
    saved.className = "saved waiting";
    await new Promise((resolve) => { setTimeout(resolve, wait); });
  }
}

async function refresh() {
  await outbox.flushed();
  view = await load();
  saved.textContent = WORDS.saved;
  saved.className = "saved";
}

// Only one tab at a time rates; the newest one, since that is the one in front of the rater.
const claim = `unisono/${base}/tab`;
function claimTab() {
  try {
    localStorage.setItem(claim, outbox.tab);
  } catch {
    return;
  }
  window.addEventListener("storage", (event) => {
    if (event.key !== claim || event.newValue === outbox.tab || elsewhere) return;
    elsewhere = true;
    trace?.close();
    steps.messagePage("other_tab", { text: "go_on_here", onclick: () => location.reload() });
  });
}

// Where the page is shown, told once and whenever it has changed.
let device = "";
function tellDevice() {
  const now = {
    screen: [screen.width, screen.height], window: [innerWidth, innerHeight], ratio: devicePixelRatio,
    touch: navigator.maxTouchPoints > 0, agent: navigator.userAgent.slice(0, 300),
  };
  if (JSON.stringify(now) === device) return;
  device = JSON.stringify(now);
  outbox.add({ kind: "device", ...now });
}

function go() {
  trace?.close();
  trace = null;
  if (elsewhere) return undefined;
  const { study, state, phase } = view;
  const open = view.slots.filter((slot) => !slot.done);
  setProgress(0, 0);
  if (state === "finished") {
    forgetTicket();
    return steps.finishedPage(study, view.finish);
  }
  if (view.stuck) return stuck();
  // Whoever has done everything gets the code, also when the study takes no more ratings.
  if (state === "active" && open.length === 0) return wrapUp(study);
  if (phase !== "open") return waitForPhase();
  if (state === "joined") return steps.consentPage(study, { onAgree: agree, onDecline: decline });
  if (state === "declined") return steps.declinedPage(() => { view.state = "joined"; go(); });
  if (state === "full") return full(view.full);
  tellDevice();
  return prepare(study, open);
}

// The next person at this screen begins anew; see welcome.js.
function forgetTicket() {
  try {
    localStorage.removeItem(`unisono${base.split("/r/")[0]}/ticket`);
  } catch {
    // Then it was never there.
  }
}

function prepare(study, open) {
  const seen = (name) => view.steps.includes(name);
  if (view.due.includes("before")) return ask(study, "before");
  if (!seen("instructions")) return steps.instructionsPage(study, () => pass("instructions"));
  if (study.play && !seen("play")) return steps.playPage(() => pass("play"));
  if (study.practice.length && !seen("practice")) return practise(study);
  const done = view.slots.length - open.length;
  if (study.practice.length && done === 0 && !warmedUp) {
    warmedUp = true;
    return steps.readyPage(study, view.slots.length, go);
  }
  if (study.break_every && done && open.length > 1 && done % study.break_every === 0 && !rested.has(done)) {
    rested.add(done);
    return steps.breakPage(done, view.slots.length, () => { outbox.add({ kind: "step", name: "break" }); go(); });
  }
  return item(study, view.slots.indexOf(open[0]));
}

function ask(study, when) {
  return questionsPage(study, when, view.replies, (values) => {
    outbox.add({ kind: "answers", when, values });
    Object.assign(view.replies, values);
    view.due = view.due.filter((one) => one !== when);
    go();
  });
}

function pass(name) {
  outbox.add({ kind: "step", name });
  view.steps.push(name);
  go();
}

async function agree(code) {
  outbox.add({ kind: "consent", code });
  await refresh();
  go();
}

function decline() {
  outbox.add({ kind: "decline" });
  view.state = "declined";
  go();
}

function practise(study) {
  const items = study.practice;
  const one = (index) => {
    if (index === items.length) return pass("practice");
    const done = (values) => {
      outbox.add({ kind: "practice", index, values });
      one(index + 1);
    };
    const heading = sentence("practice_of", { done: index + 1, total: items.length });
    const onBroken = () => brokenPage(`practice/${index}`, () => one(index), () => one(index + 1));
    return study.mode === "trace"
      ? openTrace({ item: { ...items[index], dimensions: study.passes[0] }, heading, add: null, onBroken, onDone: () => done({}) })
      : ratePage({ study, item: items[index], base, heading, neutral: study.neutral, truth: items[index].truth, onBroken, onDone: ({ values }) => done(values) });
  };
  return steps.practicePage(items.length, () => one(0));
}

// Two pages are fetched while the rater looks at this one, each once.
const fetched = new Set();
function ahead(slot) {
  if (fetched.has(slot.id)) return;
  fetched.add(slot.id);
  preload(slot, base);
}

function item(study, index) {
  const slot = view.slots[index];
  const heading = sentence("progress_of", { done: index + 1, total: view.slots.length });
  setProgress(index, view.slots.length);
  for (const later of view.slots.slice(index + 1, index + 3)) ahead(later);
  const onBroken = () => brokenPage(slot.id, async () => { await refresh(); go(); }, () => skip(slot));
  if (study.mode === "trace" && slot.media !== "check") {
    return openTrace({ item: slot, heading, add: (event) => outbox.add(event), onBroken, onDone: () => { slot.done = true; go(); } });
  }
  return ratePage({
    study, item: slot, base, heading, neutral: study.neutral && slot.media !== "check", values: slot.values, onBroken,
    draft: slot.values ? null : draftOf(slot), onDraft: (draft) => keepDraft(slot, draft),
    onBack: canGoBack(study, index) && (() => item(study, index - 1)),
    onDone: (answer) => {
      if (!sameAnswer(slot, answer)) outbox.add({ kind: "rating", slot: slot.id, ...answer });
      keepDraft(slot, null);
      slot.values = answer.values;
      slot.done = true;
      go();
    },
  });
}

// What was answered on a page that was not yet left: a reload must not take it back.
const draftKey = `unisono/${base}draft`;
function keepDraft(slot, draft) {
  try {
    sessionStorage.setItem(draftKey, JSON.stringify({ slot: slot.id, ...draft }));
  } catch {
    // Forbidden: then a reload begins the page anew.
  }
}

function draftOf(slot) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(draftKey));
    return kept?.slot === slot.id && kept.values ? kept : null;
  } catch {
    return null;
  }
}

function canGoBack(study, index) {
  return index > 0 && (study.mode !== "trace" || view.slots[index - 1].media === "check");
}

// Going back and leaving things as they were is no correction.
function sameAnswer(slot, { values }) {
  const names = Object.keys({ ...values, ...slot.values });
  return slot.values && names.every((name) => values[name] === slot.values[name]);
}

function openTrace(options) {
  trace = new TracePass({ study: view.study, base, neutral: view.study.neutral, ...options });
  trace.open();
}

// A slow connection gets better; a broken file does not, and must not hold the rater up.
const failed = new Map();
function brokenPage(what, again, without) {
  trace?.close();
  failed.set(what, (failed.get(what) ?? 0) + 1);
  steps.messagePage("broken", { text: "try_again", onclick: again }, failed.get(what) > 1 && { text: "go_on_without", onclick: without });
  afterOutage(document.querySelector("#page > *"), again);
}

// Where the server does not answer either it is the line, and the page goes on by itself when that is back.
async function afterOutage(page, again) {
  for (let tries = 0; page.isConnected; tries += 1) {
    try {
      await fetch(`${base}state`, { method: "HEAD", signal: AbortSignal.timeout(5000) });
      if (tries > 0 && page.isConnected) again();
      return;
    } catch {
      await new Promise((resolve) => { setTimeout(resolve, 2000); });
    }
  }
}

function skip(slot) {
  outbox.add({ kind: "note", name: "broken", slot: slot.id });
  view.slots = view.slots.filter((one) => one !== slot);
  go();
}

function wrapUp(study) {
  setProgress(view.slots.length, view.slots.length);
  if (view.due.length) return ask(study, view.due[0]);
  if (study.ask_comment && !view.commented) {
    return steps.commentPage((text) => {
      if (text) outbox.add({ kind: "comment", text });
      view.commented = true;
      go();
    });
  }
  return finish();
}

// The code is the server's word that everything has arrived, so it comes from the server.
async function finish() {
  steps.waitingPage();
  outbox.add({ kind: "finish" });
  await refresh();
  const open = view.slots.some((slot) => !slot.done);
  if (view.stuck) return stuck();
  if (view.state === "finished" || open || view.due.length) return go();
  return steps.messagePage("odd");
}

// For good, or until a place comes free: then this page takes it by itself.
function full({ minutes, ...leaving }) {
  clearTimeout(waiting);
  const again = async () => {
    outbox.add({ kind: "note", name: "again" });
    await refresh();
    go();
  };
  if (minutes) waiting = setTimeout(again, 60_000 * minutes);
  return steps.fullPage(minutes, leaving, again);
}

// Most pages could not be shown: that is no work to give a code for, but another try may do better.
function stuck() {
  const again = async () => {
    outbox.add({ kind: "note", name: "again" });
    await refresh();
    go();
  };
  return steps.messagePage("too_many_broken", { text: "try_again", onclick: again });
}

function waitForPhase() {
  const closed = view.phase === "closed";
  steps.messagePage(closed ? "ended" : "pause_of_study");
  if (!closed) setTimeout(async () => { await refresh(); go(); }, 5000);
}

claimTab();
await refresh();
say(view.study.title);
go();
