// Fingers scroll and answer on the same surface. A swipe up or down is a scroll and never an answer; a tap, or a move that
// starts sideways, is one. Which it is, is known only a moment after the finger came down.

const SIDEWAYS = 8;
const STILL = 12;

// takes(event): the finger means it; undo(): it did not, put everything back.
export function decideTouch(element, { begin, takes, undo }) {
  let from = null;
  element.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch" || !event.isPrimary) return;
    from = { x: event.clientX, y: event.clientY };
    begin();
  });
  element.addEventListener("pointermove", (event) => {
    if (!from || event.pointerType !== "touch") return;
    const [dx, dy] = [Math.abs(event.clientX - from.x), Math.abs(event.clientY - from.y)];
    if (dx < SIDEWAYS || dx < dy) return;
    from = null;
    takes(event);
  });
  element.addEventListener("pointerup", (event) => {
    if (!from || event.pointerType !== "touch") return;
    const still = Math.hypot(event.clientX - from.x, event.clientY - from.y) < STILL;
    from = null;
    if (still) takes(event);
    else undo();
  });
  element.addEventListener("pointercancel", () => {
    if (from) undo();
    from = null;
  });
}
