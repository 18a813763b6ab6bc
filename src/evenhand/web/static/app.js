// Conveniences over pages that work without them.
"use strict";

// Filters take effect as they are chosen; what says nothing stays out of the address.
for (const form of document.querySelectorAll("form[data-auto]")) {
  form.addEventListener("change", () => form.requestSubmit());
  form.addEventListener("submit", () => {
    for (const field of form.elements) {
      if (field.value === "" || (field.name === "order" && field.value === "plan")) field.disabled = true;
    }
  });
}

// A long list is one tall box in which only what can be seen is there: it scrolls to any place without jumps.
const ROW = 58;
const CHUNK = 100;
const KEPT = 12;
const TALLEST = 30_000_000; // browsers stop laying out a little beyond

class LongList {
  constructor(box) {
    this.box = box;
    this.chunks = new Map();
    this.loading = new Set();
    const first = box.querySelector(".rows");
    this.total = Number(box.dataset.total);
    box.classList.add("long");
    box.style.height = `${this.total * ROW}px`;
    document.querySelector("nav.pages.list")?.remove();
    const start = first.start - 1;
    if (start % CHUNK === 0) this.place(start / CHUNK, first);
    else first.remove();
    addEventListener("scroll", () => this.follow(), { passive: true });
    addEventListener("resize", () => this.follow());
    if (start) scrollTo(0, this.top() + start * ROW);
    this.follow();
  }

  top() {
    return this.box.getBoundingClientRect().top + scrollY;
  }

  place(number, rows) {
    rows.style.top = `${number * CHUNK * ROW}px`;
    const behind = [...this.chunks.keys()].filter((other) => other > number).sort((a, b) => a - b)[0];
    this.box.insertBefore(rows, behind === undefined ? null : this.chunks.get(behind));
    this.chunks.get(number)?.remove();
    this.chunks.set(number, rows);
  }

  follow() {
    const first = Math.max(0, Math.floor((scrollY - this.top() + 1) / ROW)); // a pixel for rounding
    const last = Math.min(this.total - 1, first + Math.ceil(innerHeight / ROW));
    for (let number = Math.floor(first / CHUNK); number <= Math.floor(last / CHUNK); number++) this.load(number);
    for (const [number, rows] of this.chunks) {
      if (this.chunks.size > KEPT && Math.abs(number * CHUNK - first) > KEPT * CHUNK && !rows.contains(document.activeElement)) {
        rows.remove();
        this.chunks.delete(number);
      }
    }
    clearTimeout(this.noting);
    this.noting = setTimeout(() => this.note(first), 200);
  }

  // The address names the place, so that it can be sent and come back to.
  note(first) {
    const address = new URL(location);
    const offset = Math.floor(first / CHUNK) * CHUNK;
    if (offset) address.searchParams.set("offset", offset);
    else address.searchParams.delete("offset");
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  }

  async load(number, again = false) {
    if (this.loading.has(number) || (this.chunks.has(number) && !again)) return;
    this.loading.add(number);
    try {
      const query = new URLSearchParams(location.search);
      query.set("offset", number * CHUNK);
      query.set("limit", CHUNK);
      const answer = await fetch(`${location.pathname}/rows?${query}`);
      if (!answer.ok) return;
      const parsed = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".rows");
      if (parsed) this.place(number, parsed);
    } finally {
      this.loading.delete(number);
    }
  }

  grow(total) {
    this.total = total;
    this.box.style.height = `${total * ROW}px`;
    for (const number of this.chunks.keys()) this.load(number, true);
    this.follow();
  }
}

const box = document.querySelector(".cases[data-total]");
const isLong = box && box.dataset.total > CHUNK && box.dataset.total * ROW < TALLEST;
let list = isLong ? new LongList(box) : null;

// j and k walk along a list, Enter opens, left and right go to the neighbours, / searches.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const rows = [...document.querySelectorAll("a.row")];
  const at = rows.indexOf(document.activeElement);
  const go = (rel) => document.querySelector(`a[rel=${rel}]`)?.click();
  const act = {
    j: () => rows[Math.min(at + 1, rows.length - 1)]?.focus(),
    k: () => rows[Math.max(at - 1, 0)]?.focus(),
    ArrowLeft: () => go("prev"),
    ArrowRight: () => go("next"),
    "/": () => document.querySelector("input[type=search]")?.focus(),
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

// A run in progress: its head is asked for anew, and the list grows.
async function refresh() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of ["section.head", "section.runs", "p[role=status]"]) {
    const now = document.querySelector(part);
    const next = page.querySelector(part);
    // What somebody is about to use stays.
    if (now && next && !now.contains(document.activeElement) && !now.querySelector(":checked")) now.replaceWith(next);
  }
  if (!box) return;
  const nextBox = page.querySelector(".cases[data-total]");
  if (list) list.grow(Number(nextBox.dataset.total));
  else if (nextBox && box && !box.contains(document.activeElement)) {
    box.replaceChildren(...nextBox.children);
    box.dataset.total = nextBox.dataset.total;
    if (nextBox.dataset.total > CHUNK) list = new LongList(box);
  }
}

if (document.querySelector("[data-live]")) {
  setTimeout(async function again() {
    if (!document.hidden) await refresh().catch(() => {});
    if (document.querySelector("[data-live]")) setTimeout(again, 1000);
  }, 1000);
}
