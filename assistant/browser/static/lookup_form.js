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

watch('value', () => {
  for (const select of element.querySelectorAll('select')) {
    const value = kept[select.name];
    if (value !== undefined && [...select.options].some((option) => option.value === value)) {
      select.value = value;
    }
  }
});

// Whenever the tab is opened, the filters are filled anew: papers may have come meanwhile.
let again = '';
new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  trigger('focus', {again});
  again = 'yes';
}).observe(element);
