// The dialog of tables and pins; this is the js_on_load of the component that holds its HTML.
// The dialog is outside that component, because Gradio changes its content in place and would
// remove the dialog's `open` attribute.
const dialog = document.createElement('dialog');
dialog.className = 'research-dialog';
dialog.setAttribute('aria-labelledby', 'research-title');
(element.closest('.gradio-container') ?? document.body).append(dialog);

const fit = () => dialog.classList.toggle('narrow', window.innerWidth <= 760);
window.addEventListener('resize', fit);
fit();

let opener = null;
let closed = ''; // the run whose dialog was closed: what still comes of it is not shown

watch('value', () => {
  if (!props.value) return;
  const parsed = document.createElement('template');
  parsed.innerHTML = props.value;
  const {run, say} = parsed.content.querySelector('[data-run]')?.dataset ?? {};
  if (say) { window.ownPage.say(say, window.ownPage.placeOf(element)); return; }
  if (run === closed) return;
  const shown = dialog.querySelector('[data-run]');
  if (dialog.open && shown?.dataset.run === run) {
    update(parsed.content.querySelector('.research-body'));
    return;
  }
  if (!dialog.open) opener = document.activeElement;
  dialog.replaceChildren(...parsed.content.childNodes);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('#research-title')?.focus({preventScroll: true});
});

// What is typed into the field of the columns stays while cells are filled, and so does the place.
function update(body) {
  const old = dialog.querySelector('.research-body');
  const places = (of) => [of, of.querySelector('.grid')].filter(Boolean);
  const scrolled = places(old).map((each) => [each.scrollTop, each.scrollLeft]);
  const opened = [...old.querySelectorAll('details')].map((each) => each.open);
  old.replaceChildren(...body.childNodes);
  places(old).forEach((each, at) => {
    if (scrolled[at]) [each.scrollTop, each.scrollLeft] = scrolled[at];
  });
  old.querySelectorAll('details').forEach((each, at) => { each.open = Boolean(opened[at]); });
}

dialog.addEventListener('click', (event) => {
  const file = event.target.closest('[data-download]');
  if (file) {
    const name = file.dataset.download;
    window.ownPage.download(name, file.dataset.text, `Downloaded as ${name}`, dialog);
  }
  const chosen = event.target.closest('[data-event]:not(form)');
  if (chosen) trigger(chosen.dataset.event, {...chosen.dataset});
  if (event.target.closest('[data-close], [data-closes]')) dialog.close();
});
dialog.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target.closest('form[data-event]');
  trigger('submit', {...form.dataset, ...Object.fromEntries(new FormData(form))});
});
dialog.addEventListener('close', () => {
  closed = dialog.querySelector('[data-run]')?.dataset.run ?? '';
  trigger('delete', {});
  dialog.replaceChildren();
  // This comes after the dialog is gone: what was focused meanwhile keeps the focus.
  const focused = document.activeElement ?? document.body;
  if (opener?.isConnected && focused === document.body) opener.focus();
  opener = null;
});
