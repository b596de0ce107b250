// What each key does. Reserved keys are never assigned to a class.

export const RESERVED = ["enter", " ", "u", "backspace", "/", "?", "escape", "tab"];
export const CLASS_KEYS = [..."123456789abcdefghijklmnopqrstuvwxyz"]
  .filter(key => !RESERVED.includes(key));
const DOUBLE_PRESS_MS = 150; // within which a second press does not count

// What a key means while a row is shown; null if the page does not use it.
export function meaningOf(event, classes, typesNumbers, typed) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  const key = event.key.toLowerCase();
  if (key === "?") return { does: "help" };
  if (key === "/" && !typesNumbers) return { does: "search" };
  if (key === "u") return { does: "undo" };
  if (key === "backspace") return typesNumbers && typed ? null : { does: "undo" };
  if (key === " ") return { does: "skip" };
  if (key === "enter") return typesNumbers && typed ? { does: "number" } : { does: "take" };
  if (typesNumbers) return null;
  const place = CLASS_KEYS.indexOf(key);
  return place >= 0 && place < classes.length ? { does: "class", value: classes[place] } : null;
}

// Return a function that accepts a press unless it closely follows another one.
export function once() {
  let last = -Infinity;
  return event => {
    const now = performance.now();
    if ((event && event.repeat) || now - last < DOUBLE_PRESS_MS) return false;
    last = now;
    return true;
  };
}

// Parse a number as people type it; null if it is not a number.
export function numberOf(text) {
  const plain = text.trim().replace(",", ".").replace("\u2212", "-");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) && Number.isFinite(Number(plain))
    ? Number(plain) : null;
}
