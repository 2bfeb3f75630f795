// Copies or downloads the text in the JSON object that the server has sent.
watch('value', async () => {
  if (!props.value) return;
  const {how, text, name, count} = JSON.parse(props.value);
  const papers = count === 1 ? '1 paper' : `${count} papers`;
  const place = document.querySelector('.gradio-container') ?? document.body;
  if (how === 'say') { window.ownPage.say(text, place); return; }
  if (how === 'copy') {
    const copied = await window.ownPage.copy(text, place);
    window.ownPage.say(copied ? `Copied ${papers}` : window.ownPage.NOT_COPIED, place);
    return;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type: 'text/plain;charset=utf-8'}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  window.ownPage.say(`Downloaded ${papers} as ${name}`, place);
});
