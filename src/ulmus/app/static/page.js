// @ts-check
// The page: what the server says is shown, what the person does is sent. All text goes in as text.
import { NONE, RowMap, colourOf, shapeOf } from "./map.js";

/**
 * @typedef {object} Look What the server tells after every change.
 * @property {number} version @property {number} answered @property {boolean} learnt @property {number} places
 * @property {number} rows @property {boolean} image @property {string[]} classes @property {number[]} given @property {number[]} found
 * @property {boolean} undo @property {boolean} redo @property {string[]} working @property {string} failure @property {number} seconds
 * @property {[number, string][]} suggestions @property {Quality | null} quality @property {number[][]} curve
 * @typedef {object} Quality
 * @property {number | null} accuracy @property {[number, number] | null} range @property {number} judged
 * @property {[number, string, number, number, number][]} disagree @property {[string, number, number | null][]} candidates
 */

/** @template {HTMLElement} [T=HTMLElement] @param {string} id @returns {T} */
const the = (id) => /** @type {any} */ (document.getElementById(id));
/** @param {string} tag @param {Record<string, any>} properties @param {(Node | string)[]} children @returns {any} */
const make = (tag, properties = {}, ...children) => {
  const found = Object.assign(document.createElement(tag), properties);
  found.append(...children);
  return found;
};
/** Replace what an element holds; what is then in the place of the control that had the focus has it. @param {HTMLElement} box @param {Node[]} parts */
const refill = (box, parts) => {
  const controls = () => /** @type {HTMLElement[]} */ ([...box.querySelectorAll("button, summary")]);
  const at = controls().findIndex((control) => control === document.activeElement);
  box.replaceChildren(...parts);
  if (at >= 0) (controls()[at] || the("map")).focus();
};
/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)}\u00a0%`;
/** @param {number} count */
const counted = (count) => count.toLocaleString("en");

const map = new RowMap(/** @type {HTMLCanvasElement} */ (the("map")));
/** @type {Look | null} */ let look = null;
let active = -1;
let lassoing = false;
let next = 0;
let trouble = "";
const shown = { places: -1, version: -1, answered: -2 };
const marks = document.documentElement.dataset;

// ---------------------------------------------------------------------- the server
/** @param {Record<string, unknown>} action */
async function act(action) {
  marks.acted = String(performance.now());
  const reply = await fetch("act", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(action) })
    .catch(() => null);
  trouble = reply === null ? "The server does not answer; start the command again." : reply.ok ? "" : await reply.text();
  tell();
  return reply !== null && reply.ok;
}

/** Fetch what has changed and draw it; calls meanwhile lead to one more round. */
let fetching = false;
async function catchUp() {
  if (fetching || !look) return;
  fetching = true;
  try {
    while (shown.places !== look.places || shown.version !== look.version || shown.answered !== look.answered) {
      const { places, version, answered } = look;
      if (places !== shown.places) {
        map.places = new Float32Array(await (await fetch("places")).arrayBuffer());
      }
      const bytes = new Uint8Array(await (await fetch("colours")).arrayBuffer()), n = look.rows;
      [map.given, map.codes, map.certainty] = [bytes.subarray(0, n), bytes.subarray(n, 2 * n), bytes.subarray(2 * n)];
      Object.assign(shown, { places, version, answered });
      map.drawn = () => { Object.assign(marks, { places, version, answered, drawn: performance.now() }); map.drawn = () => {}; };
      map.draw();
    }
  } finally {
    fetching = false;
  }
}

const events = new EventSource("events");
events.onmessage = (event) => {
  const before = look;
  look = /** @type {Look} */ (JSON.parse(event.data));
  trouble = "";
  if (before && String(before.suggestions) !== String(look.suggestions)) next = 0;
  catchUp();
  showClasses();
  showSuggestions();
  showQuality();
  tell();
};
events.onerror = () => { trouble = "The server does not answer. It stops with its command; start that again."; tell(); };

/** What to do next, or what is being done. */
function tell() {
  const hint = the("hint");
  hint.classList.toggle("bad", Boolean(trouble || look?.failure));
  hint.textContent = trouble || (look ? look.failure || advice(look) : "Connecting …");
}

/** @param {Look} now */
function advice(now) {
  const ready = now.given.filter((count) => count > 0).length;
  const work = now.working.length ? `${now.working.join(" ")} ` : "";
  if (!now.classes.length) return `${work}Create two classes: type a name at “New class” (C).`;
  if (now.classes.length < 2) return `${work}Create a second class (C).`;
  if (ready < 2) return `${work}Select a row (N goes to a helpful one), then press the number of its class. Two classes need a label each.`;
  if (now.working.length) return `${work}Labels can be given meanwhile.`;
  if (now.answered !== now.version) return "Colouring all rows …";
  const given = now.given.reduce((a, b) => a + b, 0);
  return `${counted(given)} ${given === 1 ? "label" : "labels"}, ${counted(now.rows)} rows coloured in ${now.seconds.toFixed(2)} s. N goes to the next row that helps.`;
}

// ---------------------------------------------------------------------- classes and labels
/** @param {number} code */
function mark(code) {
  const size = 18, found = make("canvas", { className: "mark", width: size, height: size }), pen = found.getContext("2d");
  found.setAttribute("aria-hidden", "true");
  pen.fillStyle = `rgb(${colourOf(code).join()})`;
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (shapeOf(code)[1]((x - 8.5) / 7.5, (y - 8.5) / 7.5)) pen.fillRect(x, y, 1, 1);
  return found;
}

function showClasses() {
  if (!look) return;
  const { classes, given, found } = look;
  if (active >= classes.length) active = -1;
  refill(the("classes"), classes.map((name, code) => {
    const key = code < 9 ? `, key ${code + 1}` : "";
    const all = found.length ? `, ${counted(found[code])} rows in all` : "";
    const button = make("button", { title: `${name}: ${counted(given[code])} labels${all}` }, mark(code),
      make("span", { className: "name" }, name), make("span", { className: "count" }, counted(found.length ? found[code] : given[code])),
      ...(code < 9 ? [make("kbd", {}, String(code + 1))] : []));
    button.setAttribute("aria-label", `Class ${name}, ${shapeOf(code)[0]}, ${given[code]} labels${all}${key}`);
    button.setAttribute("aria-pressed", String(active === code));
    button.onclick = () => choose(code);
    return make("li", {}, button);
  }));
  /** @type {any} */ (the("undo")).disabled = !look.undo;
  /** @type {any} */ (the("redo")).disabled = !look.redo;
  showRow();
}

/** Give the selected rows this class; without a selection, each row that is clicked from now on. @param {number} code */
function choose(code) {
  if (!look || code >= look.classes.length) return;
  if (map.selected.size) {
    label(code);
  } else {
    active = active === code ? -1 : code;
    showClasses();
  }
}

/** @param {number} code −1 takes the label away */
function label(code) {
  if (!look || !map.selected.size) return;
  act({ do: "label", rows: [...map.selected], class: code < 0 ? null : look.classes[code] });
}

/** @param {number[]} rows */
function select(rows) {
  map.selected = new Set(rows);
  map.draw();
  if (active >= 0 && rows.length) label(active);
  showRow();
}

// ---------------------------------------------------------------------- rows
/** @type {Map<number, Promise<any>>} */
const known = new Map();
/** @param {number} row */
function contents(row) {
  if (known.size > 500) known.clear();
  let found = known.get(row);
  if (!found) known.set(row, found = fetch(`row/${row}`).then((reply) => reply.json()));
  return found;
}

/** @param {number} row */
const picture = (row, alt = `Row ${row + 1}`) => make("img", { src: `picture/${row}`, alt });

/** @param {any} found @param {number} most */
function cellTable(found, most) {
  const lines = found.cells.slice(0, most).map((/** @type {string[]} */ [name, text]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, text)));
  return make("table", {}, make("tbody", {}, ...lines));
}

/** What the page knows of a row's class. @param {number} row */
function said(row) {
  if (!look || !map.codes.length) return "";
  if (map.given[row] !== NONE) return `${look.classes[map.given[row]]}, says a person`;
  return map.codes[row] === NONE ? "no class yet" : `${look.classes[map.codes[row]]}, says the model (${percent(map.certainty[row] / 255)})`;
}

let lastRow = "";
async function showRow() {
  const rows = [...map.selected], box = the("row");
  const key = `${rows.length} ${rows[0]} ${rows.length === 1 ? said(rows[0]) : ""}`;
  if (key === lastRow) return;
  lastRow = key;
  if (!rows.length) {
    box.replaceChildren(make("p", { className: "quiet" }, active >= 0 ? "Click rows to give them the class." : "Click a row on the map."));
  } else if (rows.length > 1) {
    box.replaceChildren(make("p", {}, `${counted(rows.length)} rows. A class's number labels all of them.`));
  } else {
    const found = await contents(rows[0]);
    if (key !== lastRow) return;
    const inside = found.image ? picture(rows[0]) : make("div", { className: "cells" }, cellTable(found, 100));
    box.replaceChildren(make("p", {}, `Row ${found.name}: ${said(rows[0])}`), inside);
  }
}

/** Select a row and bring it into view. @param {number} row */
function goTo(row) {
  const held = active;
  active = -1; // going somewhere labels nothing
  select([row]);
  active = held;
  map.show(row);
}

function goNext() {
  if (!look || !look.suggestions.length) return;
  const list = look.suggestions, current = map.selected.size === 1 ? [...map.selected][0] : -1;
  if (list[next % list.length][0] === current) next += 1;
  goTo(list[next % list.length][0]);
  next += 1;
}

let lastSuggestions = "";
function showSuggestions() {
  if (!look) return;
  const key = String(look.suggestions);
  if (key === lastSuggestions) return;
  lastSuggestions = key;
  refill(the("suggestions"), look.suggestions.map(([row, name]) => make("li", {}, rowButton(row, name))));
  /** @type {any} */ (the("next")).disabled = !look.suggestions.length;
}

/** @param {number} row @param {string} name */
function rowButton(row, name, more = "") {
  const button = make("button", { title: `Row ${name}${more}`, className: look?.image ? "picture" : "" }, look?.image ? picture(row, "") : `Row ${name}`);
  button.setAttribute("aria-label", `Go to row ${name}${more}`);
  button.onclick = () => goTo(row);
  return button;
}

// ---------------------------------------------------------------------- how good it is
let lastQuality = "";
function showQuality() {
  const key = JSON.stringify([look?.quality, look?.curve, look?.classes]);
  if (!look || key === lastQuality) return;
  lastQuality = key;
  const { quality, curve, classes } = look, parts = [];
  if (!quality || quality.accuracy === null || !quality.range) {
    parts.push(make("p", { className: "quiet" }, "Known once a class has two labels."));
  } else {
    parts.push(make("p", { className: "large" }, percent(quality.accuracy)),
      make("p", { className: "quiet" }, `of ${counted(quality.judged)} labels are right when they are left out: ${percent(quality.range[0])} to ${percent(quality.range[1])}, 19 times of 20. Suggested rows are hard ones: all rows usually do better.`));
  }
  if (curve.length > 1) parts.push(make("h3", {}, "Over labels given"), curvePicture(curve), make("p", { className: "quiet" }, `${counted(curve[0][0])} to ${counted(curve[curve.length - 1][0])} labels; band: range of 19 in 20.`));
  if (quality && quality.disagree.length) {
    parts.push(make("h3", {}, "Rows that disagree with their label"), make("ul", { id: "disagree" }, ...quality.disagree.map(([row, name, given, found, p]) =>
      make("li", {}, rowButton(row, name, `: labelled ${classes[given]}, looks like ${classes[found]} (${percent(p)})`)))));
  }
  if (quality) {
    const lines = quality.candidates.map(([words, weight, right]) => make("tr", {}, make("td", {}, words), make("td", {}, percent(weight)), make("td", {}, right === null ? "" : percent(right))));
    const heads = ["candidate", "weight", "right"].map((word) => make("th", { scope: "col" }, word));
    const open = the("quality").querySelector("details")?.open || false;
    parts.push(make("details", { open }, make("summary", {}, "Candidates and their weights"), make("table", { id: "candidates" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines))));
  }
  refill(the("quality"), parts);
  the("quality").dataset.labels = String(look.given.reduce((a, b) => a + b, 0));
}

/** @param {number[][]} curve */
function curvePicture(curve) {
  const space = "http://www.w3.org/2000/svg", low = curve[0][0], span = Math.max(1, curve[curve.length - 1][0] - low);
  const at = (/** @type {number} */ n, /** @type {number} */ share) => `${(100 * (n - low) / span).toFixed(2)},${(100 - 100 * share).toFixed(2)}`;
  const svg = document.createElementNS(space, "svg");
  const draw = (/** @type {string} */ tag, /** @type {Record<string, string>} */ attributes) => {
    const found = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
    svg.append(found);
  };
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "curve");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Left-out accuracy over labels given: ${curve.map(([n, share]) => `${n} labels ${percent(share)}`).join(", ")}`);
  for (const share of [0, 0.5, 1]) draw("line", { class: "axis", x1: "0", x2: "100", y1: `${100 * share}`, y2: `${100 * share}` });
  draw("polygon", { class: "range", points: [...curve.map(([n, , a]) => at(n, a)), ...curve.map(([n, , , b]) => at(n, b)).reverse()].join(" ") });
  draw("polyline", { class: "line", points: curve.map(([n, share]) => at(n, share)).join(" ") });
  return svg;
}

// ---------------------------------------------------------------------- pointer
/** @type {Map<number, number[]>} */
const pointers = new Map();
let start = [0, 0], moved = false, apart = 0;
const canvas = map.canvas;
/** @param {PointerEvent} event @returns {[number, number]} */
const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
const gap = () => { const [a, b] = [...pointers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(event));
  [start, moved] = [place(event), false];
  map.lasso = (lassoing || event.shiftKey) && pointers.size === 1 ? [start] : [];
  if (pointers.size === 2) { moved = true; apart = gap(); }
});
canvas.addEventListener("pointermove", (event) => {
  const at = place(event), last = pointers.get(event.pointerId);
  if (!last) { hover(at); return; }
  if (!moved && Math.hypot(at[0] - start[0], at[1] - start[1]) < 5) return;
  moved = true;
  pointers.set(event.pointerId, at);
  if (pointers.size === 2) {
    map.zoom(gap() / Math.max(apart, 1), at[0], at[1]);
    apart = gap();
  } else if (map.lasso.length) {
    map.lasso.push(at);
    map.draw();
  } else {
    map.pan(at[0] - last[0], at[1] - last[1]);
  }
});
canvas.addEventListener("pointerup", (event) => {
  pointers.delete(event.pointerId);
  const polygon = map.lasso;
  map.lasso = [];
  if (!moved) {
    const row = map.nearest(...place(event));
    select(row < 0 ? [] : event.ctrlKey || event.metaKey ? [...new Set([...map.selected, row])] : [row]);
  } else if (polygon.length > 2) {
    select(map.within(polygon));
  }
});
canvas.addEventListener("pointercancel", (event) => { pointers.delete(event.pointerId); map.lasso = []; map.draw(); });
canvas.addEventListener("pointerleave", () => { the("tip").hidden = true; map.focus = -1; });
canvas.addEventListener("wheel", (event) => { event.preventDefault(); map.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); }, { passive: false });

/** @param {number[]} at */
async function hover([x, y]) {
  const tip = the("tip"), row = map.nearest(x, y);
  if (row === map.focus) return;
  map.focus = row;
  if (row < 0) { tip.hidden = true; return; }
  const found = await contents(row);
  if (map.focus !== row) return;
  tip.replaceChildren(make("div", {}, `Row ${found.name}: ${said(row)}`), found.image ? picture(row) : cellTable(found, 6));
  tip.hidden = false;
  const box = canvas.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, box.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${canvas.offsetTop + Math.max(4, Math.min(y + 14, box.height - tip.offsetHeight - 4))}px`;
}

// ---------------------------------------------------------------------- keys and buttons
/** @param {boolean} on */
function useLasso(on) {
  lassoing = on;
  the("lasso").setAttribute("aria-pressed", String(on));
  the("move").setAttribute("aria-pressed", String(!on));
}

function letGo() {
  active = -1;
  map.lasso = [];
  select([]);
  showClasses();
}

/** @type {Record<string, () => void>} */
const KEYS = {
  n: goNext, u: () => act({ do: "undo" }), r: () => act({ do: "redo" }), l: () => useLasso(true), m: () => useLasso(false),
  h: () => map.whole(), c: () => the("class-name").focus(), "0": () => label(-1), delete: () => label(-1), backspace: () => label(-1), escape: letGo,
  "+": () => map.zoom(1.4), "=": () => map.zoom(1.4), "-": () => map.zoom(1 / 1.4),
  arrowleft: () => map.pan(60, 0), arrowright: () => map.pan(-60, 0), arrowup: () => map.pan(0, 60), arrowdown: () => map.pan(0, -60),
};
document.addEventListener("keydown", (event) => {
  const writing = event.target instanceof HTMLInputElement, key = event.key.toLowerCase();
  if (writing) {
    if (key === "escape") canvas.focus();
    return;
  }
  if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y")) {
    event.preventDefault();
    act({ do: key === "y" || event.shiftKey ? "redo" : "undo" });
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (/^[1-9]$/.test(key)) {
    choose(Number(key) - 1);
  } else if (KEYS[key] && (event.target === canvas || !key.startsWith("arrow"))) {
    event.preventDefault();
    KEYS[key]();
  }
});

the("new-class").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (the("class-name"));
  if (await act({ do: "class", name: field.value })) field.value = "";
});
the("rename").onclick = async () => {
  const field = /** @type {HTMLInputElement} */ (the("class-name"));
  if (!look || active < 0) { trouble = "Press the class that is to be renamed, with no row selected, then type its new name."; tell(); return; }
  if (await act({ do: "rename", class: look.classes[active], name: field.value })) field.value = "";
};
the("go-row").addEventListener("submit", (event) => {
  event.preventDefault();
  const row = Number(/** @type {HTMLInputElement} */ (the("row-number")).value) - 1;
  if (look && Number.isInteger(row) && row >= 0 && row < look.rows) goTo(row);
});
const BUTTONS = { undo: KEYS.u, redo: KEYS.r, unlabel: KEYS["0"], next: goNext, move: KEYS.m, lasso: KEYS.l, larger: KEYS["+"], smaller: KEYS["-"], whole: KEYS.h };
for (const [id, work] of Object.entries(BUTTONS)) the(id).onclick = work;
the("clear").onclick = () => act({ do: "clear" });
Object.assign(window, { rowMap: map }); // for the console, and for who measures
