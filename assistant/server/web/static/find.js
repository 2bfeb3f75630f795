// Searches the conversations while one types.
const PAUSE = 250; // milliseconds without a key after which the list is asked for
let typing;
element.addEventListener('input', ({target}) => {
  clearTimeout(typing);
  typing = setTimeout(() => trigger('input', {words: target.value}), PAUSE);
});
