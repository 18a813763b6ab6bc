"use strict";
const form = document.getElementById("filters");
const cases = [...document.querySelectorAll(".case")];
const show = () => {
  const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
  const status = form.elements.status.value;
  let count = 0;
  for (const each of cases) {
    const text = words.length ? each.textContent.toLowerCase() : "";
    each.hidden = (status && each.dataset.status !== status) || !words.every((word) => text.includes(word));
    count += !each.hidden;
  }
  form.elements.count.value = `${count} of ${cases.length}`;
};
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
show();
