from tests.settings.page import PAGE, page


def test_the_page_is_what_the_definitions_say() -> None:
    assert PAGE.read_text() == page(), "`python -m tests.settings.page` writes it anew"
