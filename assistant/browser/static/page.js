// What the page does by itself; everything else is asked of the server.
"use strict";

// Copying: an element with data-copy copies what it says; what came of it is shown and said.
// In an open dialog everything outside is inert, so both happen inside.
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
  // A region is read out when its text changes after it was there.
  requestAnimationFrame(() => { region.textContent = text; });
  clearTimeout(region.emptying);
  region.emptying = setTimeout(() => { region.textContent = ""; }, 2500);
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

// Where the clipboard may not be written, as on a page without https: by way of a selection.
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

// What the scripts of single components use.
window.ownPage = {copy, say, NOT_COPIED};
