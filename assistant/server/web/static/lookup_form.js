// The form of citation lookup; runs after the listeners that send a submitted form. Its hidden
// fields are set by the buttons of the listing, and by any element with data-lookup.
const form = () => element.querySelector('form');
const UNFILTERED = {author: '', venue: '', year: '', decision: '', weak: '', page: '1'};

function search(values) {
  for (const [name, value] of Object.entries({page: '1', ...values})) {
    const field = form().elements[name];
    if (field) field.value = value;
  }
  asks = true;
  form().requestSubmit();
}

// One search at a time, so that the papers of the last one are shown last. Gradio's own
// `always_last` would repeat a search without the fields of the form.
const PATIENCE = 10000;  // milliseconds after which an answer counts as lost
let askedAt = 0;
let again = false;
let asks = false;  // whether a button asks, and not the person who typed
let typed = '';
element.addEventListener('submit', (event) => {
  const {query, weak, page} = form().elements;
  if (!asks) page.value = '1';
  if (query.value !== typed) weak.value = '';
  typed = query.value;
  asks = false;
  if (askedAt && Date.now() - askedAt < PATIENCE) {
    event.preventDefault();
    event.stopImmediatePropagation();
    again = true;
    return;
  }
  askedAt = Date.now();
}, true);

document.addEventListener('lookup-answered', () => {
  askedAt = 0;
  if (!again) return;
  again = false;
  asks = true;
  form().requestSubmit();
});
document.addEventListener('lookup-set', ({detail}) => search(detail));

// Whenever the tab is opened the papers are listed anew: some may have been added. Another view, such
// as the map of the library, may have left a search.
new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  const left = window.ownPage.lookup;
  window.ownPage.lookup = null;
  search(left ? {...UNFILTERED, query: '', ...left} : {page: form().elements.page.value || '1'});
}).observe(element);

element.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown') return;
  event.preventDefault();
  document.querySelector('#lookup-listing .lookup-title')?.focus();
});
