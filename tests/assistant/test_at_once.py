"""Questions answered at once, as with a model server: reader, checks and library in one process."""

from concurrent.futures import ThreadPoolExecutor

from fakes import Asking

from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from assistant.types import answer_json

QUESTIONS = (
    "How are tides forecast?",
    "What does the data set of lichen photographs hold?",
    "What is the best pizza in Naples?",
    "Which papers are about graph networks?",
)


def test_answers_at_once_are_those_of_one_after_another(asking: Asking) -> None:
    writing = WritingSettings(mode=WritingMode.QUOTE)
    assistant, _ = asking(settings=AnswerSettings(writing=writing))

    def whole(question: str) -> dict[str, object]:
        answer = answer_json(assistant.answer(question), None, 0)
        del answer["timings"]
        return answer

    one_by_one = [whole(question) for question in QUESTIONS]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(whole, QUESTIONS * 3)) == one_by_one * 3
