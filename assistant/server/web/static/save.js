// Downloads the text in the JSON object that the server has sent, or says its sentence.
watch('value', () => {
  if (!props.value) return;
  const {say, text, name} = JSON.parse(props.value);
  const place = document.querySelector('.gradio-container') ?? document.body;
  if (say) { window.ownPage.say(say, place); return; }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type: 'text/plain;charset=utf-8'}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  window.ownPage.say(`Downloaded ${name}`, place);
});
