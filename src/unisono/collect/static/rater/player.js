// Things that play: a file of the researcher, or a moving colour drawn here. Both have a clock, and it is the clock of
// the media: when playing stops for whatever reason, so does the clock.

import { el } from "./dom.js";
import { keepSpeed } from "./heard.js";
import { sentence } from "./sentences.js";
import { paint } from "./stimulus.js";

export function makePlayer(item, base) {
  return item.media === "walk" ? new WalkPlayer(base + item.url) : new MediaPlayer(item.media, base + item.url);
}

class WalkPlayer {
  constructor(url) {
    this.element = el("canvas", { width: 8, height: 6, role: "img", "aria-label": sentence("moving_colour") });
    this.seconds = 0;
    this.played = 0;
    this.since = null;
    this.ready = this.load(url);
  }

  async load(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`media: ${response.status}`);
    const { rate, seconds, frames } = await response.json();
    this.rate = rate;
    this.seconds = seconds;
    this.frames = frames;
    this.draw();
  }

  // Drawn here: nobody else starts, stops or delays it.
  watch() {}

  get time() {
    const running = this.since === null ? 0 : (performance.now() - this.since) / 1000;
    return Math.min(this.seconds, this.played + running);
  }

  get ended() {
    return this.time >= this.seconds;
  }

  async play() {
    this.since = performance.now();
  }

  pause() {
    this.played = this.time;
    this.since = null;
  }

  rewind() {
    this.played = 0;
    this.since = null;
    this.draw();
  }

  draw() {
    const last = this.frames.length / 6 - 1;
    const at = 6 * Math.min(last, Math.floor(this.time * this.rate));
    const byte = (offset) => parseInt(this.frames.slice(at + offset, at + offset + 2), 16);
    paint(this.element, byte(0), byte(2), byte(4));
  }
}

class MediaPlayer {
  constructor(kind, url) {
    this.media = el(kind === "audio" ? "audio" : "video", { src: url, preload: "auto", playsinline: true });
    keepSpeed(this.media);
    this.element = kind === "audio" ? el("div", { class: "listening" }, `♪ ${sentence("listen")}`, this.media) : this.media;
    this.ready = new Promise((resolve, reject) => {
      // Enough to play it through; or all that the browser means to fetch before it plays.
      this.media.addEventListener("canplaythrough", resolve, { once: true });
      this.media.addEventListener("suspend", () => this.media.readyState > 2 && resolve());
      this.media.addEventListener("error", () => reject(new Error("media")), { once: true });
    });
  }

  // What happens without a press of our buttons: nothing arrives any more, it does again, keys on a headset.
  watch({ onStall, onResume, onPause, onPlay }) {
    const told = { waiting: onStall, playing: onResume, ended: onResume, pause: onPause, play: onPlay };
    for (const [name, tell] of Object.entries(told)) this.media.addEventListener(name, tell);
  }

  get seconds() {
    // Some recordings do not say how long they are; they have told when they have been played.
    return Number.isFinite(this.media.duration) ? this.media.duration : this.media.currentTime;
  }

  get time() {
    return this.media.currentTime;
  }

  get ended() {
    return this.media.ended;
  }

  play() {
    return this.media.play();
  }

  pause() {
    this.media.pause();
  }

  rewind() {
    this.media.pause();
    this.media.currentTime = 0;
  }

  draw() {}
}
