// The explorer of queries: filters, a list of pages, and one query in full.
// Data comes from a source with three calls: overview(), find(filter, offset, limit), detail(row).
// Texts are hostile: they enter the page as text nodes alone, what cannot be seen made visible.
"use strict";
(() => {
  const PAGE = 50;
  const SHOWN = 600; // characters of a text before "show more"
  const WAYS = { up: "▲ better", down: "▼ worse", other: "◆ changed elsewhere" };
  const STEP = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

  // ---- text ----
  // A joiner between two pictures makes one picture of them, and hides nothing.
  const UNSEEN = new RegExp(
    "(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\uFE0F?)\\u200D|\\u200D(?!\\p{Extended_Pictographic})|" +
    "[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4" +
    "\\u17B5\\u180B-\\u180E\\u200B\\u200C\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164" +
    "\\uFEFF\\uFFA0\\uFFF9-\\uFFFB\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E0FFF}]", "gu");

  const nameOf = (sign) => {
    const code = sign.codePointAt(0);
    return code < 0x20 ? String.fromCodePoint(0x2400 + code)
      : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  };
  const plain = (text) => String(text).replace(UNSEEN, nameOf);

  const say = (node, text) => {
    let from = 0;
    for (const found of text.matchAll(UNSEEN)) {
      if (found.index > from) node.append(text.slice(from, found.index));
      node.append(make("span", "unseen", nameOf(found[0])));
      from = found.index + found[0].length;
    }
    node.append(text.slice(from));
    return node;
  };

  const make = (tag, kind, ...children) => {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const set = (node, attributes) => {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  // A name or an id: its own direction, which cannot turn what stands around it.
  const name = (text) => say(make("bdi"), String(text));
  const count = (number) => number.toLocaleString("en");
  const number = (value) => Number(value.toPrecision(6)).toString();
  const words = (reason) => plain(reason.replaceAll("_", " "));
  const head = (text, most) => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, ""); // no half a sign

  const block = (text, kind = "text") => {
    if (text.text === undefined || text.text === null) {
      return make("p", `${kind} absent`, `not known: ${plain(text.why ?? "")}`);
    }
    const whole = text.text;
    const body = set(make("p", kind), { dir: "auto" });
    if (whole === "") return make("p", `${kind} absent`, "empty");
    const far = text.length - [...whole].length;
    const rest = far > 0 ? make("p", "absent", `${count(far)} more characters are not in this page`) : null;
    if (whole.length <= SHOWN * 1.2) return make("div", "", say(body, whole), rest);
    const begin = head(whole, SHOWN);
    const more = make("button", "more", `Show ${count(whole.length - begin.length)} more characters`);
    more.type = "button";
    more.addEventListener("click", () => {
      body.replaceChildren();
      say(body, whole).tabIndex = -1;
      more.replaceWith(rest ?? "");
      body.focus({ preventScroll: true });
    });
    return make("div", "", say(body, begin + "…"), more);
  };

  // ---- sources ----
  class HttpSource {
    constructor(url, query) { Object.assign(this, { url, query }); }

    async ask(call, params) {
      const asked = new URLSearchParams(this.query);
      for (const [key, value] of Object.entries(params)) asked.append(key, String(value));
      const reply = await fetch(`${this.url}/${call}?${asked}`, { credentials: "same-origin" });
      if (!reply.ok) throw new Error(head(await reply.text(), 300) || `status ${reply.status}`);
      return reply.json();
    }

    overview() { return this.ask("overview", {}); }
    find(filter, offset, limit) { return this.ask("find", { ...filter, offset, limit }); }
    detail(row) { return this.ask("detail", { row }); }
  }

  class EmbeddedSource {
    constructor(data) {
      this.data = data;
      this.place = new Map(data.rows.map((row, at) => [row[0], at]));
      this.sought = data.rows.map((row) =>
        [this.text(row[8]).text ?? "", row[2], row[1]].map((text) => text.toLowerCase()));
    }

    async overview() { return { ...this.data.overview, held: this.data.rows.length }; }

    text(at) {
      if (typeof at === "string") return { why: at };
      const text = this.data.texts[at];
      return { text, length: this.data.lengths[at] ?? [...text].length };
    }

    passes(row, at, filter) {
      const values = row[6]; // a reason stands in place of a value
      const tests = {
        category: (wanted) => row[3] === wanted,
        stage: (wanted) => row[5].includes(wanted),
        changed: (wanted) => (wanted === "any" ? row[4] !== null : row[4] === wanted),
        excluded: (wanted) => values.some((value) => typeof value === "string") === wanted,
        missed: (wanted) => values.some((v) => typeof v === "number" && v < 1) === wanted,
        text: (wanted) => this.sought[at].some((text) => text.includes(wanted.toLowerCase())),
      };
      return Object.entries(filter).every(([key, wanted]) => tests[key](wanted));
    }

    async find(filter, offset, limit) {
      const found = this.data.rows.filter((row, at) => this.passes(row, at, filter));
      const rows = found.slice(offset, offset + limit).map((row) => ({
        row: row[0], key: row[1], id: row[2], category: row[3], changed: row[4], stage: row[5],
        value: row[6].map((value) => (typeof value === "string" ? null : value)),
        reason: row[6].map((value) => (typeof value === "string" ? value : null)),
        rank: row[7], question: this.text(row[8]),
      }));
      return { total: found.length, offset, rows };
    }

    async detail(number) {
      const row = this.data.rows[this.place.get(number)];
      if (row === undefined) throw new Error("this query is not in this page");
      return {
        row: row[0], key: row[1], id: row[2], category: row[3], changed: row[4],
        question: this.text(row[8]), gold: this.text(row[9]), query: row[10],
        answerable: row[11], asked: row[12],
        evidence: row[13].map(([session, turn, text, rank, stage]) =>
          ({ session, turn, text: this.text(text), rank, stage })),
        unresolved: row[14],
        runs: row[15].map((run, at) => run && this.run(run, at, row[15])),
      };
    }

    run([items, scores, , earns, error, stage, values, answers], at, runs) {
      const { data } = this;
      const credit = new Map();
      for (let i = 0; i < earns.length; i += 2) credit.set(earns[i], this.credit(earns[i + 1]));
      return {
        hits: items.map((item, place) => {
          const [id, kind, sources, text] = data.items[item];
          return {
            rank: place + 1, score: scores[place], item: id, kind, sources, text: this.text(text),
            credit: credit.get(place) ?? {}, moved: this.moved(runs, at, place),
          };
        }),
        error: error === null ? null : this.text(error),
        stage,
        values: data.metrics[at].map(([level, metric], place) => {
          const value = typeof values === "string" ? values : values[place];
          const absent = typeof value === "string";
          return { level, metric, value: absent ? null : value, reason: absent ? value : null };
        }),
        answers: answers.map(([of, text, grades]) => ({
          name: data.names[of],
          text: this.text(text),
          grades: grades.map(([grade, value = null, reason = null, label = null]) =>
            ({ name: data.names[grade], value, reason, label })),
        })),
      };
    }

    credit(bits) {
      const found = {};
      this.data.targets.forEach((target, t) => {
        const levels = this.data.levels.filter((_, l) => bits & (1 << (2 * t + l)));
        if (levels.length) found[target] = levels;
      });
      return found;
    }

    // The candidate's hits tell at which rank the baseline had them, 0 for nowhere.
    moved(runs, at, place) {
      const came = runs[1]?.[2];
      if (!came || !runs[0]) return null;
      if (at === 1) return came[place] ? came[place] - (place + 1) : null;
      const went = came.indexOf(place + 1);
      return went < 0 ? null : place - went;
    }
  }

  // ---- pieces of the page ----
  const valueOf = (value, reason) => {
    if (value === null) return make("span", "chip none", `– ${words(reason ?? "no value")}`);
    const [sign, kind] = value === 1 ? ["✓", "good"] : value === 0 ? ["✗", "bad"] : ["◐", "part"];
    return make("span", `chip ${kind}`, `${sign} ${number(value)}`);
  };

  const scoreOf = (run, { level, metric }) => {
    const of = run?.values.find((value) => value.level === level && value.metric === metric);
    return of ? valueOf(of.value, of.reason) : valueOf(null, run ? "not scored at this cut-off" : "not in this run");
  };

  const place = (session, turn) =>
    (turn === null ? `session ${session}` : `session ${session}, turn ${turn}`);

  class Explorer {
    constructor(root, source) {
      Object.assign(this, { root, source, rows: [], total: 0, offset: 0, active: 0, asked: 0, open: null });
      const part = (kind) => root.querySelector(`.explorer-${kind}`);
      this.status = part("status");
      this.options = part("rows");
      this.detail = part("query");
      this.form = part("filters");
      this.search = this.form.querySelector("input");
      this.pages = [...part("pages").children];
    }

    async start() {
      this.about = await this.source.overview();
      this.root.querySelector(".explorer-notes").append(...this.notes(this.about));
      this.choices(this.about);
      this.listen();
      this.root.querySelector(".explorer-body").hidden = false;
      const row = this.linked() ?? 0;
      await this.list(row - (row % PAGE), row % PAGE);
      if (this.linked() !== null) this.show(this.linked());
    }

    listen() {
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.addEventListener("input", () => this.list(0));
      for (const button of this.pages) {
        button.addEventListener("click", () => this.list(this.offset + PAGE * button.dataset.step));
      }
      this.options.addEventListener("click", (event) => {
        const option = event.target.closest("[role=option]");
        if (option) this.show(Number(option.dataset.row));
      });
      this.root.addEventListener("keydown", (event) => this.key(event));
      document.addEventListener("keydown", (event) => {
        const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
        if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.search.focus();
      });
      addEventListener("hashchange", () => {
        const row = this.linked();
        if (row !== null && row !== this.open) this.show(row);
      });
    }

    notes(about) {
      const notes = [];
      const note = (kind, ...what) => notes.push(make("p", kind, ...what));
      about.runs.forEach((run, at) => {
        const mean = run.mean === null ? "absent" : number(run.mean);
        const headline = run.metric === null ? "there is no headline" : `${run.metric} at the ${run.level} ` +
          `level is ${mean} over ${count(run.counted)} of ${count(run.of)} queries`;
        const part = about.runs.length > 1 ? `${["baseline", "candidate"][at]}, ` : "";
        note("", make("strong", "", name(run.name)), ` (${part}`, name(run.system), ", population ",
          name(run.population), `): ${headline}. For stages, a query counts as ${plain(run.stages)}.`);
        for (const [target, why] of Object.entries(run.targets)) {
          if (why !== null) note("absent", `Credit under ${target} is not known: ${plain(why)}.`);
        }
        for (const of of run.notes) note("", "Note: ", name(of), ".");
      });
      if (about.held < about.rows) {
        note("", `This page holds ${count(about.held)} of ${count(about.rows)} queries: first those that ` +
          "changed, then those that were missed. memruler view shows all.");
      }
      if (about.why.length) {
        notes.push(make("details", "",
          make("summary", "", "What changed is not offered: these two runs do not compare"),
          make("ul", "", ...about.why.map((reason) => make("li", "", name(reason))))));
      }
      return notes;
    }

    choices(about) {
      const option = (value, text, of) => [value, `${plain(text)} (${count(of)})`];
      const counts = (list) => list.map((of) => option(of.name, of.name, of.of));
      const or = (of) => [option("true", "yes", of), option("false", "no", about.rows - of)];
      const ways = Object.entries(about.changed ?? {});
      const all = ways.reduce((sum, [, of]) => sum + of, 0);
      const offered = {
        category: counts(about.categories), stage: counts(about.stages),
        changed: ways.length ? [option("any", "any", all), ...ways.map(([way, of]) => option(way, WAYS[way], of))] : [],
        missed: or(about.missed), excluded: or(about.excluded),
      };
      for (const select of this.form.querySelectorAll("select")) {
        const options = offered[select.dataset.key];
        select.append(...options.map(([value, text]) => new Option(text, value)));
        select.closest("label").hidden = options.length === 0;
      }
    }

    filter() {
      const found = {};
      for (const { dataset: { key }, value } of this.form.querySelectorAll("[data-key]")) {
        if (value !== "") found[key] = key === "missed" || key === "excluded" ? value === "true" : value;
      }
      return found;
    }

    // -- list --

    async list(offset, active = 0) {
      const asked = ++this.asked; // a slow reply to an older question must not win
      try {
        const found = await this.source.find(this.filter(), Math.max(offset, 0), PAGE);
        if (asked !== this.asked) return;
        Object.assign(this, { rows: found.rows, total: found.total, offset: found.offset });
      } catch (error) {
        return void (this.status.textContent = `The list cannot be read: ${plain(error.message)}`);
      }
      if (!this.rows.length && this.total) return this.list(0);
      const last = this.offset + this.rows.length;
      const here = `Queries ${count(this.offset + 1)} to ${count(last)} of ${count(this.total)}`;
      this.status.textContent = this.total ? here : "No query passes these filters";
      this.pages[0].disabled = this.offset === 0;
      this.pages[1].disabled = last >= this.total;
      this.options.replaceChildren(...this.rows.map((row) => this.option(row)));
      this.options.scrollTop = 0;
      this.point(active < 0 ? this.rows.length - 1 : active);
    }

    option(row) {
      const line = make("span", "chips", name(row.category));
      if (row.changed) line.append(make("span", `chip ${row.changed}`, WAYS[row.changed]));
      row.value.forEach((value, at) => line.append(this.side(at,
        valueOf(value, row.reason[at]), row.stage[at] && make("span", "chip", `evidence lost at ${row.stage[at]}`))));
      const cut = row.question.text ?? "";
      const shown = head(cut, 200) + (row.question.length > 200 ? "…" : "");
      const question = set(say(make("span", "question"), shown), { dir: "auto" });
      const made = set(make("li", "", question, line), {
        role: "option", id: `explorer-row-${row.row}`, "aria-selected": String(row.row === this.open),
      });
      made.dataset.row = row.row;
      return made;
    }

    // What is said of one run; its name stands before it where there are two.
    side(at, ...what) {
      const { runs } = this.about;
      return make("span", "side", runs.length > 1 ? name(runs[at].name) : null, ...what.filter((of) => of));
    }

    point(at) {
      this.active = Math.min(Math.max(at, 0), this.rows.length - 1);
      [...this.options.children].forEach((option, place) =>
        option.classList.toggle("active", place === this.active));
      const option = this.options.children[this.active];
      if (!option) return this.options.removeAttribute("aria-activedescendant");
      this.options.setAttribute("aria-activedescendant", option.id);
      const box = this.options.getBoundingClientRect();
      const own = option.getBoundingClientRect();
      if (own.top < box.top) this.options.scrollTop -= box.top - own.top;
      if (own.bottom > box.bottom) this.options.scrollTop += own.bottom - box.bottom;
    }

    async move(step) {
      const at = this.active + step;
      if (at >= 0 && at < this.rows.length) return this.point(at);
      const last = this.offset + this.rows.length;
      if (step > 0 && last < this.total) return this.list(last, 0);
      if (step < 0 && this.offset > 0) return this.list(this.offset - PAGE, -1);
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.target.closest("input, select");
      const inDetail = this.detail.contains(event.target);
      const arrow = event.key.startsWith("Arrow");
      if (event.key === "Escape") {
        this.options.focus();
      } else if (event.key in STEP && !typing && !(arrow && inDetail)) {
        event.preventDefault();
        const moved = this.move(STEP[event.key]);
        if (inDetail) Promise.resolve(moved).then(() => this.opened());
      } else if (event.key === "Enter" && (event.target === this.options || event.target === this.search)) {
        event.preventDefault();
        this.opened();
      }
    }

    opened() {
      if (this.rows.length) this.show(this.rows[this.active].row);
    }

    linked() {
      const found = /^#q=(\d{1,9})$/.exec(location.hash);
      return found ? Number(found[1]) : null;
    }

    // -- one query --

    async show(row) {
      this.open = row;
      const failed = (error) => [make("p", "absent", `The query cannot be shown: ${plain(error.message)}`)];
      const parts = await this.source.detail(row).then((query) => this.parts(query)).catch(failed);
      if (this.open !== row) return;
      for (const option of this.options.children) {
        option.setAttribute("aria-selected", String(Number(option.dataset.row) === row));
      }
      const at = this.rows.findIndex((of) => of.row === row);
      if (at >= 0) this.point(at);
      if (location.hash !== `#q=${row}`) location.hash = `q=${row}`;
      this.detail.replaceChildren(...parts);
      this.detail.focus({ preventScroll: true });
      this.detail.scrollIntoView({ block: "nearest" });
    }

    parts(query) {
      const facts = make("dl", "explorer-facts");
      const fact = (term, ...what) => facts.append(make("dt", "", term), make("dd", "", ...what));
      fact("Query", name(query.id), " of ", name(query.key), `, position ${query.query}`);
      fact("Category", name(query.category));
      if (query.asked) fact("Asked", query.asked);
      fact("Answer", query.answerable ? block(query.gold) : "the data set says that there is none");
      if (query.changed) fact("Changed", WAYS[query.changed]);
      query.runs.forEach((run, at) => {
        const head = this.about.runs[at];
        if (head.metric !== null) fact(this.side(at, `${head.metric}, ${head.level}`), scoreOf(run, head));
      });
      return [make("h3", "", "Question"), block(query.question, "text question"), facts,
        ...this.evidence(query), ...this.values(query), make("h4", "", "Hits"),
        make("div", `explorer-runs of-${query.runs.length}`,
          ...query.runs.map((run, at) => this.run(query, run, at)))];
    }

    evidence(query) {
      const parts = [make("h4", "", "Evidence")];
      const none = "The data set names none under this population's rule.";
      if (!query.evidence.length) parts.push(make("p", "absent", none));
      for (const of of query.evidence) {
        const told = query.runs.map((run, at) => {
          const rank = of.rank[at] === null ? "not among the hits" : `at rank ${of.rank[at]}`;
          const lost = of.stage[at] ? `, lost at ${of.stage[at]}` : "";
          return this.side(at, make("span", "chip", run === null ? "query not in this run" : rank + lost));
        });
        const where = make("p", "chips", make("span", "chip", place(of.session, of.turn)), ...told);
        parts.push(make("div", "explorer-evidence", where, block(of.text)));
      }
      if (query.unresolved.length) {
        const names = query.unresolved.flatMap((of, at) => [at ? ", " : "", name(of)]);
        parts.push(make("p", "absent", "References that lead to no turn: ", ...names));
      }
      return parts;
    }

    values(query) {
      const all = new Map(query.runs.flatMap((run) =>
        (run?.values ?? []).map(({ level, metric }) => [`${metric}, ${level}`, { level, metric }])));
      const cell = (tag, scope, text) => set(make(tag, "", text), scope ? { scope } : {});
      const heads = ["Metric and level", ...this.about.runs.map((run) => name(run.name))];
      const body = [...all].map(([term, wanted]) => make("tr", "", cell("th", "row", term),
        ...query.runs.map((run) => cell("td", "", scoreOf(run, wanted)))));
      const table = make("table", "", make("thead", "", make("tr", "", ...heads.map((of) => cell("th", "col", of)))),
        make("tbody", "", ...body));
      const box = set(make("div", "table", table), { tabindex: "0", role: "region", "aria-label": "Scores of this query" });
      return all.size ? [make("details", "", make("summary", "", "Scores of this query"), box)] : [];
    }

    run(query, run, at) {
      const label = make("h5", "", name(this.about.runs[at].name));
      if (run === null) return make("section", "", label, make("p", "absent", "This run lacks the query."));
      const made = make("section", "", label);
      if (run.error) made.append(make("p", "bad", "The search failed:"), block(run.error));
      for (const answer of run.answers) {
        const grades = answer.grades.map((grade) => make("span", "chip", name(grade.name), ": ",
          grade.value === null ? `– ${words(grade.reason ?? "no value")}` : number(grade.value),
          grade.label === null ? null : " ", grade.label === null ? null : name(grade.label)));
        const line = make("p", "chips", "Answer of ", name(answer.name), ...grades);
        made.append(make("div", "explorer-answer", line, block(answer.text)));
      }
      const both = query.runs.length > 1 && query.runs.every((of) => of !== null);
      if (!run.hits.length) made.append(make("p", "absent", "Nothing was returned."));
      made.append(make("ol", "explorer-hits", ...run.hits.map((hit) => this.hit(hit, both ? at : null))));
      return made;
    }

    hit(hit, side) {
      const line = make("p", "chips", make("span", "rank", `${hit.rank}`));
      if (side !== null) line.append(this.moved(hit, side));
      const earns = Object.entries(hit.credit);
      for (const [target, levels] of earns) {
        line.append(make("span", "chip good", `✓ ${target}: ${levels.join(", ")}`));
      }
      const score = hit.score === null ? "no score" : `score ${number(hit.score)}`;
      const sources = hit.sources.map(([session, turn]) => place(session, turn)).join("; ");
      const from = make("p", "from", `${score} · `, name(hit.kind), " ", name(hit.item),
        ` · ${sources || "source not known"}`);
      return make("li", earns.length ? "earns" : "", line, block(hit.text), from);
    }

    moved({ moved, rank }, side) {
      if (moved === null) return make("span", `chip ${side ? "new" : "gone"}`, side ? "+ new" : "− gone");
      if (moved === 0) return make("span", "chip same", "= same rank");
      const other = side ? rank + moved : rank - moved;
      return make("span", `chip ${moved > 0 ? "up" : "down"}`,
        `${moved > 0 ? "▲ up" : "▼ down"} ${Math.abs(moved)}, ${side ? "from" : "to"} ${other}`);
    }
  }

  const start = () => {
    for (const root of document.querySelectorAll("[data-explorer]")) {
      const { explorer, url, query } = root.dataset;
      const source = explorer === "http" ? new HttpSource(url, query)
        : new EmbeddedSource(JSON.parse(document.getElementById("explorer-data").textContent));
      new Explorer(root, source).start().catch((error) => {
        const failed = root.querySelector(".explorer-failed");
        failed.textContent = `The explorer cannot start: ${plain(error.message)}`;
        failed.hidden = false;
      });
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
