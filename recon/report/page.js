(() => {
  "use strict";
  const root = document.documentElement;
  const one = (selector) => document.querySelector(selector);
  const PAGE = 100; // answers written at a time
  const PRINTED = 1000; // answers up to which a printed page opens every one

  // Each child is a node or a text; nothing of a tree or a host is ever read as markup.
  function make(tag, kind, ...children) {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    node.append(...children.filter((child) => child !== ""));
    return node;
  }

  const remembered = {
    get() { try { return localStorage.getItem("recon-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("recon-theme", value); } catch { /* a file may have no storage */ } },
  };
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = one("#theme");
  const say = () => { button.textContent = dark() ? "Light" : "Dark"; };
  if (["light", "dark"].includes(remembered.get())) root.dataset.theme = remembered.get();
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    remembered.set(root.dataset.theme);
    say();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  say();

  async function unpack(id) {
    const bytes = Uint8Array.from(atob(one(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  let list; // the rows blob
  let answers = []; // one object for each row
  let byAnchor = new Map();
  let details; // the details blob, once it is unpacked
  let asked;
  const detailed = () => asked ??= unpack("#details").then((made) => { details = made; });

  function read(made) {
    list = made;
    for (let at = 0; at < made.rows.length; at += 4) {
      const [install, capability, head, detail] = made.rows.slice(at, at + 4);
      const anchor = `v-${made.installs[install][0]}--${made.capabilities[capability][0]}`;
      answers.push({ install, capability, head, detail, anchor, row: null });
    }
    byAnchor = new Map(answers.map((answer, index) => [answer.anchor, index]));
  }

  // Names may wrap behind their dots and underscores, paths behind slashes and underscores.
  const parted = (text, behind) => text.split(behind).flatMap((part, index) => (index ? [document.createElement("wbr"), part] : [part]));
  const nameOf = (text) => make("code", "", ...parted(text, /(?<=[a-z0-9][._])(?=[a-z0-9])/i));
  const placed = (text, kind = "at") => make("code", kind, ...parted(text, /(?<=\/)|(?<=[a-z0-9]_)(?=[a-z0-9])/i));

  function chip(word) {
    const [style, glyph, text] = list.words[word];
    const sign = make("span", "", glyph);
    sign.setAttribute("aria-hidden", "true");
    return make("span", `v ${style}`, sign, text);
  }

  function link(anchor, ...children) {
    const node = make("a", "", ...children);
    node.href = `#${anchor}`;
    return node;
  }

  // One row, closed; what is below it is written when it opens.
  function rowOf(answer) {
    if (answer.row) return answer.row;
    const [word, , own, at] = list.heads[answer.head];
    const head = make("summary", "", chip(word), make("b", "", list.capabilities[answer.capability][2]), make("span", "", list.installs[answer.install][1]));
    if (own) head.append(make("b", "own", own));
    if (at) head.append(placed(at, ""));
    const row = make("details", "f", head);
    row.id = answer.anchor;
    row.addEventListener("toggle", () => { if (row.open) detailed().then(() => fill(answer)); });
    answer.row = row;
    return row;
  }

  function fill(answer) {
    if (answer.row.childElementCount > 1) return;
    const { texts } = details;
    const [reason, own, assuming, places, routes, gates, members, nearest, searched, shapes, unread] = details.details[answer.detail];
    const [, reach] = list.heads[answer.head];
    const [, label, host] = list.installs[answer.install];
    const said = [list.capabilities[answer.capability][1], reach, texts[assuming] && `assuming ${texts[assuming]}`, `${label} on ${host}`];
    const body = make("div", "in", make("p", "", texts[reason]), make("p", "sub", `${said.filter(Boolean).join(" · ")} · `, link(answer.anchor, "link to this")));
    if (texts[own]) body.append(make("p", "own", texts[own]));
    const listed = (some, write) => make("ul", "", ...some.map((each) => make("li", "", write(each))));
    if (places.length) body.append(make("h3", "", "Places"), ...places.map(placeOf));
    if (routes.length) body.append(make("h3", "", "How the engine's step gets there"), ...routes.flatMap(routeOf));
    if (gates.length) body.append(make("h3", "", "Does not run where"), listed(gates, (gate) => make("code", "", texts[gate])));
    if (members.length) {
      const all = make("ul", "members", ...members.map(memberOf));
      body.append(make("h3", "", "By runner, backend or method"), all);
    }
    if (nearest.length) body.append(make("h3", "", "Nearest"), ...nearest.map(placeOf));
    body.append(make("h3", "", "What was searched"), make("p", "", texts[searched]));
    if (shapes.length || unread.length) body.append(listed([...shapes, ...unread], (each) => texts[each]));
    answer.row.append(body);
  }

  function placeOf(number) {
    const [at, symbol, note, how, source, marked] = details.places[number];
    const told = (text) => details.texts[text];
    const made = make("div", "place", make("p", "", placed(told(at)), " ", nameOf(told(symbol))), make("p", "sub", `${told(note)} (${told(how)})`));
    if (source >= 0) made.append(sourceOf(details.sources[source], marked));
    return made;
  }

  // Coloured pieces are marked by two letters of the private use area, which no source can bring.
  function sourceOf([first, text], marked) {
    const lines = text.split("\n").map((line, number) => {
      const parts = line.split(/\ue000(.)([^\ue001]*)\ue001/);
      const pieces = parts.map((part, at) => (at % 3 === 1 ? "" : at % 3 === 2 ? make("span", `t${parts[at - 1]}`, part) : part));
      return make("tr", number === marked ? "hit" : "", make("td", "no", `${first + number}`), make("td", "", make("pre", "", ...pieces)));
    });
    const box = make("div", "code", make("table", "", make("tbody", "", ...lines)));
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Source lines");
    return box;
  }

  function routeOf([through, stations]) {
    const { texts } = details;
    const path = make("ol", "path", ...stations.map(([symbol, at, onward, sure]) => {
      const hop = make("li", sure ? "" : "unsure", nameOf(texts[symbol]), " ", placed(texts[at]));
      if (texts[onward]) hop.append(" ", make("small", "", texts[onward]));
      return hop;
    }));
    return texts[through] ? [make("p", "sub", `through ${texts[through]}`), path] : [path];
  }

  function memberOf([word, name, reach, reason, at, gates]) {
    const { texts } = details;
    const made = make("li", "", chip(word), " ", make("b", "", texts[name]));
    if (texts[reach]) made.append(" ", make("span", "sub", texts[reach]));
    made.append(` ${texts[reason]}`);
    for (const each of at) made.append(" ", placed(texts[each]));
    for (const gate of gates) made.append(" ", make("small", "", `where ${texts[gate]}`));
    return made;
  }

  // Search: each word must stand in some text of an answer. Texts stand once, so each is looked at once for a word.
  const lower = (some) => some.map((text) => text.toLowerCase());
  let haystack;
  function prepared() {
    if (haystack) return haystack;
    const texts = lower(details.texts);
    const sources = details.sources.map(([, text]) => text.replace(/\ue000./g, "").replaceAll("\ue001", "").toLowerCase());
    const ofDetail = details.details.map(([reason, own, assuming, places, routes, gates, members, nearest, searched, shapes, unread]) => ({
      texts: [reason, own, assuming, searched, ...gates, ...shapes, ...unread, ...routes.flatMap(([through, stations]) => [through, ...stations.flatMap((station) => station.slice(0, 3))]), ...members.flatMap(([, name, reach, why, at, where]) => [name, reach, why, ...at, ...where])],
      places: [...places, ...nearest],
    }));
    const installs = list.installs.map((install) => lower(install.slice(1, 3)).join("\n"));
    const capabilities = list.capabilities.map(([, id, title]) => `${id}\n${title}`.toLowerCase());
    const heads = list.heads.map(([word, reach, own, at]) => `${list.words[word][2]}\n${reach}\n${own}\n${at}`.toLowerCase());
    return haystack = { texts, sources, ofDetail, installs, capabilities, heads };
  }

  function holders(word) {
    const hay = prepared();
    const has = (some) => some.map((text) => text.includes(word));
    const [texts, sources, installs, capabilities, heads] = [hay.texts, hay.sources, hay.installs, hay.capabilities, hay.heads].map(has);
    const places = details.places.map(([at, symbol, note, how, source]) => texts[at] || texts[symbol] || texts[note] || texts[how] || (source >= 0 && sources[source]));
    const found = hay.ofDetail.map((each) => each.texts.some((text) => texts[text]) || each.places.some((place) => places[place]));
    return (answer) => installs[answer.install] || capabilities[answer.capability] || heads[answer.head] || found[answer.detail];
  }

  const search = one("#q");
  const standing = one("#by-standing");
  const install = one("#by-install");
  const box = one("#answers");
  const more = one("#more");
  let shown = []; // answers that fit, in order
  let written = 0;

  function write(count) {
    const upTo = Math.min(shown.length, written + count);
    const rows = shown.slice(written, upTo).map(rowOf);
    box.append(...rows);
    written = upTo;
    more.hidden = written === shown.length;
    more.textContent = `Show more answers (${shown.length - written} left)`;
  }

  async function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) await detailed();
    const tests = words.map(holders);
    shown = answers.filter((answer) =>
      (!standing.value || list.words[list.heads[answer.head][0]][0] === standing.value)
      && (!install.value || list.installs[answer.install][0] === install.value)
      && tests.every((test) => test(answer)));
    box.replaceChildren();
    written = 0;
    write(PAGE);
    if (shown.length <= PRINTED && answers.length > PRINTED) await detailed(); // they may be printed
    one("#shown").textContent = `${shown.length} of ${answers.length} answers`;
  }

  let waiting;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 60); });
  for (const field of [standing, install]) field.addEventListener("input", filter);
  more.addEventListener("click", () => {
    const first = shown[written];
    write(PAGE);
    first.row.querySelector("summary").focus();
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
  });

  async function jump() {
    let anchor;
    try { anchor = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const index = byAnchor.get(anchor);
    if (index === undefined) return;
    const answer = answers[index];
    if (!shown.includes(answer)) {
      search.value = standing.value = install.value = "";
      await filter();
    }
    const row = rowOf(answer);
    if (!row.isConnected) { // far down a long list: it is shown first
      shown = [answer, ...shown.filter((other) => other !== answer)];
      box.replaceChildren();
      written = 0;
      write(PAGE);
    }
    await detailed();
    fill(answer);
    row.open = true;
    row.scrollIntoView({ behavior: "instant" });
    row.querySelector("summary").focus({ preventScroll: true });
  }
  addEventListener("hashchange", jump);
  document.addEventListener("click", (event) => {
    const target = event.target.closest("a[href^='#v-']");
    if (target && target.getAttribute("href") === location.hash) jump();
  });

  // Buttons for batch and size of the tree: the page holds a sentence for each pair, and the one that is asked for is shown.
  function choices(box, number) {
    const points = [...box.querySelectorAll("p[data-batch]")];
    const asked = new URLSearchParams(location.hash.startsWith("#at:") ? location.hash.slice(4) : "");
    const chosen = {};
    const said = make("div");
    said.setAttribute("role", "status");
    said.append(...points);
    const groups = [["batch", "Batch", (value) => value], ["nodes", "Drafts", (value) => (value === "0" ? "best" : value)]];
    const show = () => {
      for (const node of box.querySelectorAll("button")) node.setAttribute("aria-pressed", String(chosen[node.dataset.kind] === node.value));
      for (const point of points) point.hidden = groups.some(([kind]) => point.dataset[kind] !== chosen[kind]);
      none.hidden = points.some((point) => !point.hidden);
    };
    const none = make("p", "", "This pair was not weighed.");
    said.append(none);
    for (const [kind, name, word] of groups) {
      const values = [...new Set(points.map((point) => point.dataset[kind]))].sort((left, right) => left - right);
      chosen[kind] = values.includes(asked.get(`${kind}${number}`)) ? asked.get(`${kind}${number}`) : values[0];
      const row = make("div", "choice", make("span", "", name), ...values.map((value) => {
        const node = make("button", "", word(value));
        node.type = "button";
        node.value = value;
        node.dataset.kind = kind;
        node.addEventListener("click", () => {
          chosen[kind] = value;
          show();
          history.replaceState(null, "", `#at:${new URLSearchParams(groups.map(([each]) => [`${each}${number}`, chosen[each]]))}`);
        });
        return node;
      }));
      row.setAttribute("role", "group");
      row.setAttribute("aria-label", name);
      box.append(row);
    }
    box.append(said);
    show();
  }
  document.querySelectorAll(".points").forEach(choices);

  // The matrix of many installs, some at a time.
  function pages() {
    const pager = one(".pager");
    if (!pager) return;
    const table = one("#matrix table");
    const heads = table.tHead.rows[0];
    const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("group"));
    const size = heads.cells.length - 1;
    const cells = new Map(answers.map((answer) => [`${answer.install} ${list.capabilities[answer.capability][1]}`, answer]));
    const named = rows.map((row) => row.cells[0].querySelector("small").textContent);
    let from = 0;
    const move = (step) => {
      from = Math.max(0, Math.min(from + step, list.installs.length - size));
      for (let column = 0; column < size; column += 1) {
        const [, label, host, counts] = list.installs[from + column];
        heads.cells[column + 1].replaceChildren(label, make("small", "", host), make("small", "", counts));
        rows.forEach((row, index) => {
          const answer = cells.get(`${from + column} ${named[index]}`);
          const [word, reach, own] = answer ? list.heads[answer.head] : [];
          row.cells[column + 1].replaceChildren(...(answer ? [link(answer.anchor, chip(word)), ...[reach, own].filter(Boolean).map((said) => make("small", "", said))] : []));
        });
      }
      one("#which").textContent = `${from + 1} to ${from + size} of ${list.installs.length} installs`;
      one("#before").disabled = from === 0;
      one("#after").disabled = from + size === list.installs.length;
    };
    one("#before").addEventListener("click", () => move(-size));
    one("#after").addEventListener("click", () => move(size));
    pager.hidden = false;
    move(0);
  }

  // Lines with their intervals, both axes by ratio; names stand at the ends, pushed apart where lines meet.
  function drawing({ title, axis, lines }, width) {
    const height = 300, top = 20, bottom = 40, apart = 15;
    const colour = (index) => `var(--line${index % 6})`;
    const points = lines.flatMap(([name, dashed, some], index) => some.map(([x, y, low, high]) => ({ name, dashed, index, x, y, low, high })));
    const [least, most] = [Math.min(...points.map((each) => each.low)) / 1.1, Math.max(...points.map((each) => each.high)) * 1.1];
    const toPixel = (y) => top + (height - top - bottom) * (1 - Math.log(y / least) / Math.log(most / least));
    const toValue = (pixel) => least * (most / least) ** (1 - (pixel - top) / (height - top - bottom));
    const ends = lines.map((line, index) => points.filter((each) => each.index === index).at(-1)).sort((one, other) => other.y - one.y);
    let below = top;
    const floor = height - bottom - apart * (ends.length - 1);
    const labels = ends.map((end, index) => {
      below = Math.max(Math.min(toPixel(end.y), floor + apart * index), below);
      const at = below;
      below += apart;
      return { ...end, y: toValue(at) };
    });
    const of = (dashed) => points.filter((each) => each.dashed === dashed);
    const fill = (each) => colour(each.index);
    const lineOf = (dashed) => Plot.line(of(dashed), { x: "x", y: "y", z: "index", stroke: fill, strokeWidth: 2, strokeDasharray: dashed ? "6 4" : null });
    const narrow = width < 560;
    return Plot.plot({
      width, height, marginTop: top, marginBottom: bottom, marginLeft: 56, marginRight: narrow ? 140 : 230,
      ariaLabel: `${title}; the numbers are in the table`,
      style: { background: "transparent", color: "inherit", fontSize: narrow ? "10px" : "12px" },
      x: { type: "log", label: axis, labelAnchor: "center", ticks: [...new Set(points.map((each) => each.x))], tickFormat: (x) => x.toLocaleString("en") },
      y: { type: "log", label: "µs", domain: [least, most], ticks: 5, tickFormat: (y) => y.toLocaleString("en"), grid: true },
      color: { type: "identity" },
      marks: [
        Plot.areaY(points, { x: "x", y1: "low", y2: "high", z: "index", fill, fillOpacity: 0.2 }),
        lineOf(0), lineOf(1),
        Plot.dot(of(0), { x: "x", y: "y", fill, r: 4 }),
        Plot.dot(of(1), { x: "x", y: "y", fill, r: 4, symbol: "square" }),
        Plot.text(labels, { x: "x", y: "y", text: "name", fill, textAnchor: "start", dx: 10, lineWidth: narrow ? 11.5 : 16.5, textOverflow: "ellipsis-middle" }),
      ],
    });
  }

  async function draw() {
    if (typeof Plot === "undefined") return;
    const charts = await unpack("#charts");
    for (const figure of document.querySelectorAll("figure.chart")) {
      const svg = drawing(charts[figure.dataset.chart], Math.min(figure.clientWidth, 860));
      svg.setAttribute("role", "img");
      svg.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label")); // one name tells it
      figure.append(svg);
    }
  }

  // Paper gets every answer that fits the filters, opened; or else a line that says which ones it lacks.
  let closed = [];
  const lacking = one("#unprinted");
  addEventListener("beforeprint", () => {
    const whole = details && shown.length <= PRINTED;
    lacking.hidden = whole || answers.length === 0;
    if (!whole) {
      const [some, all, most] = [written, shown.length, PRINTED].map((number) => number.toLocaleString("en"));
      lacking.textContent = `On paper: the first ${some} of ${all} answers, not opened. Up to ${most} are printed whole: filter them first.`;
      return;
    }
    write(shown.length);
    closed = shown.filter((answer) => !answer.row.open);
    for (const answer of closed) { fill(answer); answer.row.open = true; }
  });
  addEventListener("afterprint", () => { lacking.hidden = true; for (const answer of closed) answer.row.open = false; closed = []; });

  async function begin() {
    if (typeof DecompressionStream === "undefined") {
      one("#shown").textContent = "This browser is too old to unpack the evidence; recon report --extract PAGE prints it.";
      return;
    }
    read(await unpack("#rows"));
    one(".filters").hidden = answers.length === 0;
    await filter();
    pages();
    await draw();
    if (answers.length <= PRINTED) await detailed();
    await jump();
  }
  begin().then(() => { root.dataset.ready = "yes"; });
})();
