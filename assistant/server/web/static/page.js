// What the page does without the server: quotes beside citations, copying, the address of the open
// conversation, scrolling. Texts are always set as text, never as HTML.
"use strict";

// An element with data-copy copies the text of that attribute; the outcome is shown and announced.
// While a dialog is open everything outside it is inert, so both happen inside.
function placeOf(element) {
  return element.closest("dialog") ?? document.querySelector(".gradio-container") ?? document.body;
}

function say(text, place) {
  let region = place.querySelector(":scope > .own-said");
  if (!region) {
    region = document.createElement("div");
    region.className = "own-said";
    region.setAttribute("role", "status");
    place.append(region);
  }
  // Screen readers announce a region if its text changes after it was added.
  requestAnimationFrame(() => { region.textContent = text; });
  clearTimeout(region.emptying);
  // Long enough to be read.
  const shownFor = Math.max(2500, 60 * text.length);
  region.emptying = setTimeout(() => { region.textContent = ""; }, shownFor);
}

const NOT_COPIED = "This browser does not allow copying here";

async function copy(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, place);
  }
}

// The fallback if the clipboard cannot be written, as on a page without https.
function copySelected(text, place) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "own-unseen";
  place.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return copied;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const place = placeOf(button);
  const copied = await copy(button.dataset.copy, place);
  say(copied ? "Copied" : NOT_COPIED, place);
});

// The citation style that was chosen last, in lookup or in the dialog of a paper.
const STYLE = "lookup-style";

function citationStyle() {
  try { return localStorage.getItem(STYLE) || "bibtex"; } catch { return "bibtex"; }
}

function rememberStyle(style) {
  try { localStorage.setItem(STYLE, style); } catch { /* it lasts as long as the page */ }
}

// Refuses files that the library does not read: Gradio's own message would show the file's name as
// HTML.
function refuseOthers(event, files, kinds) {
  const others = [...files].filter(({name}) => !kinds.some((kind) =>
    name.toLowerCase().endsWith(kind)));
  if (!others.length) return false;
  event.preventDefault();
  event.stopImmediatePropagation();
  const names = others.map(({name}) => `“${name}”`).join(", ");
  say(`Not added: ${names}. Papers come from files named ${kinds.join(", ")}.`, placeOf(event.target));
  return true;
}

function kindsOf(input) {
  return input.accept.split(",").map((kind) => kind.trim()).filter(Boolean);
}

document.addEventListener("change", (event) => {
  const input = event.target.closest?.("#lib-uploads input[type=file]");
  if (!input) return;
  if (refuseOthers(event, input.files, kindsOf(input))) input.value = "";
}, { capture: true });

document.addEventListener("drop", (event) => {
  const input = event.target.closest?.("#lib-uploads")?.querySelector("input[type=file]");
  if (input) refuseOthers(event, event.dataTransfer.files, kindsOf(input));
}, { capture: true });

// Used by the scripts of single components; `lookup` is a search for when that tab opens.
// Gives the browser a file of text to save, and says so.
function download(name, text, said, place) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "text/plain;charset=utf-8"}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(said, place);
}

window.ownPage = {copy, download, say, placeOf, NOT_COPIED, citationStyle, rememberStyle, lookup: null};

// An element with data-way opens the tab of that name; data-lookup has the fields of a search there.
document.addEventListener("click", (event) => {
  const to = event.target.closest?.("[data-way], [data-lookup]");
  if (!to) return;
  const way = to.dataset.lookup ? "lookup" : to.dataset.way;
  if (to.dataset.lookup) window.ownPage.lookup = JSON.parse(to.dataset.lookup);
  const tabs = [...document.querySelectorAll("#ways [role=tab]")];
  tabs.find((tab) => tab.textContent.trim().toLowerCase() === way)?.click();
});

(() => {
  const EVERY = 5000; // milliseconds between two checks whether the assistant answers
  const SOON = 1000; // and after a check has failed
  const MISSES = 2; // failed checks in a row after which it counts as gone

  const shown = (selector) => document.querySelector(selector);

  // Shows the quote of a citation while it is pointed at or has the focus.
  const tip = document.createElement("div");
  tip.id = "quote";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  const title = tip.appendChild(document.createElement("strong"));
  const quote = tip.appendChild(document.createElement("p"));
  let chip = null;

  function showQuote(of) {
    if (of === chip) return;
    hideQuote();
    chip = of;
    title.textContent = of.dataset.title;
    quote.textContent = of.dataset.quote;
    tip.hidden = false;
    of.setAttribute("aria-describedby", tip.id);
    place();
  }

  function place() {
    const at = chip.getBoundingClientRect();
    const width = Math.min(448, window.innerWidth - 16);
    tip.style.width = `${width}px`;
    tip.style.left = `${Math.max(8, Math.min(at.left, window.innerWidth - width - 8))}px`;
    const above = at.top - tip.offsetHeight - 4;
    tip.style.top = `${above > 8 ? above : at.bottom + 4}px`;
  }

  function hideQuote() {
    if (chip) chip.removeAttribute("aria-describedby");
    chip = null;
    tip.hidden = true;
  }

  const chipAt = (event) => event.target.closest?.(".chip");
  document.addEventListener("pointerover", (event) => {
    if (chipAt(event)) showQuote(chipAt(event));
    else if (!event.target.closest?.("#quote") && chip !== document.activeElement) hideQuote();
  });
  document.addEventListener("focusin", (event) => {
    if (chipAt(event)) showQuote(chipAt(event));
    else hideQuote();
  });
  document.addEventListener("click", hideQuote, { capture: true });
  // A citation reached by keyboard scrolls into view; its quote moves along.
  document.addEventListener("scroll", (event) => {
    if (chip && chip === document.activeElement) place();
    else if (event.target !== tip) hideQuote();
  }, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hideQuote();
    for (const open of document.querySelectorAll("details.menu[open], details.report[open]")) {
      if (open.closest("dialog")) event.preventDefault(); // only the menu closes
      open.open = false;
      if (open.contains(document.activeElement)) open.querySelector("summary").focus();
    }
  });

  document.addEventListener("toggle", (event) => {
    const open = event.target;
    if (open.open && open.matches("details.menu, details.report")) {
      open.lastElementChild.scrollIntoView({ block: "nearest" });
    }
  }, { capture: true });

  // Arrow keys move from tab to tab.
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const list = event.target.closest?.("[role=tab]")?.closest("[role=tablist]");
    if (!step || !list) return;
    const tabs = [...list.querySelectorAll("[role=tab]")];
    tabs.at((tabs.indexOf(event.target) + step) % tabs.length).focus();
    event.preventDefault();
  });

  // A menu closes when one of its actions, or something else, is clicked.
  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll("details.menu[open], details.report[open]")) {
      const isDone = open.contains(event.target) && event.target.closest(":is(.more, .up) > div > *");
      if (isDone || !open.contains(event.target)) open.open = false;
    }
  });

  // The question that is being edited is marked, also when its conversation is shown anew.
  let edited = "";
  function mark(position) {
    edited = position;
    shown(".exchange.edited")?.classList.remove("edited");
    if (!position) return;
    const edit = shown(`#conversation [data-event="edit"][data-position="${position}"]`);
    edit?.closest(".exchange").classList.add("edited");
  }
  document.addEventListener("click", (event) => {
    const edit = event.target.closest("#conversation [data-event='edit']");
    if (edit) mark(edit.dataset.position);
  });

  // On a narrow page a button opens the list of conversations.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#show-past");
    const side = document.querySelector("#side");
    if (button) button.setAttribute("aria-expanded", String(side.classList.toggle("open")));
    else if (event.target.closest("#past .name, #new")) side.classList.remove("open");
  });

  // Announced by screen readers: the status of an answer, and its end.
  const said = document.createElement("div");
  said.id = "said";
  said.className = "unseen";
  said.setAttribute("role", "status");
  const tell = (text) => {
    if (said.textContent !== text) said.textContent = text;
  };

  // The address names the open conversation, so that a reload opens it again.
  function nameConversation(id) {
    const address = new URL(window.location.href);
    if ((address.searchParams.get("c") ?? "") === id) return;
    if (id) address.searchParams.set("c", id);
    else address.searchParams.delete("c");
    window.history.replaceState(null, "", address);
  }

  // A new question goes to the top and its answer grows below it, until the reader scrolls.
  let isAnswering = false;
  let isEditing = false;
  let opened = "";
  let follows = false;
  function changed() {
    const log = shown("#log");
    if (!log) return;
    const answer = shown("#answer .answer");
    const status = shown("#answer .status");
    if (status) tell(status.textContent);
    else if (isAnswering && !answer) tell("The answer has come.");
    const editing = Boolean(shown("#editing"));
    if (isEditing && !editing) mark("");
    else if (editing && !shown(".exchange.edited")) mark(edited);
    isEditing = editing;
    const open = shown("#conversation [data-conversation]") ?? shown("#past [aria-current]");
    const id = open?.dataset.conversation ?? "";
    if (open || shown("#conversation .welcome")) nameConversation(id);
    if ((answer && !isAnswering) || id !== opened) follows = true;
    opened = id;
    isAnswering = Boolean(answer);
    const last = [...document.querySelectorAll("#log :is(.exchange, .error)")].at(-1);
    if (follows && last) {
      log.scrollTop += last.getBoundingClientRect().top - log.getBoundingClientRect().top;
    }
  }

  for (const moved of ["wheel", "touchmove", "pointerdown", "keydown", "focusin"]) {
    document.addEventListener(moved, (event) => {
      if (event.target.closest?.("#log")) follows = false;
    }, { passive: true });
  }

  // Checks whether the assistant still answers and the person is signed in; the page is reloaded
  // when it answers again, or to sign in.
  const gone = document.createElement("div");
  gone.id = "gone";
  gone.setAttribute("role", "alert");
  let misses = 0;

  async function look() {
    const asked = fetch("own/page.js", { method: "HEAD", cache: "no-store" });
    const answer = await asked.catch(() => null);
    const answers = answer !== null;
    misses = answers ? 0 : misses + 1;
    if (answers && (gone.textContent || answer.status === 401)) {
      window.location.reload();
    } else if (misses === MISSES) {
      gone.textContent =
        "The assistant does not answer any more. Start it again; this page then reloads by itself.";
      document.body.prepend(gone);
    }
    setTimeout(look, answers ? EVERY : SOON);
  }
  setTimeout(look, EVERY);

  document.body.append(tip, said);
  // What is only told beside the page moves nothing in it.
  const isBeside = ({ target }) => target.closest("#quote, #said, .own-said");
  new MutationObserver((changes) => {
    if (!changes.every(isBeside)) changed();
  }).observe(document.body, { childList: true, subtree: true });
})();
