// What the chat does without the server: cards of citations, references to copy, tables in order,
// earlier questions, the way to the lookup.
"use strict";

(() => {
  const WIDE = window.matchMedia("(min-width: 1280px)"); // evidence stands beside the answer
  const LONG = 5; // seconds of a step from which they are shown
  const field = () => document.querySelector("#question textarea");

  // On a wide page a citation lights its card; on a narrow one it opens its paper.
  function light(chip) {
    const exchange = chip.closest(".exchange");
    const cards = exchange.querySelectorAll(`.card[data-numbers~="${chip.dataset.number}"]`);
    const card = [...cards].find((each) => each.checkVisibility());
    if (!card || card.contains(chip)) return false;
    for (const lit of document.querySelectorAll(".card.lit")) lit.classList.remove("lit");
    card.classList.add("lit");
    card.scrollIntoView({ block: "nearest" });
    return true;
  }
  document.addEventListener("click", (event) => {
    const chip = event.target.closest?.(".exchange .chip");
    if (chip && WIDE.matches && light(chip)) event.stopPropagation();
  }, { capture: true });

  // Cites papers in the style that was chosen last, or chooses one; lookup has its own event.
  const NAMES = {
    bibtex: "BibTeX", ris: "RIS", "csl-json": "CSL JSON", apa: "APA", ieee: "IEEE",
    vancouver: "Vancouver", chicago: "Chicago",
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-cite]:not([data-event])");
    if (!button) return;
    const { copy, say, placeOf, citationStyle, rememberStyle, NOT_COPIED } = window.ownPage;
    const style = button.dataset.style ?? citationStyle();
    if (button.dataset.style) rememberStyle(style);
    nameStyle();
    const place = placeOf(button);
    const papers = JSON.parse(button.dataset.cite).map((id) => ["paper", id]);
    const asked = fetch(`cite?${new URLSearchParams([...papers, ["style", style]])}`);
    const answer = await asked.catch(() => null);
    if (!answer?.ok) say("The reference could not be fetched", place);
    else say(await copy(await answer.text(), place) ? `${NAMES[style]} copied` : NOT_COPIED, place);
  });
  function nameStyle() {
    const name = NAMES[window.ownPage.citationStyle()];
    for (const each of document.querySelectorAll("[data-style-named]")) {
      if (each.textContent !== `Copy ${name}`) each.textContent = `Copy ${name}`;
    }
  }
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-print]")) window.print();
  });

  // The head of a column sorts the rows by it, again the other way round.
  function sortBy(head) {
    const rows = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const descending = head.getAttribute("aria-sort") === "ascending";
    const text = (row) => row.cells[column].textContent.trim();
    const sorted = [...rows.rows].sort((one, other) =>
      text(one).localeCompare(text(other), undefined, { numeric: true }));
    for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    rows.append(...(descending ? sorted.reverse() : sorted));
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".sortable [data-sort]");
    if (button) sortBy(button.closest("th"));
  });

  // The question's words are looked up in the tab for that.
  function lookUp(words) {
    document.querySelector("#ways [role=tab][data-tab-id=lookup]")?.click();
    const search = () => {
      const form = document.querySelector("#lookup-form form");
      if (!form) { setTimeout(search, 50); return; }
      form.elements.query.value = words;
      form.elements.query.dispatchEvent(new Event("input", { bubbles: true }));
      form.requestSubmit();
      form.elements.query.focus();
    };
    search();
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-search]");
    if (button) lookUp(button.dataset.search);
  });

  // Arrow up in the empty field edits the last question.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowUp" || event.target !== field() || field().value) return;
    const edits = document.querySelectorAll("#conversation [data-event=edit]");
    if (!edits.length) return;
    event.preventDefault();
    edits[edits.length - 1].click();
  });

  // The welcome goes when a question is sent, not when the server has heard of it.
  function welcome(hidden) {
    const shown = document.querySelector("#conversation .welcome");
    if (shown && shown.hidden !== hidden) shown.hidden = hidden;
  }
  document.addEventListener("keydown", (event) => {
    const sends = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (sends && event.target === field() && field().value.trim()) welcome(true);
  }, { capture: true });
  document.addEventListener("click", (event) => {
    const sends = event.target.closest?.("#send") && field()?.value.trim();
    if (sends || event.target.closest?.("[data-event=example_select]")) welcome(true);
  }, { capture: true });

  // A step that takes long says for how long; in an attribute, so that it is not announced.
  let step = "";
  let since = 0;
  setInterval(() => {
    const status = document.querySelector("#answer .status");
    if ((status?.textContent ?? "") !== step) [step, since] = [status?.textContent ?? "", Date.now()];
    const seconds = Math.round((Date.now() - since) / 1000);
    if (status && seconds >= LONG) status.dataset.waited = `${seconds} s`;
  }, 1000);

  // An error brings the welcome back; a list of all conversations empties the field for its words.
  new MutationObserver(() => {
    if (document.querySelector("#answer .error")) welcome(false);
    nameStyle();
    const words = document.querySelector("#find input");
    const listed = document.querySelector("#past .listed");
    if (words?.value && listed && !listed.dataset.words && document.activeElement !== words) {
      words.value = "";
    }
  }).observe(document.body, { childList: true, subtree: true });
})();
