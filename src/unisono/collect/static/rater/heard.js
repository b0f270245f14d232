// How much of what plays was played, and at the speed at which it was made. Skipping is not playing: the browser keeps the
// stretches that were played, and only those count.

// The speed is part of what is judged: menus and extensions that change it are overruled.
export function keepSpeed(media) {
  media.setAttribute("controlslist", "noplaybackrate");
  media.addEventListener("ratechange", () => {
    if (media.playbackRate !== 1) media.playbackRate = 1;
  });
}

export class Heard {
  constructor(element, share, onChange) {
    this.media = [...element.querySelectorAll("audio, video"), element].filter((one) => ["AUDIO", "VIDEO"].includes(one.tagName));
    this.share = share;
    // Some recordings do not say how long they are before their end was reached.
    this.ended = new Set();
    this.onStall = () => {};
    this.plays = 0;
    this.stalls = 0;
    this.stalled = 0;
    for (const one of this.media) {
      keepSpeed(one);
      this.watch(one);
      one.addEventListener("ended", () => { this.ended.add(one); onChange(); });
      one.addEventListener("timeupdate", onChange);
    }
  }

  watch(one) {
    let since = null;
    one.addEventListener("play", () => { this.plays += 1; });
    one.addEventListener("waiting", () => {
      // Before anything has played it is loading, after a jump it is looking for the place: neither is a stall.
      if (one.played.length === 0 || one.seeking || since !== null) return;
      since = performance.now();
      this.stalls += 1;
      this.onStall(true);
    });
    for (const over of ["playing", "pause", "ended"]) {
      one.addEventListener(over, () => {
        if (since !== null) this.stalled += performance.now() - since;
        if (since !== null) this.onStall(false);
        since = null;
      });
    }
  }

  get enough() {
    return this.media.every((one) => this.share === 0 || secondsPlayed(one) >= this.share * this.length(one));
  }

  length(one) {
    if (Number.isFinite(one.duration)) return one.duration;
    return this.ended.has(one) ? one.currentTime : Infinity;
  }

  // [seconds played, seconds in all] of each, as the server is told.
  get told() {
    return this.media.map((one) => {
      const played = secondsPlayed(one);
      const length = this.length(one);
      return [played, Number.isFinite(length) ? length : played].map((seconds) => Math.round(1000 * seconds) / 1000);
    });
  }
}

function secondsPlayed({ played }) {
  let sum = 0;
  for (let at = 0; at < played.length; at += 1) sum += played.end(at) - played.start(at);
  return sum;
}
