// An answer that is one input of the browser: its label, what is still to do, and the mark where it is missing.

import { el } from "./dom.js";
import { idOf } from "./keys.js";
import { sentence } from "./sentences.js";

export class Field {
  // prefix: what the ids of such inputs begin with; look: classes of the field beside "scale".
  constructor(dimension, input, { prefix = "field", look = "" } = {}) {
    this.dimension = dimension;
    this.input = input;
    this.state = el("span", { class: "scale-value" }, dimension.required ? "" : sentence("optional"));
    input.id = idOf(prefix, dimension.name);
    if (dimension.required) input.setAttribute("aria-required", "true");
    this.element = el("div", { class: `scale ${look}`.trim() },
      el("div", { class: "scale-head" }, el("label", { for: input.id }, dimension.question), this.state), input);
    input.addEventListener("input", () => {
      this.element.classList.remove("missing");
      if (dimension.required) this.state.textContent = "";
    });
  }

  focus(options) {
    this.input.focus(options);
  }

  markMissing() {
    this.element.classList.add("missing");
    this.state.textContent = sentence("to_answer");
  }
}
