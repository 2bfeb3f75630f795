// The listing of citation lookup: filters, the selection of papers, citing, keys.
const WIDE = matchMedia('(min-width: 56rem)');
const selected = new Set();
const boxes = () => [...element.querySelectorAll('.lookup-list input[type=checkbox]')];
const titles = () => [...element.querySelectorAll('.lookup-title')];
let searched = '';
let filtersAreOpen = false;  // on a narrow page, as the person left them

function show() {
  const all = boxes();
  for (const box of all) {
    box.checked = selected.has(box.value);
    box.closest('li').classList.toggle('selected', box.checked);
  }
  const every = element.querySelector('[data-all]');
  if (!every) return;
  const here = all.filter((box) => box.checked).length;
  every.checked = here > 0 && here === all.length;
  every.indeterminate = here > 0 && here < all.length;
  const others = selected.size - here;
  const elsewhere = others ? `, ${others} on other pages` : '';
  element.querySelector('[data-selected]').textContent =
    selected.size ? `${selected.size} selected${elsewhere}` : '';
  element.querySelector('.lookup-chosen').hidden = !selected.size;
}

// On a wide page they are always open: nothing there could open them.
function openFilters() {
  const filters = element.querySelector('.lookup-filters');
  if (filters) filters.open = WIDE.matches || filtersAreOpen;
}
WIDE.addEventListener('change', openFilters);

function set(values) {
  document.dispatchEvent(new CustomEvent('lookup-set', {detail: values}));
}

element.addEventListener('change', ({target}) => {
  if (target.matches('[data-field]')) { set({[target.dataset.field]: target.value}); return; }
  if (target.matches('[data-formats]')) {
    window.ownPage.rememberStyle(target.value);
    return;
  }
  for (const box of target.matches('[data-all]') ? boxes() : [target]) {
    if (!box.matches('.lookup-list input')) continue;
    if (target.checked) selected.add(box.value);
    else selected.delete(box.value);
  }
  show();
});

// In the capturing phase, so that what to export is set before the click is sent.
element.addEventListener('click', (event) => {
  const exporting = event.target.closest('[data-event=copy]');
  if (exporting) {
    const ids = exporting.dataset.cite ? [exporting.dataset.cite] : [...selected];
    const format = element.querySelector('[data-formats]').value;
    Object.assign(exporting.dataset, {papers: JSON.stringify(ids), format, nonce: Date.now()});
  }
  const setting = event.target.closest('[data-set]');
  if (setting) set(JSON.parse(setting.dataset.set));
  const filters = event.target.closest('.lookup-filters > summary');
  if (filters) filtersAreOpen = !filters.parentElement.open;
}, true);

// Keys move through the papers; Enter opens, as on any button.
const MOVES = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1};
function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !element.offsetParent) return;
  if (event.target.closest('input:not([type=checkbox]), textarea, select, dialog')) return;
  const within = element.contains(event.target);
  if (!within && event.target !== document.body) return;
  if (event.key === '/') {
    event.preventDefault();
    document.querySelector('#lookup-query').focus();
    return;
  }
  const all = titles();
  const item = event.target.closest('.lookup-paper');
  const at = item ? all.indexOf(item.querySelector('.lookup-title')) : -1;
  if (event.key in MOVES) {
    event.preventDefault();
    const next = at + MOVES[event.key];
    if (next < 0) document.querySelector('#lookup-query').focus();
    else all[Math.min(next, all.length - 1)]?.focus();
  } else if (item && event.key === 'x') {
    item.querySelector('input').click();
  } else if (item && event.key === 'c') {
    item.querySelector('.lookup-cite').click();
  }
}
document.addEventListener('keydown', key);

watch('value', () => {
  const search = element.querySelector('.lookup')?.dataset.asked ?? '';
  // A new search deselects papers, or they would be exported unseen; another page does not.
  if (search !== searched) selected.clear();
  searched = search;
  const style = window.ownPage.citationStyle();
  const formats = element.querySelector('[data-formats]');
  if (formats && [...formats.options].some(({value}) => value === style)) formats.value = style;
  openFilters();
  show();
  document.dispatchEvent(new Event('lookup-answered'));
});
