"use strict";
// Sorting and filtering of the tables. Without this script all rows are there, in the paper's order.
(() => {
  const NUMBER = /^([+\-−]?)([\d,]*\.?\d+)(?:[eE]([+\-−]?\d+))?(?![\w.])/;
  const BLANK = new Set(["", "–"]);

  // A number's rank: values go far below the smallest float, so magnitudes are compared by their logarithm.
  function rank(text) {
    const [, sign, digits, exponent] = NUMBER.exec(text);
    const mantissa = Number(digits.replaceAll(",", ""));
    if (mantissa === 0) return 0;
    const size = 1e6 + Math.log10(mantissa) + Number((exponent ?? "0").replace("−", "-"));
    return sign === "" || sign === "+" ? size : -size;
  }

  function textOf(row, column) {
    const cell = row.cells[column];
    return (cell.dataset.sort ?? cell.textContent).trim();
  }

  function sortBy(table, column, direction) {
    for (const body of table.tBodies) {
      const rows = [...body.rows].sort((one, other) => one.dataset.place - other.dataset.place);
      if (direction !== "none") {
        const texts = rows.map((row) => textOf(row, column));
        const numbers = texts.every((text) => BLANK.has(text) || NUMBER.test(text) || text === "-inf");
        const key = (text) => (text === "-inf" ? -Infinity : numbers ? rank(text) : text);
        const turn = direction === "descending" ? -1 : 1;
        const found = rows.map((row, place) => ({ row, blank: BLANK.has(texts[place]), place, text: texts[place] }));
        found.sort((one, other) => {
          if (one.blank || other.blank) return one.blank - other.blank || one.place - other.place;
          const [a, b] = [key(one.text), key(other.text)];
          const order = numbers ? (a > b) - (a < b) : a.localeCompare(b, "en", { numeric: true });
          return turn * order || one.place - other.place;
        });
        rows.splice(0, rows.length, ...found.map((item) => item.row));
      }
      body.append(...rows);
    }
  }

  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const body of table.tBodies) [...body.rows].forEach((row, place) => (row.dataset.place = place));
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const direction = NEXT[head.getAttribute("aria-sort")];
        for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", direction);
        sortBy(table, head.cellIndex, direction);
      });
    }
  }

  function filter(form) {
    const section = document.getElementById(form.dataset.filters);
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = form.elements.verdict?.value ? form.elements.verdict.value.split("|") : null;
    const rows = [...section.querySelectorAll("tr[data-row]")];
    for (const row of rows) {
      const heading = row.closest(".item")?.querySelector("h3")?.textContent ?? "";
      const caption = row.closest("table").caption?.textContent ?? "";
      const given = [...row.cells].map((cell) => cell.dataset.sort ?? "").join(" "); // numbers as files have them
      const text = `${heading} ${caption} ${row.textContent} ${given}`.toLowerCase();
      const wanted = !verdicts || verdicts.includes(row.dataset.verdict);
      row.hidden = !(wanted && words.every((word) => text.includes(word)));
    }
    for (const part of section.querySelectorAll(".box, .item")) {
      const own = [...part.querySelectorAll("tr[data-row]")];
      part.hidden = own.length ? own.every((row) => row.hidden) : words.length > 0 || verdicts !== null;
    }
    const shown = rows.filter((row) => !row.hidden).length;
    const status = `${shown} of ${rows.length} ${form.dataset.noun} shown`;
    form.querySelector("[role=status]").textContent = status;
  }

  const forms = [...document.querySelectorAll("form[data-filters]")];
  for (const form of forms) {
    form.hidden = false;
    form.addEventListener("input", () => filter(form));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => filter(form)));
    filter(form); // a browser may bring back what was typed before a reload
  }
  for (const note of document.querySelectorAll(".plain-filter")) note.remove(); // the filter covers it

  // A link into a part that a filter hides shows that part again.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("[hidden]")) return;
    for (const form of forms) {
      if (!document.getElementById(form.dataset.filters).contains(target)) continue;
      form.reset();
      setTimeout(() => target.scrollIntoView());
    }
  }
  addEventListener("hashchange", reveal);

  // What scrolls sideways can be reached and scrolled with the keyboard.
  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (!scrolls) {
        for (const name of ["tabindex", "role", "aria-label"]) target.removeAttribute(name);
        continue;
      }
      const label = target.querySelector("caption")?.textContent.trim().replace(/\s+/g, " ") ??
        (target.querySelector("math") ? "Formula" : "Table or text");
      target.tabIndex = 0;
      target.setAttribute("role", "region");
      target.setAttribute("aria-label", label);
    }
  });
  for (const box of document.querySelectorAll(".scroll")) watcher.observe(box);
})();
