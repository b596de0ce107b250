// Show rows and progress. Text of the table is inserted as text, never as HTML.

import { CLASS_KEYS } from "./keys.js";

const MAX_COLUMNS = 25; // the others are folded
const MAX_TEXT = 300; // characters of a cell; longer ones are folded
export const $ = id => document.getElementById(id);

export function element(kind, text = "", name = "") {
  const made = document.createElement(kind);
  if (text !== "") made.textContent = text;
  if (name) made.className = name;
  return made;
}

function isolated(text) {
  const made = element("bdi", text);
  made.dir = "auto";
  return made;
}

function say(id, text) {
  const place = $(id);
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
}

const asText = value => value === null ? "skipped" : String(value);

const WHY = {
  random: "A random row without a proposal: it measures how well halfmoon does.",
  again: "Somebody else has labeled this row. What is your answer?",
  chosen: "",
};

export function showRow(question, target) {
  const heading = $("question");
  heading.replaceChildren(`Row ${question.name}: which `, isolated(target), "?");
  const why = $("why");
  if (question.why === "check") {
    why.replaceChildren("The label of this row looks wrong. It is now ", isolated(asText(question.given)), ".");
  } else {
    why.textContent = WHY[question.why] ?? "";
  }
  fill($("cells"), question.cells.slice(0, MAX_COLUMNS));
  const rest = question.cells.slice(MAX_COLUMNS);
  $("more").hidden = !rest.length;
  $("more-name").textContent = `${rest.length} more columns`;
  fill($("more-cells"), rest);
  showProposal(question.proposal);
  scrollTo(0, 0);
}

function fill(list, cells) {
  list.replaceChildren(...cells.flatMap(([name, text]) => {
    const term = element("dt"), cell = element("dd");
    term.append(isolated(name));
    if (text === "") {
      cell.className = "empty";
      cell.append("–");
    } else if (text.length > MAX_TEXT) {
      cell.className = "long";
      const body = isolated(text), all = element("button", "Show all");
      body.className = "text folded";
      all.type = "button";
      all.addEventListener("click", () => {
        const folded = body.classList.toggle("folded");
        all.textContent = folded ? "Show all" : "Show less";
        all.setAttribute("aria-expanded", String(!folded));
      });
      all.setAttribute("aria-expanded", "false");
      cell.append(body, all);
    } else {
      cell.append(isolated(text));
    }
    return [term, cell];
  }));
}

function showProposal(proposal) {
  $("proposal").hidden = proposal === null;
  $("take").hidden = proposal === null;
  for (const button of $("classes").children) {
    button.classList.toggle("proposal", proposal !== null && button.value === proposal.text);
  }
  if (proposal === null) return;
  const proposed = $("proposed");
  proposed.textContent = proposal.text;
  proposed.dir = "auto";
  $("sure").textContent = proposal.confidence === null
    ? `between ${proposal.low} and ${proposal.high}`
    : `${Math.round(100 * proposal.confidence)} % confidence`;
  $("near-title").hidden = !proposal.neighbors.length;
  $("near").replaceChildren(...proposal.neighbors.map(near => {
    const item = element("li", "", near.for ? "" : "against");
    const label = element("strong");
    label.append(isolated(near.label));
    const cells = element("span");
    near.cells.forEach(([name, text], i) => {
      if (i) cells.append(" · ");
      cells.append(isolated(`${name}: ${text}`));
    });
    item.append(label, ` row ${near.name}`, cells);
    return item;
  }));
}

// Buttons are replaced only if the classes have changed, so that the focus stays.
export function showClasses(classes, onPick) {
  const group = $("classes"), shown = classes.slice(0, CLASS_KEYS.length);
  if (group.children.length === shown.length
    && shown.every((name, i) => group.children[i].value === name)) return;
  group.replaceChildren(...shown.map((name, i) => {
    const button = element("button"), key = element("kbd", CLASS_KEYS[i].toUpperCase());
    button.type = "button";
    button.value = name;
    button.setAttribute("aria-keyshortcuts", CLASS_KEYS[i]);
    button.append(key, " ", isolated(name.length > 60 ? `${name.slice(0, 60)}…` : name));
    button.addEventListener("click", event => onPick(name, event));
    return button;
  }));
}

export function showProgress(progress) {
  $("bar").value = progress.rows ? progress.labels / progress.rows : 0;
  const number = n => n.toLocaleString("en");
  const many = (n, one) => `${number(n)} ${one}${n === 1 ? "" : "s"}`;
  say("counts", `${many(progress.labels, "label")}, ${number(progress.answered)} of them given here; ${many(progress.blank, "row")} left.`);
  say("quality", progress.quality);
  say("forecast", progress.forecast);
  say("agreement", progress.agreement);
  say("pace", [progress.pace, progress.learning ? "halfmoon is learning from your answers" : ""].filter(Boolean).join(" · "));
  say("stop", progress.stop);
}

export function showLast(history, onPick) {
  $("no-last").hidden = history.length > 0;
  $("last").replaceChildren(...history.slice(-10).reverse().map(each => {
    const item = element("li"), button = element("button");
    button.type = "button";
    button.append(`Row ${each.name ?? each.row}: `, isolated(asText(each.value)));
    button.addEventListener("click", event => onPick(each, event));
    item.append(button);
    return item;
  }));
}

export function showFilled(filled) {
  $("fill").disabled = filled.working;
  $("filling").textContent = filled.working ? "Filling the table …" : filled.said;
  $("made").hidden = !filled.table;
}

export function showSaved(waiting, trouble, saved) {
  $("saved").textContent = waiting ? `Saving ${waiting} …` : saved ? "All answers are saved." : "";
  const place = $("trouble");
  place.hidden = trouble === "";
  place.textContent = trouble && waiting
    ? `Not saved yet: ${trouble} Keep this page open: it keeps trying.`
    : trouble;
}

export function announce(text) {
  $("announcement").textContent = text;
}

export function atEnd(ended) {
  $("question").textContent = ended ? "There is no row left to label." : "The next row is on its way.";
  $("why").textContent = "";
  $("cells").replaceChildren();
  $("more").hidden = true;
  showProposal(null);
}
