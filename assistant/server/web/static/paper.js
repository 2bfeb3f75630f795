// The paper dialog; this is the js_on_load of the component that holds the paper's HTML.
// The dialog is outside that component, because Gradio changes its content in place and would
// remove the dialog's `open` attribute.
const dialog = document.createElement('dialog');
dialog.className = 'paper-dialog';
dialog.setAttribute('aria-labelledby', 'paper-title');
(element.closest('.gradio-container') ?? document.body).append(dialog);

const earlier = [];
let opener = null;
let pressedOn = null;

function show(nodes) {
  dialog.replaceChildren(...nodes);
  dialog.querySelector('[data-back]')?.toggleAttribute('hidden', !earlier.length);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('#paper-title')?.focus({preventScroll: true});
  const body = dialog.querySelector('.paper-body');
  const mark = body?.querySelector('mark');
  if (mark) mark.scrollIntoView({block: 'center'});
  else if (body) body.scrollTop = 0;
}

watch('value', () => {
  const html = props.value;
  if (!html) return;
  if (dialog.open) earlier.push([...dialog.childNodes]);
  else opener = document.activeElement;
  const parsed = document.createElement('template');
  parsed.innerHTML = html;
  show(parsed.content.childNodes);
});

// A press that begins on the text and ends beside the dialog selects text; it does not close it.
dialog.addEventListener('pointerdown', (event) => { pressedOn = event.target; });
dialog.addEventListener('click', (event) => {
  const beside = event.target === dialog && pressedOn === dialog;
  if (beside || event.target.closest('[data-close]')) { dialog.close(); return; }
  if (event.target.closest('[data-back]')) { show(earlier.pop()); return; }
  const chosen = event.target.closest('[data-event]');
  if (!chosen) return;
  trigger(chosen.dataset.event, {...chosen.dataset});
  if (chosen.dataset.event === 'input') { opener = null; dialog.close(); }
});
dialog.addEventListener('close', () => {
  earlier.length = 0;
  dialog.replaceChildren();
  // This comes after the dialog is gone: what was focused meanwhile keeps the focus.
  const focused = document.activeElement ?? document.body;
  if (opener?.isConnected && focused === document.body) opener.focus();
  opener = null;
});
