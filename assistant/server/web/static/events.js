// The events of a component's elements; this is part of its js_on_load, see html.py.
element.addEventListener('click', (event) => {
  const chosen = event.target.closest('[data-event]');
  if (chosen && chosen.tagName !== 'FORM') trigger(chosen.dataset.event, {...chosen.dataset});
});
element.addEventListener('submit', (event) => {
  const form = event.target.closest('form[data-event]');
  if (!form) return;
  event.preventDefault();
  trigger(form.dataset.event, {...form.dataset, ...Object.fromEntries(new FormData(form))});
});
