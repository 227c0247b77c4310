(() => {
  "use strict";
  const root = document.documentElement;
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
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

  const rows = all("details.f").map((row) => ({ row, text: row.textContent.toLowerCase() }));
  const search = one("#q");
  const standing = one("#by-standing");
  const install = one("#by-install");
  function filter() {
    const wanted = search.value.toLowerCase();
    let shown = 0;
    for (const { row, text } of rows) {
      const fits = (!standing.value || row.dataset.standing === standing.value)
        && (!install.value || row.dataset.install === install.value)
        && text.includes(wanted);
      row.hidden = !fits;
      shown += fits;
    }
    one("#shown").textContent = `${shown} of ${rows.length} answers`;
  }
  one(".filters").hidden = rows.length === 0;
  for (const field of [search, standing, install]) field.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
  });

  function jump() {
    let id;
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = id && document.getElementById(id);
    if (!target || !target.matches("details.f")) return;
    if (target.hidden) { search.value = standing.value = install.value = ""; filter(); }
    target.open = true;
    const go = () => target.scrollIntoView({ behavior: "instant" });
    go();
    // Rows above are laid out only now that they came near, so the place has moved.
    requestAnimationFrame(() => requestAnimationFrame(go));
  }
  addEventListener("hashchange", jump);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#v-']");
    if (link && link.getAttribute("href") === location.hash) jump();
  });

  let closed = [];
  addEventListener("beforeprint", () => { closed = all("details.f:not([open]):not([hidden])"); closed.forEach((row) => { row.open = true; }); });
  addEventListener("afterprint", () => { closed.forEach((row) => { row.open = false; }); });

  filter();
  jump();
  root.dataset.ready = "yes";
})();
