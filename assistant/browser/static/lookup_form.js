// The form of citation lookup; runs after the listeners that hand a submitted form on.
const form = () => element.querySelector('form');
const kept = {};  // what is chosen: new options would take the place of the chosen one

function keep() {
  for (const select of element.querySelectorAll('select')) kept[select.name] = select.value;
}

// A filter is searched for once it is chosen or left, the query once Enter is pressed.
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

// One search at a time, so that the last one's papers are shown last; the answer to each brings a
// new value. Gradio's own `always_last` would ask again without what the form says.
const PATIENCE = 10000;  // milliseconds after which an answer is taken for lost
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

// Whenever the tab is opened, the filters are filled anew: papers may have come meanwhile.
let opened = '';
new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  trigger('focus', {opened});
  opened = 'before';
}).observe(element);
