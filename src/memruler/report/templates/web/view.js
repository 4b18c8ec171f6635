"use strict";
(() => {
  const table = document.getElementById("view-runs");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const filter = document.getElementById("view-filter");
  const shown = document.getElementById("view-shown");

  // What is chosen stands in the address, so that a page that is loaded anew still shows it.
  const address = new URLSearchParams(location.hash.slice(1));
  const note = () => history.replaceState(null, "", address.size ? `#${address}` : location.pathname);

  const show = () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits = wanted.every((word) => words.get(row).includes(word));
      row.hidden = !fits;
      count += fits;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
    if (filter.value) address.set("only", filter.value);
    else address.delete("only");
    note();
  };

  const value = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind !== "number") return cell.textContent.trim().toLowerCase();
    return "sort" in cell.dataset ? Number(cell.dataset.sort) : null;
  };

  const sort = (head, way) => {
    const column = head.cellIndex;
    const kind = head.dataset.kind;
    const keyed = rows.map((row, at) => [value(row, column, kind), at, row]);
    keyed.sort(([a, first], [b, second]) => {
      // What has no value stands last, whichever way the others go.
      if (a === null || b === null || a === "" || b === "") {
        return (a === null || a === "") - (b === null || b === "") || first - second;
      }
      const order = kind === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
      return (way === "descending" ? -order : order) || first - second;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way);
    body.append(...keyed.map(([, , row]) => row));
  };

  for (const head of table.tHead.rows[0].cells) {
    if (!head.dataset.kind) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.dataset.kind === "number" ? "descending" : "ascending";
      const down = up === "ascending" ? "descending" : "ascending";
      sort(head, head.getAttribute("aria-sort") === up ? down : up);
    });
  }

  const compare = document.getElementById("view-compare");
  const chosen = document.getElementById("view-chosen");
  const said = chosen.textContent;
  const name = (input) => input.closest("tr").querySelector("th a").textContent;
  const choose = () => {
    const [base, candidate] = ["base", "candidate"].map((side) =>
      table.querySelector(`input[name=${side}]:checked`));
    for (const [side, input] of [["base", base], ["candidate", candidate]]) {
      if (input) address.set(side, input.value);
    }
    note();
    const ready = base && candidate && base.value !== candidate.value;
    compare.hidden = !ready;
    if (ready) {
      compare.href = `/compare?${new URLSearchParams({ base: base.value, candidate: candidate.value })}`;
      chosen.textContent = `${name(base)} (baseline) against ${name(candidate)} (candidate)`;
    } else if (base && candidate) {
      chosen.textContent = "Mark two different runs.";
    } else {
      chosen.textContent = base ? "Now mark a candidate (C)." : candidate ? "Now mark a baseline (B)." : said;
    }
  };

  for (const side of ["base", "candidate"]) {
    for (const input of table.querySelectorAll(`input[name=${side}]`)) {
      if (input.value === address.get(side)) input.checked = true;
    }
  }
  filter.value = address.get("only") ?? "";
  filter.addEventListener("input", show);
  body.addEventListener("change", choose);
  show();
  choose();
})();
