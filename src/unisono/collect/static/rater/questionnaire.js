// A page of questions about the rater, before the first item or after the last.

import { el, sheet, show } from "./dom.js";
import { Field } from "./field.js";
import { Options } from "./options.js";
import { sentence } from "./sentences.js";
import { Words } from "./words.js";

// More than these stand in a list that opens.
const MOST_IN_SIGHT = 12;
const HEADINGS = { before: "questions_before_heading", after: "questions_after_heading" };

// onDone(values): what was answered, by name.
export function questionsPage(study, when, replies, onDone) {
  const controls = study.questions.filter((one) => one.when === when).map((one) => makeField(one, replies[one.name] ?? null));
  const hint = el("p", { class: "hint", role: "status" });
  const form = el("form", { class: "questions", novalidate: true },
    controls.map((one) => one.element),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, sentence("continue"))), hint);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const left = controls.filter((one) => one.fault || (one.dimension.required && one.value === null));
    if (left.length) return complain(left);
    const answered = controls.filter((one) => one.value !== null);
    return onDone(Object.fromEntries(answered.map((one) => [one.dimension.name, one.value])));
  });

  function complain(left) {
    for (const one of left) one.markMissing();
    hint.className = "hint bad";
    hint.textContent = left.find((one) => one.fault)?.fault ?? sentence("some_marked");
    left[0].focus();
  }

  show(sheet(sentence(HEADINGS[when]), form));
}

function makeField(question, value) {
  if (question.kind === "number") return new NumberField(question, value);
  if (question.kind === "text") return new Words(question, { value });
  return question.kind === "choice" && question.choices.length > MOST_IN_SIGHT ? new List(question, value) : new Options(question, { value });
}

// Not an input of type number: a wheel turned above it would change the answer.
class NumberField extends Field {
  constructor(question, value) {
    super(question, el("input", { type: "text", inputmode: "decimal", autocomplete: "off", maxlength: 30, class: "short" }));
    this.input.value = value === null ? "" : String(value);
  }

  get value() {
    const text = this.input.value.trim();
    return text ? Number(plainDigits(text)) : null;
  }

  get fault() {
    const { min, max } = this.dimension;
    if (this.value === null) return null;
    if (!Number.isFinite(this.value)) return sentence("number_needed");
    return min !== null && (this.value < min || this.value > max) ? sentence("number_between", { min, max }) : null;
  }
}

class List extends Field {
  constructor(question, value) {
    super(question, el("select", {}, el("option", { value: "" }, sentence("choose")), question.choices.map((one) => el("option", { value: one }, one))));
    this.input.value = value ?? "";
  }

  get value() {
    return this.input.value || null;
  }
}

// Digits of every script as 0 to 9, and a comma as a point.
function plainDigits(text) {
  const digit = (sign) => {
    let zero = sign.codePointAt(0);
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((sign.codePointAt(0) - zero) % 10);
  };
  return text.replace(/\p{Nd}/gu, digit).replace(/[,٫]/, ".").replace("−", "-");
}
