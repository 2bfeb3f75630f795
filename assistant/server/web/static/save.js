// Downloads the text in the JSON object that the server has sent, or says its sentence.
watch('value', () => {
  if (!props.value) return;
  const {say, text, name} = JSON.parse(props.value);
  const place = document.querySelector('.gradio-container') ?? document.body;
  if (say) window.ownPage.say(say, place);
  else window.ownPage.download(name, text, `Downloaded ${name}`, place);
});
