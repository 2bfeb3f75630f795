"""Chat templates laid out as several families do, written for the tests; the marks are theirs."""

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA3 = (
    "{% for message in messages %}{% if loop.first %}{{ bos_token }}{% endif %}"
    "<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n{{ message['content'] | trim }}"
    "<|eot_id|>{% endfor %}{% if add_generation_prompt %}"
    "<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ raise_exception('no system here') }}{% endif %}{% if (message['role'] == 'user') != "
    "(loop.index0 % 2 == 0) %}{{ raise_exception('take turns') }}{% endif %}"
    "<start_of_turn>{{ 'model' if message['role'] == 'assistant' else message['role'] }}\n"
    "{{ message['content'] | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
QWEN3 = CHATML[: -len("{% endif %}")] + (
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n"
    "{% endif %}{% endif %}"
)
R1 = CHATML[: -len("{% endif %}")] + "<think>\n{% endif %}"
R1_BEFORE = CHATML.replace("message['content']", "message['content'].split('</think>') | last")
MAGISTRAL = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}"
    "[SYSTEM_PROMPT]{{ message['content'] }}[/SYSTEM_PROMPT]{% elif message['role'] == 'user' %}"
    "[INST]{{ message['content'] }}[/INST]{% else %}{{ message['content'] }}{{ eos_token }}"
    "{# what was thought stood in [THINK] and [/THINK] #}{% endif %}{% endfor %}"
)
HARMONY = (
    "{% for message in messages %}<|start|>{{ message['role'] }}"
    "{% if message['role'] == 'assistant' %}{% if message.thinking is defined %}"
    "<|channel|>analysis<|message|>{{ message.thinking }}<|end|><|start|>assistant{% endif %}"
    "<|channel|>final{% endif %}<|message|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
