// Draws the figures in the colours of the style sheet, for a light or a dark screen.
"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];
  const specs = new Map(plots.map((plot) => [plot,
    JSON.parse(document.querySelector(`script[data-for="${plot.id}"]`).textContent)]));

  // Puts values for names of the style sheet, "var(--name)", wherever they stand.
  const coloured = (value, style) => {
    if (typeof value === "string") {
      return value.replace(/^var\((--[\w-]+)\)$/, (_, name) => style.getPropertyValue(name).trim());
    }
    if (Array.isArray(value)) return value.map((item) => coloured(item, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
    }
    return value;
  };

  const merge = (base, more) => {
    const result = { ...base };
    for (const [key, value] of Object.entries(more)) {
      const both = [result[key], value].every(
        (item) => item && typeof item === "object" && !Array.isArray(item));
      result[key] = both ? merge(result[key], value) : value;
    }
    return result;
  };

  const layoutOf = (spec, style) => {
    const narrow = innerWidth < 640;
    const axis = { gridcolor: "var(--grid)", zerolinecolor: "var(--grid)", linecolor: "var(--line)",
      automargin: true, ticks: "", title: { font: { size: 12 }, standoff: 8 } };
    let layout = {
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 12.5,
        color: "var(--ink)" },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 10, r: narrow ? 8 : 20, t: 34, b: 10, autoexpand: true },
      legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", font: { size: 12 } },
      hoverlabel: { bgcolor: "var(--surface)", bordercolor: "var(--line)",
        font: { color: "var(--ink)", size: 12 }, align: "left" },
      hovermode: "closest", showlegend: spec.data.length > 1,
      // A finger that moves the page must not zoom a figure by accident.
      dragmode: narrow ? false : "zoom",
    };
    const own = { ...spec.layout };
    if (narrow) delete own.dragmode;
    for (const name of ["xaxis", "yaxis", ...Object.keys(own)]) {
      if (/^[xy]axis\d*$/.test(name)) layout[name] = merge(axis, own[name] || {});
    }
    const axes = Object.fromEntries(
      Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name)));
    layout = merge(layout, { ...own, ...axes });
    for (const note of layout.annotations || []) note.font = { size: 12, color: "var(--ink)" };
    for (const item of Object.values(layout)) {
      if (item && item.rangeslider) {
        item.rangeslider = { bgcolor: "var(--paper)", bordercolor: "var(--line)", borderwidth: 1,
          ...item.rangeslider };
      }
    }
    return coloured(layout, style);
  };

  const drawn = new Set();
  const draw = async (plot) => {
    const spec = specs.get(plot);
    const style = getComputedStyle(root);
    const config = { responsive: true, displaylogo: false, scrollZoom: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { filename: plot.id, scale: 2 } };
    await Plotly.react(plot, coloured(spec.data, style), layoutOf(spec, style), config);
    drawn.add(plot);
    root.dataset.drawn = drawn.size;
  };

  const closed = (plot) => plot.closest("details:not([open])");
  const drawAll = async () => {
    root.dataset.drawn = drawn.size;
    root.dataset.figures = plots.length;
    for (const plot of plots) {
      if (!closed(plot)) await draw(plot);
    }
    root.dataset.ready = "yes";
  };
  dark.addEventListener("change", () => drawn.forEach(draw));
  for (const fold of document.querySelectorAll("details")) {
    fold.addEventListener("toggle", () => {
      for (const plot of fold.open ? fold.querySelectorAll(".plot") : []) {
        if (!drawn.has(plot) && !closed(plot)) draw(plot);
      }
    });
  }

  const copy = async (button) => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "copied";
    } catch {
      // Pages from a file may not write to the clipboard: select the text instead.
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  };
  document.addEventListener("click", (event) => {
    if (event.target.matches("[data-copy]")) copy(event.target);
  });

  // A link to a fold opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);
  reveal();

  const links = new Map([...document.querySelectorAll(".toc a")].map((a) => [a.hash.slice(1), a]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.classList.remove("here"));
      links.get(entry.target.id).classList.add("here");
    }
  }, { rootMargin: "0px 0px -75% 0px" });
  document.querySelectorAll("section").forEach((section) => watch.observe(section));

  drawAll();
})();
