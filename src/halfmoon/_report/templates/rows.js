(() => {
  "use strict";
  const body = document.querySelector("tbody");
  const rows = [...body.rows];
  const buttons = [...document.querySelectorAll("thead button")];
  const input = document.querySelector("input");
  const shown = document.querySelector("output");
  const text = (row, i) => row.cells[i].dataset.key ?? row.cells[i].textContent.trim();
  // "1,234" is above a thousand, "3,14" above three.
  const value = t => (t === "" ? NaN : Number(
    t.replace(/,(?=\d{3}(\D|$))/g, "").replace(",", ".").replace("−", "-")));
  const compare = (a, b) => {
    const x = value(a), y = value(b);
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    return a.localeCompare(b, undefined, {numeric: true});
  };
  buttons.forEach((button, i) => button.addEventListener("click", () => {
    const head = button.closest("th");
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of buttons) other.closest("th").removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    const keys = new Map(rows.map(row => [row, text(row, i)]));
    rows.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (x === "" || y === "") return (x === "") - (y === "");  // blank cells last
      return sign * compare(x, y);
    });
    body.append(...rows);
  }));
  const texts = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let n = 0;
    for (const row of rows) {
      row.hidden = !texts.get(row).includes(wanted);
      n += !row.hidden;
    }
    shown.textContent = n.toLocaleString("en");
  });
  document.querySelector(".tools").hidden = false;
})();
