// A free text. Optional ones count as answered from the beginning, and what is left empty is not sent.

import { el } from "./dom.js";
import { Field } from "./field.js";

const LONGEST = 2000;

export class Words extends Field {
  constructor(dimension, { value = null, onChange = () => {} }) {
    super(dimension, el("textarea", { rows: 2, maxlength: LONGEST, dir: "auto" }), { prefix: "words", look: "words" });
    this.source = null;
    this.input.value = value ?? "";
    this.input.addEventListener("input", () => onChange(this));
  }

  get value() {
    return this.input.value.trim() || null;
  }

  get touched() {
    return !this.dimension.required || this.value !== null;
  }
}
