from tests.workloads.page import PAGE, page


def test_the_page_of_workloads_is_that_of_the_definitions():
    assert PAGE.read_text() == page(), "`python -m tests.workloads.page` writes it anew"
