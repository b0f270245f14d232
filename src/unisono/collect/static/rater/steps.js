// The pages without ratings: consent, instructions, playing with colour, breaks, the end.

import { el, enterPresses, prose, say, sheet, show } from "./dom.js";
import { Scale } from "./scale.js";
import { sentence } from "./sentences.js";
import { hsvToRgb, paint, swatch } from "./stimulus.js";

function actions(...buttons) {
  return el("div", { class: "actions" }, buttons);
}

function primary(text, onclick) {
  return el("button", { type: "button", class: "primary", onclick }, text);
}

// A page to be read: its last button leads on, and so does Enter.
function readingPage(heading, ...content) {
  const page = sheet(heading, ...content);
  show(page);
  enterPresses([...page.querySelectorAll("button.primary")].at(-1));
}

export function consentPage(study, { onAgree, onDecline }) {
  const asks = Boolean(study.ask_code);
  const code = asks && el("input", { type: "text", id: "code", maxlength: 200, autocomplete: "off", "aria-required": "true" });
  const hint = el("p", { class: "hint", role: "status" });
  const texts = study.texts.consent;
  function goOn() {
    const given = asks ? code.value.trim() : "";
    // Marks that nobody sees are no answer.
    if (!asks || /[\p{L}\p{N}]/u.test(given)) return onAgree(given);
    hint.className = "hint bad";
    hint.textContent = sentence("code_missing");
    return code.focus();
  }
  show(sheet(texts.length ? sentence("before_heading") : study.title, prose(texts),
    asks && el("div", { class: "field" }, el("label", { for: "code" }, study.ask_code), code),
    actions(primary(sentence(texts.length ? "agree" : "begin"), goOn),
      texts.length > 0 && el("button", { type: "button", onclick: onDecline }, sentence("disagree"))), asks && hint));
}

export function declinedPage(onBack) {
  show(sheet(sentence("declined_heading"), el("p", {}, sentence("declined")),
    actions(el("button", { type: "button", onclick: onBack }, sentence("back_to_consent")))));
}

export function instructionsPage(study, onDone) {
  readingPage(sentence("instructions_heading"), prose(study.texts.instructions), actions(primary(sentence("continue"), onDone)), ownLink());
}

// The address of this page is the rater's own: with it they come back, on another machine too.
function ownLink() {
  // Written out only to be copied: nobody wants it read out letter by letter.
  const link = el("span", { class: "hidden-visually" });
  const copy = el("button", {
    type: "button", class: "copy", onclick: async () => {
      link.textContent = location.href;
      await copyText(link, copy);
      link.textContent = "";
    },
  }, sentence("copy_link"));
  return el("p", { class: "quiet own-link" }, sentence("keep_link"), " ", copy, link);
}

export function practicePage(count, onDone) {
  readingPage(sentence("practice_heading"), el("p", {}, sentence("practice", { count })), actions(primary(sentence("start_practising"), onDone)));
}

export function readyPage(study, count, onDone) {
  const what = sentence(study.mode === "trace" ? "ready_trace" : "ready_rate");
  readingPage(sentence("ready_heading"), el("p", {}, what), el("p", {}, sentence("ready", { count })), actions(primary(sentence("begin"), onDone)));
}

export function breakPage(done, total, onDone) {
  readingPage(sentence("break_heading"), el("p", {}, sentence("break", { done, total })), actions(primary(sentence("go_on"), onDone)));
}

// Saturation and brightness to play with: both have to be moved once, so that both have been seen.
export function playPage(onDone) {
  const hues = { green: 120, blue: 240 };
  let hue = 120;
  const patch = swatch(hsvToRgb(hue, 50, 70));
  const hint = el("p", { class: "hint", role: "status" });
  const anchors = (name) => [{ at: 0, label: sentence(`${name}_low`) }, { at: 100, label: sentence(`${name}_high`) }];
  const make = (name, start) => new Scale(
    { name, question: sentence(name), min: 0, max: 100, step: 1, anchors: anchors(name) }, { start, onChange: repaint });
  const scales = [make("saturation", 50), make("brightness", 70)];
  const buttons = Object.entries(hues).map(([name, degrees]) => el("button", {
    type: "button", "aria-pressed": String(degrees === hue), onclick: (event) => choose(event.currentTarget, degrees),
  }, sentence(name)));

  function choose(button, degrees) {
    hue = degrees;
    for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
    repaint();
  }
  function repaint() {
    paint(patch, ...hsvToRgb(hue, Number(scales[0].input.value), Number(scales[1].input.value)));
  }
  function go() {
    if (scales.every((scale) => scale.touched)) return onDone();
    hint.className = "hint bad";
    hint.textContent = sentence("move_both");
    return undefined;
  }
  show(sheet(sentence("play_heading"), el("p", {}, sentence("play")),
    el("div", { class: "hues", role: "group", "aria-label": sentence("colour") }, buttons),
    el("div", { class: "play" }, patch, el("div", { class: "scales" }, scales.map((scale) => scale.element))),
    actions(primary(sentence("seen_enough"), go)), hint), { neutral: true });
}

export function commentPage(onDone) {
  const box = el("textarea", { id: "comment", rows: 4, maxlength: 2000 });
  show(sheet(sentence("comment_heading"), el("div", { class: "field" }, el("label", { for: "comment" }, sentence("comment")), box),
    actions(primary(sentence("finish"), () => onDone(box.value.trim())))));
}

export function waitingPage() {
  show(sheet(sentence("waiting_heading"), el("p", {}, sentence("waiting"))));
}

export function finishedPage(study, finish) {
  const submit = finish.submit && el("form", { method: "post", action: finish.submit.url },
    el("input", { type: "hidden", name: "assignmentId", value: finish.submit.assignment }),
    el("input", { type: "hidden", name: "code", value: finish.code }),
    actions(el("button", { type: "submit", class: "primary" }, sentence("submit_to_mturk"))));
  const back = !submit && finish.return_url && actions(el("a", { class: "button primary", href: finish.return_url }, sentence("return_to_platform")));
  const code = el("strong", { class: "code", id: "code", dir: "ltr" }, finish.code);
  const copy = el("button", { type: "button", class: "copy", onclick: () => copyText(code, copy) }, sentence("copy_code"));
  show(sheet(sentence("finished_heading"), prose(study.texts.thanks), el("p", {}, sentence("your_code")),
    code, el("p", {}, copy), submit, back, prose(study.texts.contact)));
}

// No place: `minutes` until it is worth trying again, or null where nobody more is needed.
export function fullPage(minutes, { code, return_url: back }, onAgain) {
  const key = minutes ? "come_back" : "enough";
  const shown = el("strong", { class: "code", id: "code", dir: "ltr" }, code);
  const copy = el("button", { type: "button", class: "copy", onclick: () => copyText(shown, copy) }, sentence("copy_code"));
  show(sheet(sentence(`${key}_heading`), el("p", {}, sentence(key, { minutes })),
    minutes && actions(primary(sentence("try_again"), onAgain)),
    code && [el("p", {}, sentence("full_code")), shown, el("p", {}, copy)],
    back && actions(el("a", { class: "button primary", href: back }, sentence("return_to_platform")))));
}

// Selected first: where the page may not copy, as in a frame, the rater still can.
async function copyText(node, button) {
  getSelection().selectAllChildren(node);
  const copied = await navigator.clipboard?.writeText(node.textContent).then(() => true, () => false);
  if (!copied && !document.execCommand("copy")) return;
  button.textContent = sentence("copied");
  say(sentence("copied"));
}

// A heading and a sentence, found by one key.
export function messagePage(key, button = null, other = null) {
  const second = other && el("button", { type: "button", onclick: other.onclick }, sentence(other.text));
  show(sheet(sentence(`${key}_heading`), el("p", {}, sentence(key)), button && actions(primary(sentence(button.text), button.onclick), second)));
}
