"use strict";
// Filters the samples; what is filtered by stands in the address, so that it can be sent.
(() => {
  const form = document.getElementById("filter");
  const samples = [...document.querySelectorAll(".sample")];
  const count = document.getElementById("count");
  const none = document.getElementById("none");
  const fields = ["show", "type", "short", "find"];
  const start = { show: "all", type: "", short: "", find: "" };
  const texts = new Map();

  const textOf = (sample) => {
    if (!texts.has(sample)) {
      texts.set(sample, sample.textContent.toLowerCase().replace(/\s+/g, " "));
    }
    return texts.get(sample);
  };

  const wanted = () => Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));

  const fits = (sample, { show, type, short, find }) => {
    const { kinds, type: own, short: missed } = sample.dataset;
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    return (
      (show === "all" || kinds.split(" ").includes(show)) &&
      (!type || own === type) &&
      (!short || missed.split("|").includes(short)) &&
      words.every((word) => textOf(sample).includes(word))
    );
  };

  const apply = () => {
    const now = wanted();
    let shown = 0;
    for (const sample of samples) {
      sample.hidden = !fits(sample, now);
      shown += sample.hidden ? 0 : 1;
    }
    count.textContent =
      shown === samples.length ? `${shown} samples` : `${shown} of ${samples.length} samples`;
    none.hidden = shown > 0;
  };

  const keep = () => {
    const chosen = Object.entries(wanted()).filter(([name, value]) => value !== start[name]);
    const hash = new URLSearchParams(chosen).toString();
    history.replaceState(null, "", hash ? `#${hash}` : "#samples");
  };

  const choose = (values) => {
    for (const name of fields) {
      form.elements[name].value = values[name];
      // A choice that this page does not have is none.
      if (form.elements[name].value !== values[name]) form.elements[name].value = start[name];
    }
    apply();
  };

  const openSample = (sample) => {
    if (sample.hidden) choose(start);
    sample.querySelector("details").open = true;
    sample.scrollIntoView();
    sample.querySelector("summary").focus({ preventScroll: true });
  };

  const follow = () => {
    const hash = location.hash.slice(1);
    const sample = samples.find((each) => each.id === hash);
    if (sample) {
      openSample(sample);
    } else if (hash.includes("=")) {
      choose({ ...start, ...Object.fromEntries(new URLSearchParams(hash)) });
      document.getElementById("samples").scrollIntoView();
    }
  };

  form.addEventListener("input", () => {
    apply();
    keep();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    choose(start);
    keep();
  });
  form.addEventListener("click", (event) => {
    const { open } = event.target.dataset;
    if (!open) return;
    for (const sample of samples.filter((each) => !each.hidden)) {
      sample.querySelector("details").open = open === "true";
    }
  });
  // A link to where one is already changes nothing in the address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });
  addEventListener("hashchange", follow);

  form.hidden = false;
  apply();
  follow();
})();
