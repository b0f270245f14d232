// One answer out of several: the numbered points of a Likert scale, or words to choose from. Native radio buttons, so that
// arrow keys, screen readers and fingers know what to do; a digit chooses the answer of that place.

import { el } from "./dom.js";
import { digitOf, idOf } from "./keys.js";
import { number, sentence } from "./sentences.js";

export class Options {
  constructor(dimension, { value = null, onChange = () => {} }) {
    this.dimension = dimension;
    this.onChange = onChange;
    this.source = null;
    this.pointer = "mouse";
    const id = idOf("options", dimension.name);
    const counted = dimension.kind === "likert";
    // A number without a label is enough in between; then labels stand below, where they have room.
    const sparse = counted && dimension.choices.some((label) => !label);
    this.answers = dimension.choices.map((label, index) => (counted ? index + 1 : label));
    this.inputs = this.answers.map((answer, index) => el("input", {
      type: "radio", name: id, value: String(index), checked: answer === value, "aria-label": sparse ? spoken(answer, dimension.choices[index]) : null,
    }));
    this.state = el("span", { class: "scale-value" }, dimension.required ? "" : sentence("optional"));
    // Of two sides, the left one stands left whatever way one reads.
    const sides = Boolean(dimension.labels);
    const list = el("div", { class: `options ${counted ? "likert" : sides ? "sides" : "choice"}${sparse ? " sparse" : ""}`, dir: sides ? "ltr" : null },
      this.inputs.map((input, index) => this.option(input, index, counted, sparse)));
    list.style.setProperty("--count", String(this.answers.length));
    this.element = el("fieldset", { class: "scale" },
      el("legend", { class: "scale-head" }, el("span", { class: "asked" }, dimension.question), this.state),
      list, sparse && endLabels(dimension.choices));
    this.listen();
  }

  option(input, index, counted, sparse) {
    const words = counted && !sparse ? [el("b", {}, number(index + 1)), el("span", {}, this.dimension.choices[index])]
      : [el("span", {}, counted ? number(index + 1) : (this.dimension.labels ?? this.dimension.choices)[index])];
    return el("label", { class: "option" }, input, words);
  }

  listen() {
    this.element.addEventListener("pointerdown", (event) => { this.pointer = event.pointerType || "mouse"; });
    this.element.addEventListener("keydown", (event) => {
      this.pointer = "key";
      const digit = digitOf(event);
      if (digit === null || digit > this.inputs.length) return;
      event.preventDefault();
      this.inputs[digit - 1].checked = true;
      this.inputs[digit - 1].focus();
      this.take();
    });
    this.element.addEventListener("change", () => this.take());
  }

  take() {
    this.source = this.pointer;
    this.element.classList.remove("missing");
    this.state.textContent = "";
    this.onChange(this);
  }

  get value() {
    const chosen = this.inputs.findIndex((input) => input.checked);
    return chosen < 0 ? null : this.answers[chosen];
  }

  get touched() {
    return this.value !== null;
  }

  focus(options) {
    (this.inputs.find((input) => input.checked) ?? this.inputs[0]).focus(options);
  }

  markMissing() {
    this.element.classList.add("missing");
    this.state.textContent = sentence("to_answer");
  }

  // Practice: what was true is marked beside what was chosen.
  showTruth(truth) {
    const right = this.answers.indexOf(truth);
    this.inputs[right]?.parentElement.classList.add("true");
    this.state.textContent = sentence("value_and_truth", { value: this.value, truth });
  }
}

function spoken(answer, label) {
  return label ? `${number(answer)}, ${label}` : number(answer);
}

// Under the numbers, each label where its number is; read out with the number, not by itself.
function endLabels(labels) {
  const last = labels.length - 1;
  return el("div", { class: "anchors", "aria-hidden": "true" }, labels.map((label, index) => {
    const span = label && el("span", {}, label);
    if (span) span.style.insetInlineStart = `${(100 * index) / last}%`;
    return span || null;
  }));
}
