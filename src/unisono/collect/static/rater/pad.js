// Two scales as one point on a plane. The plane is for pointers; the two sliders below it are for everybody.

import { el } from "./dom.js";
import { along } from "./sentences.js";
import { decideTouch } from "./touch.js";

export class Pad {
  constructor(x, y, size) {
    this.scales = [x, y];
    this.isLarge = size === "large";
    this.point = el("div", { class: "pad-point" });
    this.plane = el("div", { class: "pad", "aria-hidden": "true" }, this.point);
    const ends = [x, y].map(({ dimension: { anchors } }) => [anchors[0].label, anchors[anchors.length - 1].label]);
    this.element = el("div", { class: "scale joint" },
      el("div", { class: "pad-box", "aria-hidden": "true" },
        el("div", { class: "pad-top" }, ends[1][1]), el("div", { class: "pad-left" }, ends[0][0]), this.plane,
        el("div", { class: "pad-right" }, ends[0][1]), el("div", { class: "pad-bottom" }, ends[1][0])),
      x.element, y.element);
    this.element.classList.toggle("large", this.isLarge);
    for (const scale of this.scales) this.follow(scale);
    this.undecided = false;
    decideTouch(this.plane, {
      begin: () => { this.undecided = true; },
      takes: (event) => { this.undecided = false; this.track(event); },
      undo: () => {},
    });
    this.plane.addEventListener("pointerdown", (event) => {
      this.plane.setPointerCapture(event.pointerId);
      if (event.pointerType !== "touch") this.track(event);
    });
    this.plane.addEventListener("pointermove", (event) => event.buttons && !(event.pointerType === "touch" && this.undecided) && this.track(event));
    this.paint();
  }

  follow(scale) {
    const told = scale.onChange;
    scale.onChange = (one) => {
      this.paint();
      told(one);
    };
  }

  track(event) {
    const box = this.plane.getBoundingClientRect();
    const [x, y] = this.scales;
    x.setShare(along(box, event.clientX), event.pointerType);
    y.setShare(1 - (event.clientY - box.top) / box.height, event.pointerType);
  }

  paint() {
    const [x, y] = this.scales;
    this.point.style.insetInlineStart = `${100 * x.share}%`;
    this.point.style.top = `${100 * (1 - y.share)}%`;
    this.point.classList.toggle("untouched", !(x.touched && y.touched));
  }
}
