// One scale: a native range input with labelled anchors. Until the rater touches it, it has no value.

import { el } from "./dom.js";
import { digitOf, idOf } from "./keys.js";
import { number, sentence } from "./sentences.js";
import { decideTouch } from "./touch.js";

export class Scale {
  constructor(dimension, { start, value = null, onChange = () => {} }) {
    this.dimension = dimension;
    this.start = start;
    this.onChange = onChange;
    this.source = null;
    this.pointer = "mouse";
    this.touched = value !== null;
    // Where the handle stood when a finger came down, until it is clear that the finger means it.
    this.before = null;
    const id = idOf("scale", dimension.name);
    this.input = el("input", {
      type: "range", id, min: dimension.min, max: dimension.max, step: dimension.step, class: "untouched",
    });
    this.input.value = String(value ?? start);
    this.number = el("output", { class: "scale-value", for: id, "aria-hidden": "true" });
    this.feedback = el("div", { class: "truth", hidden: true });
    this.element = el("div", { class: "scale" },
      el("div", { class: "scale-head" }, el("label", { for: id }, dimension.question), this.number),
      this.input, this.feedback, anchorLine(dimension));
    this.listen();
    this.paint();
  }

  listen() {
    this.input.addEventListener("pointerdown", (event) => {
      this.pointer = event.pointerType || "mouse";
      // A press on the handle where it stands is an answer too, though it changes nothing.
      if (this.pointer !== "touch") queueMicrotask(() => this.take(this.pointer));
    });
    decideTouch(this.input, {
      begin: () => { this.before = this.input.value; },
      takes: () => this.take("touch"),
      undo: () => this.putBack(),
    });
    this.input.addEventListener("keydown", (event) => {
      if (/^(Arrow|Page|Home|End)/.test(event.key)) {
        this.pointer = "key";
        // At the end of the scale the handle stays where it is, and that is an answer too.
        setTimeout(() => this.touched || this.take("key"));
      }
      const digit = digitOf(event);
      if (digit === null) return;
      event.preventDefault();
      this.setShare((digit - 1) / 8, "key");
    });
    this.input.addEventListener("input", () => this.before === null && this.take(this.pointer));
  }

  putBack() {
    this.input.value = this.before;
    this.before = null;
    this.paint();
  }

  take(source) {
    this.before = null;
    this.touched = true;
    this.source = source;
    this.paint();
    this.onChange(this);
  }

  // A value from elsewhere: the pad, or a pointer that moves without a button.
  set(value, source) {
    this.input.value = String(value);
    this.take(source);
  }

  setShare(share, source) {
    const { min, max } = this.dimension;
    this.set(min + Math.min(1, Math.max(0, share)) * (max - min), source);
  }

  get value() {
    return this.touched ? Number(this.input.value) : null;
  }

  get share() {
    const { min, max } = this.dimension;
    return (Number(this.input.value) - min) / (max - min);
  }

  paint() {
    this.input.classList.toggle("untouched", !this.touched);
    this.element.classList.toggle("missing", false);
    this.input.style.setProperty("--fill", `calc(14px + (100% - 28px) * ${this.share})`);
    this.number.textContent = this.touched ? number(Number(this.input.value)) : "–";
    this.input.setAttribute("aria-valuetext", this.touched ? this.words() : sentence("not_answered"));
  }

  words() {
    return `${number(Number(this.input.value))}, ${nearestAnchor(this.dimension, Number(this.input.value))}`;
  }

  focus(options) {
    this.input.focus(options);
  }

  markMissing() {
    this.element.classList.add("missing");
    this.number.textContent = sentence("to_answer");
  }

  showTruth(value) {
    const { min, max } = this.dimension;
    const mark = el("span", {}, "▲");
    mark.style.insetInlineStart = `${(100 * (value - min)) / (max - min)}%`;
    this.feedback.hidden = false;
    this.feedback.replaceChildren(mark);
    this.number.textContent = sentence("value_and_truth", { value: Number(this.input.value), truth: value });
  }
}

function anchorLine({ anchors, min, max }) {
  const spans = anchors.map(({ at, label }) => {
    const span = el("span", {}, label);
    span.style.insetInlineStart = `${(100 * (at - min)) / (max - min)}%`;
    return span;
  });
  // Told by aria-valuetext as the handle moves; read out in a row they would only confuse.
  return el("div", { class: "anchors", "aria-hidden": "true" }, spans);
}

export function nearestAnchor({ anchors, min, max }, value) {
  const near = anchors.reduce((best, one) => (Math.abs(one.at - value) < Math.abs(best.at - value) ? one : best));
  const off = (value - near.at) / (max - min);
  if (Math.abs(off) < 0.04) return near.label;
  return sentence(off > 0 ? "slightly_above" : "slightly_below", { label: near.label });
}
