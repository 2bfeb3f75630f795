// The listing of citation lookup: keeps the selection of papers, and exports it.
const selected = new Set();
const boxes = () => [...element.querySelectorAll('.lookup-list input[type=checkbox]')];

function show() {
  const all = boxes();
  for (const box of all) box.checked = selected.has(box.value);
  const every = element.querySelector('[data-all]');
  if (!every) return;
  const count = all.filter((box) => box.checked).length;
  every.checked = count > 0 && count === all.length;
  every.indeterminate = count > 0 && count < all.length;
  element.querySelector('[data-selected]').textContent = count ? `${count} selected` : '';
  const papers = JSON.stringify(all.filter((box) => box.checked).map((box) => box.value));
  const format = element.querySelector('[data-formats]').value;
  for (const button of element.querySelectorAll('.lookup-bar button')) {
    button.disabled = !count;
    Object.assign(button.dataset, {papers, format});
  }
}

element.addEventListener('change', (event) => {
  const boxesMeant = event.target.matches('[data-all]') ? boxes() : [event.target];
  for (const box of boxesMeant) {
    if (!box.matches('.lookup-list input')) continue;
    if (event.target.checked) selected.add(box.value);
    else selected.delete(box.value);
  }
  show();
});

// In the capturing phase, so that the nonce is set before the click is sent.
element.addEventListener('click', (event) => {
  const exporting = event.target.closest('.lookup-bar button');
  if (exporting) exporting.dataset.nonce = String(Date.now());
  if (event.target.closest('[data-unfilter]')) {
    document.querySelector('#lookup-form form')?.dispatchEvent(
      new Event('unfilter', {bubbles: true}));
  }
}, true);

// Papers that are no longer shown are deselected, or they would be exported unseen.
watch('value', () => {
  const shown = new Set(boxes().map((box) => box.value));
  for (const id of selected) if (!shown.has(id)) selected.delete(id);
  show();
});
show();
