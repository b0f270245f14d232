// One pass over something that plays, traced with a slider or on a pad.
//
// A sample is [media ms, page ms, code, value...]: one per tick of the study's rate by the clock of the media, and one
// per change. Codes: 0 tick, 1 mouse, 2 key, 3 touch; 8 is added while paused. Values are null until touched. The
// pointer moves the handle without a button, since long drags slip.

import { makeControls } from "./controls.js";
import { isOpen, offerKeys } from "./dialogs.js";
import { el, say, show } from "./dom.js";
import { randomWord } from "./outbox.js";
import { makePlayer } from "./player.js";
import { along, number, sentence } from "./sentences.js";

const BATCH_MS = 2000;
const CODES = { mouse: 1, pen: 1, key: 2, touch: 3 };

// options: study, item, base, heading, neutral, add(event) or null in practice, onDone(), onBroken()
export class TracePass {
  constructor(options) {
    Object.assign(this, options);
    this.names = this.item.dimensions ?? [this.study.dimensions[0].name];
    this.state = "ready";
    this.player = makePlayer(this.item, this.base);
    this.player.watch({
      onStall: () => this.stall(),
      onResume: () => this.resume(),
      onPause: () => this.player.ended || this.interrupt("outside"),
      onPlay: () => ["ready", "paused"].includes(this.state) && this.player.pause(),
    });
    this.controls = makeControls(this.study, this.names, { start: this.item.start, onChange: (scale) => this.changed(scale) });
    this.build();
    this.restart();
    this.abort = new AbortController();
    this.listen({ signal: this.abort.signal });
  }

  build() {
    this.cover = el("div", { class: "cover" });
    this.pauseButton = el("button", { type: "button", class: "idle", onclick: () => this.toggle() }, sentence("pause"));
    this.elapsed = el("div");
    this.zone = el("div", { class: "panel zone" }, this.controls.elements);
    this.form = el("div", { class: this.controls.isLarge ? "rate beside" : "rate" },
      el("h1", { class: "hidden-visually" }, this.heading),
      el("div", { class: "stage" }, this.player.element, this.cover),
      this.zone,
      el("div", { class: "clock" }, this.pauseButton, el("div", { class: "line" }, this.elapsed)));
  }

  open() {
    show(this.form, { neutral: this.neutral });
    offerKeys(["keys_slider", "keys_trace"], () => this.interrupt("pause"));
    say(this.heading);
    this.question = this.controls.scales.map((scale) => scale.dimension.question).join(" ");
    this.setCover(el("p", {}, sentence("one_moment")));
    this.player.ready.then(() => this.offer("start"), () => this.onBroken());
  }

  close() {
    this.abort.abort();
    this.state = "closed";
    clearInterval(this.batches);
    this.player.pause();
  }

  restart() {
    this.attempt = randomWord();
    this.by = "";
    this.rows = [];
    this.sent = 0;
    this.nextTick = 0;
  }

  listen(options) {
    window.addEventListener("blur", () => this.interrupt("blur"), options);
    document.addEventListener("visibilitychange", () => document.hidden && this.interrupt("blur"), options);
    document.addEventListener("keydown", (event) => {
      if (event.code !== "Space" || event.target.tagName === "BUTTON" || isOpen()) return;
      event.preventDefault();
      this.toggle();
    }, options);
    // A mouse traces wherever it is; a finger where it is down on the panel.
    document.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.hover(event), options);
    this.zone.addEventListener("pointermove", (event) => event.pointerType === "touch" && this.hover(event), options);
    this.zone.addEventListener("pointerdown", (event) => {
      if (!this.isLive) return;
      this.zone.setPointerCapture(event.pointerId);
      this.hover(event);
    }, options);
  }

  get isLive() {
    return this.state === "playing" || this.state === "counting";
  }

  get state() {
    return this.stage;
  }

  set state(word) {
    this.stage = word;
    this.zone?.classList.toggle("live", this.isLive);
  }

  setCover(...content) {
    this.cover.hidden = content.length === 0;
    this.cover.replaceChildren(...content);
  }

  offer(word, message = null) {
    this.pauseButton.classList.add("idle");
    const button = el("button", { type: "button", class: "primary", onclick: () => this.count() }, sentence(word));
    this.setCover(el("p", { class: "question" }, this.question), ...(message ? [el("p", {}, sentence(message))] : []), button);
    button.focus({ preventScroll: true });
  }

  toggle() {
    if (this.state === "playing" || this.state === "stalled") this.interrupt("pause");
    else if (this.state === "ready" || this.state === "paused") this.count();
  }

  // 3, 2, 1: time to find the handle.
  async count() {
    this.state = "counting";
    this.controls.scales[0].input.focus({ preventScroll: true });
    for (let left = this.study.countdown; left > 0 && this.state === "counting"; left -= 1) {
      this.setCover(el("p", { class: "question" }, this.question), el("div", { class: "count" }, number(left)));
      say(number(left));
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
    if (this.state === "counting") await this.go();
  }

  async go() {
    try {
      await this.player.play();
    } catch {
      this.state = "paused";
      this.offer("go_on", "not_started");
      return;
    }
    this.state = "playing";
    this.setCover();
    this.pauseButton.classList.remove("idle");
    this.note("play");
    this.batches = setInterval(() => this.flush(), BATCH_MS);
    this.frame();
  }

  frame() {
    if (this.state !== "playing") return;
    this.player.draw();
    const now = this.player.time;
    this.elapsed.style.width = `${(100 * now) / (this.player.seconds || 1)}%`;
    if (now * this.study.rate >= this.nextTick) {
      this.sample(0);
      this.nextTick = Math.floor(now * this.study.rate) + 1;
    }
    if (this.player.ended) this.finish();
    else requestAnimationFrame(() => this.frame());
  }

  changed(scale) {
    this.by ||= scale.source ?? "";
    if (this.state === "playing") this.sample(CODES[scale.source] ?? 1);
    else if (this.state === "paused" || this.state === "counting") this.sample((CODES[scale.source] ?? 1) + 8);
  }

  sample(code) {
    const times = [this.player.time * 1000, performance.now()].map((ms) => Math.round(ms * 10) / 10);
    this.rows.push([...times, code, ...this.controls.scales.map((scale) => scale.value)]);
  }

  // Hovering is enough for a mouse; a finger has to be down, which is when it moves at all.
  hover(event) {
    if (!this.isLive) return;
    const { scales, pads } = this.controls;
    if (pads.length) {
      pads[0].track(event);
      return;
    }
    const box = scales[0].input.getBoundingClientRect();
    // 14: half the handle, which stops that far from the ends.
    scales[0].setShare(along(box, event.clientX, 14), event.pointerType);
  }

  flush() {
    if (!this.rows.length) return;
    const rows = this.rows.splice(0);
    for (let at = 0; at < rows.length; at += 500) {
      const part = rows.slice(at, at + 500);
      this.add?.({ kind: "samples", slot: this.item.id, attempt: this.attempt, first: this.sent, rows: part });
      this.sent += part.length;
    }
  }

  // Nothing arrives: what stands still cannot be judged, and the time that it takes is no part of the recording.
  stall() {
    if (this.state !== "playing") return;
    this.state = "stalled";
    this.stalledAt = performance.now();
    this.setCover(el("p", { role: "status" }, sentence("stalled")));
  }

  resume() {
    if (this.state !== "stalled") return;
    // At the end of a recording that does not say how long it is, waiting is how a browser finds out.
    if (!this.player.ended) this.noteStall();
    this.state = "playing";
    this.setCover();
    this.frame();
  }

  noteStall() {
    this.note("stall", { lasted_ms: Math.round(performance.now() - this.stalledAt) });
  }

  interrupt(why) {
    if (this.state === "stalled") {
      this.noteStall();
      this.state = "playing";
    }
    if (this.state === "counting") {
      this.state = this.player.time > 0 ? "paused" : "ready";
      this.offer(this.state === "ready" ? "start" : "go_on");
      return;
    }
    if (this.state !== "playing") return;
    this.player.pause();
    this.state = "paused";
    clearInterval(this.batches);
    this.note(why);
    this.flush();
    this.offer("go_on", "paused");
  }

  note(name, more = {}) {
    this.add?.({ kind: "note", name, slot: this.item.id, media_ms: Math.round(this.player.time * 1000), ...more });
  }

  finish() {
    this.sample(0);
    clearInterval(this.batches);
    if (this.controls.scales.some((scale) => !scale.touched)) return this.again();
    this.flush();
    const start = Object.fromEntries(this.controls.scales.map((scale) => [scale.dimension.name, scale.start]));
    this.add?.({ kind: "pass", slot: this.item.id, attempt: this.attempt, samples: this.sent, seconds: this.player.seconds, start, by: this.by });
    this.close();
    this.onDone();
    return undefined;
  }

  again() {
    this.note("restart");
    this.restart();
    this.player.rewind();
    this.state = "ready";
    this.offer("watch_again", "not_moved");
  }
}
