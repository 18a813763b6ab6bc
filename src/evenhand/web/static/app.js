// Small conveniences over pages that work without them.
"use strict";

// Filters take effect as they are chosen; the button stays for the keyboard.
for (const form of document.querySelectorAll("form[data-auto]")) {
  form.addEventListener("change", () => form.requestSubmit());
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.value === "") field.disabled = true;
  });
}

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

// A run in progress is shown anew while it runs, as long as nobody is typing.
const live = document.querySelector("[data-live]");
if (live) {
  setTimeout(function again() {
    if (document.activeElement?.tagName === "INPUT") setTimeout(again, 1500);
    else location.reload();
  }, 1500);
}
