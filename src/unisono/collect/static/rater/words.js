// A free text. Optional ones count as answered from the beginning, and what is left empty is not sent.

import { el } from "./dom.js";
import { idOf } from "./keys.js";
import { sentence } from "./sentences.js";

const LONGEST = 2000;

export class Words {
  constructor(dimension, { value = null, onChange = () => {} }) {
    this.dimension = dimension;
    this.source = null;
    const id = idOf("words", dimension.name);
    this.input = el("textarea", { id, rows: 2, maxlength: LONGEST, dir: "auto", "aria-required": dimension.required ? "true" : null });
    this.input.value = value ?? "";
    this.state = el("span", { class: "scale-value" }, dimension.required ? "" : sentence("optional"));
    this.element = el("div", { class: "scale words" },
      el("div", { class: "scale-head" }, el("label", { for: id }, dimension.question), this.state), this.input);
    this.input.addEventListener("input", () => {
      this.element.classList.remove("missing");
      if (dimension.required) this.state.textContent = "";
      onChange(this);
    });
  }

  get value() {
    return this.input.value.trim() || null;
  }

  get touched() {
    return !this.dimension.required || this.value !== null;
  }

  focus(options) {
    this.input.focus(options);
  }

  markMissing() {
    this.element.classList.add("missing");
    this.state.textContent = sentence("to_answer");
  }
}
