// The pages without ratings: consent, instructions, playing with colour, breaks, the end.

import { el, prose, sheet, show } from "./dom.js";
import { Scale } from "./scale.js";
import { hsvToRgb, paint, swatch } from "./stimulus.js";

function actions(...buttons) {
  return el("div", { class: "actions" }, buttons);
}

function primary(text, onclick) {
  return el("button", { type: "button", class: "primary", onclick }, text);
}

export function consentPage(study, { onAgree, onDecline }) {
  const asks = Boolean(study.ask_code);
  const code = asks && el("input", { type: "text", id: "code", maxlength: 200, autocomplete: "off" });
  const texts = study.texts.consent;
  show(sheet(texts.length ? "Before you begin" : study.title, prose(texts),
    asks && el("div", { class: "field" }, el("label", { for: "code" }, study.ask_code), code),
    actions(primary(texts.length ? "I agree" : "Begin", () => onAgree(asks ? code.value.trim() : "")),
      texts.length > 0 && el("button", { type: "button", onclick: onDecline }, "I do not agree"))));
}

export function declinedPage(onBack) {
  show(sheet("You chose not to take part", el("p", {}, "That is fine. Nothing more is stored, and you can close this page."),
    actions(el("button", { type: "button", onclick: onBack }, "Back to the consent page"))));
}

export function instructionsPage(study, onDone) {
  show(sheet("What you will do", prose(study.texts.instructions), actions(primary("Continue", onDone))));
}

export function practicePage(count, onDone) {
  const text = count === 1 ? "First one to practise on." : `First ${count} to practise on.`;
  show(sheet("Practice", el("p", {}, `${text} They do not count.`), actions(primary("Start practising", onDone))));
}

export function readyPage(study, count, onDone) {
  const what = study.mode === "trace" ? "From here on, what you trace is kept." : "From here on, what you answer is kept.";
  show(sheet("Now for real", el("p", {}, `${what} There are ${count} pages; you can stop at any time and go on later with the same link.`),
    actions(primary("Begin", onDone))));
}

export function breakPage(done, total, onDone) {
  show(sheet("Time for a short break", el("p", {}, `You have done ${done} of ${total}. Look out of the window for a moment; a fresh eye judges better.`),
    actions(primary("Go on", onDone))));
}

// Saturation and brightness to play with: both have to be moved once, so that both have been seen.
export function playPage(onDone) {
  const hues = { Green: 120, Blue: 240 };
  let hue = 120;
  const patch = swatch(hsvToRgb(hue, 50, 70));
  const hint = el("p", { class: "hint", role: "status" });
  const make = (name, low, high, start) => new Scale(
    { name, question: name[0].toUpperCase() + name.slice(1), min: 0, max: 100, step: 1, anchors: [{ at: 0, label: low }, { at: 100, label: high }] },
    { start, onChange: repaint });
  const scales = [make("saturation", "grey", "pure colour", 50), make("brightness", "black", "as bright as can be", 70)];
  const buttons = Object.entries(hues).map(([name, degrees]) => el("button", {
    type: "button", "aria-pressed": String(degrees === hue), onclick: (event) => choose(event.currentTarget, degrees),
  }, name));

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
    hint.textContent = "Move both sliders first.";
    return undefined;
  }
  show(sheet("Play with colour", el("p", {}, "Move both sliders and watch what changes. Take your time: this is what you will judge."),
    el("div", { class: "hues", role: "group", "aria-label": "Colour" }, buttons),
    el("div", { class: "play" }, patch, el("div", { class: "scales" }, scales.map((scale) => scale.element))),
    actions(primary("I have seen enough", go)), hint), { neutral: true });
}

export function commentPage(onDone) {
  const box = el("textarea", { id: "comment", rows: 4, maxlength: 2000 });
  show(sheet("One last thing", el("div", { class: "field" }, el("label", { for: "comment" }, "Anything you want to tell us? (optional)"), box),
    actions(primary("Finish", () => onDone(box.value.trim())))));
}

export function waitingPage() {
  show(sheet("Saving your answers", el("p", {}, "Please keep this page open. Your code appears as soon as everything has arrived.")));
}

export function finishedPage(study, finish) {
  const submit = finish.submit && el("form", { method: "post", action: finish.submit.url },
    el("input", { type: "hidden", name: "assignmentId", value: finish.submit.assignment }),
    el("input", { type: "hidden", name: "code", value: finish.code }),
    actions(el("button", { type: "submit", class: "primary" }, "Submit to MTurk")));
  const back = !submit && finish.return_url && actions(el("a", { class: "button primary", href: finish.return_url }, "Back to where you came from"));
  show(sheet("All done", prose(study.texts.thanks), el("p", {}, "Everything has been saved. Your completion code:"),
    el("strong", { class: "code", id: "code" }, finish.code), submit, back, prose(study.texts.contact)));
}

export function messagePage(heading, text, button = null, other = null) {
  const second = other && el("button", { type: "button", onclick: other.onclick }, other.text);
  show(sheet(heading, el("p", {}, text), button && actions(primary(button.text, button.onclick), second)));
}
