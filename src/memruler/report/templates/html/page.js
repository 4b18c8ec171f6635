"use strict";
(() => {
  const root = document.documentElement;
  const themes = ["auto", "light", "dark"];
  const key = "memruler-theme";
  const button = document.querySelector("button.theme");

  // A page from a file may not be allowed to keep anything: then the choice lasts for its visit.
  const kept = () => { try { return localStorage.getItem(key); } catch { return null; } };
  const keep = (name) => { try { localStorage.setItem(key, name); } catch { /* not kept */ } };

  const show = (name) => {
    if (name === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", name);
    if (button) button.textContent = `Theme: ${name}`;
  };

  let theme = themes.includes(kept()) ? kept() : "auto";
  show(theme);
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      keep(theme);
      show(theme);
    });
  }

  // On paper nothing can be opened: what was closed is opened for it, and closed again.
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      if (details.closest(".screen-only")) continue;
      details.open = true;
      closed.push(details);
    }
  });
  addEventListener("afterprint", () => {
    for (const details of closed.splice(0)) details.open = false;
  });

  const links = new Map();
  for (const link of document.querySelectorAll(".contents a[href^='#']")) {
    const section = document.getElementById(link.getAttribute("href").slice(1));
    if (section) links.set(section, link);
  }
  if (links.size && "IntersectionObserver" in window) {
    const seen = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target);
        else seen.delete(entry.target);
      }
      const current = [...links.keys()].find((section) => seen.has(section));
      if (!current) return;
      for (const [section, link] of links) {
        if (section === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }, { rootMargin: "-10% 0px -60% 0px" });
    for (const section of links.keys()) watch.observe(section);
  }
})();
