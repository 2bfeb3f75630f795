// The form of citation lookup; runs after the listeners that send a submitted form.
const form = () => element.querySelector('form');
const kept = {};  // the selected options, which a new form would reset

function keep() {
  for (const select of element.querySelectorAll('select')) kept[select.name] = select.value;
}

// A changed filter starts a search at once, the query only on Enter.
element.addEventListener('change', (event) => {
  keep();
  if (event.target.name !== 'query') form().requestSubmit();
});
element.addEventListener('reset', () => {
  setTimeout(() => { keep(); form().requestSubmit(); form().elements.query.focus(); });
});
element.addEventListener('unfilter', () => {
  for (const field of form().elements) {
    if (field.name && !['query', 'sort'].includes(field.name)) field.value = '';
  }
  keep();
  form().requestSubmit();
});

// One search at a time, so that the papers of the last one are shown last; each answer brings a new
// value. Gradio's own `always_last` would repeat a search without the fields of the form.
const PATIENCE = 10000;  // milliseconds after which an answer counts as lost
let askedAt = 0;
let again = false;
element.addEventListener('submit', (event) => {
  if (askedAt && Date.now() - askedAt < PATIENCE) {
    event.preventDefault();
    event.stopImmediatePropagation();
    again = true;
    return;
  }
  askedAt = Date.now();
}, true);

function answered() {
  askedAt = 0;
  if (!again) return;
  again = false;
  form().requestSubmit();
}

watch('value', () => {
  for (const select of element.querySelectorAll('select')) {
    const value = kept[select.name];
    if (value !== undefined && [...select.options].some((option) => option.value === value)) {
      select.value = value;
    }
  }
  answered();
});

// Whenever the tab is opened the filters are updated: papers may have been added.
let opened = '';
new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  trigger('focus', {opened});
  opened = 'before';
}).observe(element);
