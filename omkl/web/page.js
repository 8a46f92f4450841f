"use strict";
// Tables: sort by a column, filter rows, open a row's details, save as CSV; copy commands; light and dark.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

function element(tag, attributes = {}, ...parts) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...parts); // strings become text
  return made;
}

function save(name, content) {
  const url = URL.createObjectURL(content);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copy(text, from) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", {}, text); // without the permission, or from http
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  const said = from.textContent;
  from.textContent = done ? "copied" : "not copied";
  setTimeout(() => (from.textContent = said), 1500);
}

function numberOf(text) {
  const match = text.match(/[-+]?\d+(\.\d+)?(e[-+]?\d+)?/i);
  if (!match) return NaN; // a dash: always last
  const value = parseFloat(match[0]);
  return text.trim().startsWith("<") ? value * (1 - 1e-9) : value;
}

function sorted(rows, column, isNumber, direction) {
  const text = (row) => row.cells[column].textContent.trim().replace(/^[*~] /, "");
  const keyed = rows.map((row) => [isNumber ? numberOf(text(row)) : text(row), row]);
  const empty = (key) => (isNumber ? Number.isNaN(key) : key === "" || key === "–");
  keyed.sort(([a], [b]) => {
    if (empty(a) || empty(b)) return empty(a) - empty(b);
    return direction * (isNumber ? a - b : a.localeCompare(b, "en", { numeric: true }));
  });
  return keyed.map(([, row]) => row);
}

function setUpTable(box, entry) {
  const body = $("tbody", box);
  const rows = [...body.rows]; // in the order of the report
  const details = new Map();
  const seen = () => { // a narrow screen names a data set above the first row of each run of its rows
    let last = null;
    for (const row of $$("tr:not(.detail)", body).filter((row) => !row.hidden)) {
      row.classList.toggle("same-group", row.dataset.group === last);
      last = row.dataset.group;
    }
  };
  const place = (order) => {
    for (const row of order) {
      body.append(row);
      if (details.has(row)) body.append(details.get(row));
    }
    seen();
  };

  for (const sort of $$("th .sort", box)) {
    const head = sort.closest("th");
    sort.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.ariaSort] ?? (head.ariaSort ? null : "ascending");
      for (const other of $$("th", box)) other.removeAttribute("aria-sort");
      box.classList.toggle("sorted", next !== null);
      if (next === null) return place(rows);
      head.setAttribute("aria-sort", next);
      place(sorted(rows, head.cellIndex, head.classList.contains("number"), next === "ascending" ? 1 : -1));
    });
  }

  const filter = $("input", box);
  const count = $(".count", box);
  const groups = [...new Set(rows.map((row) => row.dataset.group))].filter(Boolean);
  const group = element("select", { "aria-label": "data set" }, element("option", { value: "" }, "all data sets"));
  for (const name of groups) group.append(element("option", { value: name }, name));
  if (groups.length > 1) filter.after(group);
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => (word.length > 1 && word[0] === "-" ? !text.includes(word.slice(1)) : text.includes(word)));
      row.hidden = !fits || (group.value !== "" && group.value !== row.dataset.group);
      if (details.has(row)) details.get(row).hidden = row.hidden;
      shown += !row.hidden;
    }
    box.classList.toggle("filtered", shown < rows.length);
    const noun = rows.length === 1 ? "row" : "rows";
    count.textContent = (shown < rows.length ? `${shown} of ` : "") + `${rows.length} ${noun}`;
    seen();
  };
  filter.addEventListener("input", apply);
  group.addEventListener("input", apply);
  apply();

  for (const row of rows) {
    const more = $("button.more", row);
    more?.addEventListener("click", () => {
      const open = !details.has(row);
      more.setAttribute("aria-expanded", String(open));
      if (!open) {
        details.get(row).remove();
        details.delete(row);
        return;
      }
      const own = detailOf(entry.about[row.dataset.row], row.cells.length);
      details.set(row, own);
      row.after(own);
    });
  }
  $("button.csv", box).addEventListener("click", () => {
    save(entry.file, new Blob([entry.csv], { type: "text/csv;charset=utf-8" }));
  });
}

function detailOf(about, columns) {
  const list = element("dl");
  for (const [name, text] of about) {
    const own = element("dd", {}, name === "command" ? element("code", {}, text) : text);
    if (name === "command") own.append(" ", element("button", { type: "button", class: "copy" }, "copy"));
    list.append(element("dt", {}, name), own);
  }
  return element("tr", { class: "detail" }, element("td", { colspan: columns }, list));
}

async function unpack(id) {
  const bytes = Uint8Array.from(atob($(`#${id}`).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("button");
  if (pressed?.classList.contains("copy")) copy($("code", pressed.parentElement).textContent, pressed);
  if (pressed?.classList.contains("theme")) {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  }
});
// What is wider than its place scrolls, and says so while there is more at the right.
function setUpHint(part) {
  const hint = element("p", { class: "wider" }, "more at the right: scroll →");
  const look = () => (hint.hidden = part.scrollLeft + part.clientWidth >= part.scrollWidth - 1);
  part.before(hint);
  part.addEventListener("scroll", look);
  new ResizeObserver(look).observe(part);
  look();
}

addEventListener("beforeprint", () => $$("details").forEach((one) => (one.open = true)));

document.documentElement.classList.add("js");
$("nav details").open = matchMedia("(min-width: 60rem)").matches; // it would fill a phone's screen
$$(".scroll, .plot").forEach(setUpHint);
unpack("data").then((tables) => {
  for (const [id, entry] of Object.entries(tables)) setUpTable($(`#${id}`), entry);
  document.documentElement.dataset.ready = "1";
});
