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
  window.ownPage.download(name, text, `Downloaded ${papers} as ${name}`, place);
});
