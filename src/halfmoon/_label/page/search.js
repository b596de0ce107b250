// Search for a class, or type a new one.

import { $, element } from "./view.js";

const MAX_LISTED = 50; // classes

export function searching(classesOf, onPick) {
  const dialog = $("search"), wanted = $("wanted"), list = $("found");
  let marked = 0, offered = [];

  function offer() {
    const text = wanted.value.trim(), small = text.toLowerCase();
    const names = classesOf();
    const fits = names.filter(name => name.toLowerCase().includes(small));
    fits.sort((a, b) => starts(b, small) - starts(a, small));
    offered = fits.slice(0, MAX_LISTED).map(name => ({ name, isNew: false }));
    if (text && !names.includes(text)) offered.push({ name: text, isNew: true });
    marked = 0;
    show();
  }

  function show() {
    list.replaceChildren(...offered.map(({ name, isNew }, i) => {
      const item = element("li", isNew ? `New class: ${name}` : name);
      item.id = `found-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(i === marked));
      item.addEventListener("click", () => take(i));
      return item;
    }));
    if (offered.length) {
      wanted.setAttribute("aria-activedescendant", `found-${marked}`);
      list.children[marked].scrollIntoView({ block: "nearest" });
    } else {
      wanted.removeAttribute("aria-activedescendant");
    }
  }

  function take(i) {
    if (!offered[i]) return;
    const { name } = offered[i];
    dialog.close();
    onPick(name);
  }

  wanted.addEventListener("input", offer);
  wanted.addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : offered.length - 1;
      marked = offered.length ? (marked + step) % offered.length : 0;
      show();
      event.preventDefault();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      take(marked);
    }
  });
  return () => {
    wanted.value = "";
    offer();
    dialog.showModal();
    wanted.focus();
  };
}

const starts = (name, text) => Number(name.toLowerCase().startsWith(text));
