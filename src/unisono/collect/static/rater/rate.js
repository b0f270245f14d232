// One item, all that is asked about it, one button. Nothing counts until it is touched.

import { makeControls } from "./controls.js";
import { offerKeys } from "./dialogs.js";
import { el, say, show } from "./dom.js";
import { Heard } from "./heard.js";
import { sentence } from "./sentences.js";
import { stimulus, whenShown } from "./stimulus.js";

const FLOWING = new Set(["text", "check", "audio"]);

// options: study, item, base, heading, neutral, values, truth, onBack, onBroken(), onDone({values, start, sources, shown_ms})
export function ratePage(options) {
  const { study, item, base, heading, neutral } = options;
  const names = item.dimensions ?? study.dimensions.map((one) => one.name);
  // Not before it is seen: what was never shown cannot be judged.
  let shownAt = null;
  const hint = el("p", { class: "hint", role: "status" });
  const controls = makeControls(study, names, { start: item.start, values: options.values ?? options.draft?.values, onChange: update });
  for (const one of controls.all) one.source = options.draft?.sources?.[one.dimension.name] ?? null;
  const next = el("button", { type: "submit", class: "primary" }, sentence("next"));
  const back = options.onBack && el("button", { type: "button", onclick: options.onBack }, sentence("back"));
  const shown = stimulus(item, base, study);
  const heard = new Heard(shown, study.play_share, () => wasSilent && heard.enough && update());
  // Until enough was played; then the hint changes once, and not with every moment that plays.
  let wasSilent = !heard.enough;
  const panel = el("div", { class: "panel" }, controls.elements);
  const flows = FLOWING.has(item.sides?.[0].media ?? item.media);
  // A large plane, or many questions, beside what is judged, so that both are in view.
  const beside = controls.isLarge || (!flows && !item.sides && controls.all.length > 2 && controls.scales.length < controls.all.length);
  const sign = el("p", { class: "sign", role: "status", hidden: true }, sentence("stalled"));
  const stage = el("div", { class: flows ? "stimulus flow" : "stimulus" }, shown, sign);
  const form = el("form", { class: `rate${item.sides ? " wide" : ""}${beside ? " beside" : ""}`, novalidate: true },
    el("h1", { class: "hidden-visually" }, heading),
    stage,
    panel,
    el("div", { class: "actions" }, back || el("span"), hint, next));
  heard.onStall = (stands) => { sign.hidden = !stands; };
  let told = false;

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.type === "range" && !event.repeat) {
      event.preventDefault();
      submit();
    }
    if (event.code === "KeyZ" && event.target.tagName !== "TEXTAREA" && !event.ctrlKey && !event.metaKey) form.querySelector(".zoom")?.click();
  });

  function missing() {
    return controls.all.filter((one) => !one.touched);
  }

  function update() {
    if (shownAt !== null && options.onDraft) options.onDraft({ values: pick("value"), sources: pick("source") });
    const left = missing().length;
    // Never disabled: pressed too early, it says what is missing.
    wasSilent = !heard.enough;
    next.classList.toggle("waiting", left > 0 || wasSilent);
    hint.className = "hint";
    hint.textContent = left || wasSilent ? "" : sentence("enter_for_next");
  }

  function submit() {
    if (shownAt === null) return undefined;
    const left = missing();
    if (left.length) return complain(left);
    const twice = sameTwice();
    if (twice.length) return complain(twice, "same_twice");
    if (!heard.enough) return unheard();
    if (options.truth && !told && reveal()) return undefined;
    return options.onDone(answer());
  }

  // The one that has most of it cannot be the one that has least.
  function sameTwice() {
    const value = (name) => controls.all.find((one) => one.dimension.name === name)?.value ?? null;
    return controls.all.filter(({ dimension: { name } }) => study.unlike[name] && value(name) !== null && value(name) === value(study.unlike[name]));
  }

  function complain(left, why = complaint(left)) {
    for (const one of left) one.markMissing();
    hint.className = "hint bad";
    hint.textContent = sentence(why);
    left[0].focus();
  }

  function unheard() {
    hint.className = "hint bad";
    hint.textContent = sentence("not_played");
    heard.media[0].focus();
  }

  function complaint(left) {
    if (left.some((one) => !controls.scales.includes(one))) return left.length === 1 ? "one_unanswered" : "some_unanswered";
    return left.length === 1 ? "one_missing" : "some_missing";
  }

  // A text that was left empty has no value, only a slider starts somewhere, only what was changed has a source.
  function pick(key) {
    return Object.fromEntries(
      controls.all.filter((one) => one[key] !== null && one[key] !== undefined).map((one) => [one.dimension.name, one[key]]));
  }

  function answer() {
    const side = (item.left && { left: item.left }) || (item.order && { order: item.order });
    const played = heard.media.length && {
      played: heard.told, plays: heard.plays, stalls: heard.stalls, stalled_ms: Math.round(heard.stalled),
    };
    return { values: pick("value"), start: pick("start"), sources: pick("source"), shown_ms: Math.round(performance.now() - shownAt), ...side, ...played };
  }

  // Practice: show what was true, then let the rater go on.
  function reveal() {
    const known = controls.all.filter((one) => one.dimension.name in options.truth);
    for (const one of known) one.showTruth(options.truth[one.dimension.name]);
    told = true;
    next.textContent = sentence("go_on");
    say(known.map(({ dimension: { name } }) => sentence("truth_of", { dimension: name, truth: options.truth[name] })).join(", "));
    return known.length > 0;
  }

  function begin() {
    shownAt = performance.now();
    panel.inert = false;
    panel.classList.remove("waiting");
    update();
    controls.all[0].focus({ preventScroll: true });
  }

  show(form, { neutral, focus: false });
  offerKeys([
    controls.scales.length && "keys_slider", controls.all.some((one) => one.inputs) && "keys_choice", form.querySelector(".zoom") && "keys_zoom", "keys_next",
  ].filter(Boolean));
  say(heading);
  const waiting = whenShown(shown);
  if (!waiting) return begin();
  panel.inert = true;
  panel.classList.add("waiting");
  hint.textContent = sentence("loading");
  waiting.then(begin, () => form.isConnected && options.onBroken());
  return undefined;
}
