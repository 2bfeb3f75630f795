// The draft's sentences as they are judged. The value grows by one line of JSON at a time; only new
// lines are read, so that a long draft is not drawn again with each sentence.
let run = null;
let read = 0;
const shown = (selector) => document.querySelector(selector);
const one = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function busy(is) {
  const form = shown('.audit-form');
  if (!form) return;
  form.querySelector('[type=submit]').hidden = is;
  form.querySelector('.audit-stop').hidden = !is;
  shown('.audit').dataset.busy = is;
}

function count() {
  shown('.audit-bar').hidden = !shown('.audit-list').children.length;
  for (const button of document.querySelectorAll('.audit-filters button')) {
    const verdict = button.dataset.verdict;
    const those = verdict ? `.audit-list > [data-verdict="${verdict}"]` : '.audit-list > li';
    button.querySelector('span').textContent = document.querySelectorAll(those).length;
  }
}

function take(line) {
  const said = shown('.audit-said');
  const bar = shown('.audit progress');
  if (line.begun !== undefined) {
    shown('.audit-list').replaceChildren();
    shown('.audit-notes').replaceChildren();
    shown('.audit').hidden = false;
    shown('.audit-actions').hidden = true;
    said.textContent = 'Reading the draft …';
    said.classList.remove('audit-error');
    busy(true);
  }
  if (line.notes) {
    for (const note of line.notes) {
      const entry = document.createElement('li');
      entry.textContent = note;
      shown('.audit-notes').append(entry);
    }
  }
  if (line.total) {
    bar.hidden = false;
    bar.max = line.total;
    bar.value = line.done;
    said.textContent = `${line.done} of ${one(line.total, 'sentence')} checked`;
  }
  if (line.html) shown('.audit-list').insertAdjacentHTML('beforeend', line.html);
  if (line.ended) {
    busy(false);
    bar.hidden = true;
    if (line.error) { said.textContent = line.error; said.classList.add('audit-error'); }
    else if (line.stopped) said.textContent = `Stopped: ${said.textContent}.`;
    const any = shown('.audit-list').children.length > 0;
    shown('.audit-actions').hidden = !any;
    const insert = shown('.audit-insert');
    insert.hidden = !line.suggested;
    insert.textContent = `Insert ${one(line.suggested ?? 0, 'suggested citation')}`;
  }
}

watch('value', () => {
  if (!props.value) return;
  const lines = props.value.split('\n');
  if (lines[0] !== run) { run = lines[0]; read = 0; }
  for (; read < lines.length; read += 1) take(JSON.parse(lines[read]));
  count();
});

// Files are read here: their text goes into the form, where it can be seen and changed.
document.addEventListener('change', async ({target}) => {
  if (!target.matches('.audit-form input[type=file]')) return;
  const [file] = target.files;
  if (!file) return;
  if (file.size > 5e6) {
    window.ownPage.say(`${file.name} is larger than 5 MB; check it chapter by chapter.`, window.ownPage.placeOf(target));
    return;
  }
  const text = await file.text();
  const form = target.closest('form');
  if (target.dataset.into === 'draft') form.elements.name.value = file.name;
  form.elements[target.dataset.into].value = text;
});

document.addEventListener('input', ({target}) => {
  if (target.matches('#audit-draft')) target.form.elements.name.value = '';
});

// In the capturing phase, so that it is set before the event is sent.
document.addEventListener('submit', ({target}) => {
  if (target.matches('.audit-form')) target.dataset.nonce = Date.now();
}, true);

document.addEventListener('click', ({target}) => {
  const saving = target.closest?.('.audit-actions [data-what]');
  if (saving) saving.dataset.nonce = Date.now();
  const filter = target.closest?.('.audit-filters button');
  if (!filter) return;
  for (const each of document.querySelectorAll('.audit-filters button')) {
    each.setAttribute('aria-pressed', String(each === filter));
  }
  shown('.audit-list').dataset.only = filter.dataset.verdict;
}, true);
