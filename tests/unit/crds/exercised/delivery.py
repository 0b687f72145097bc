"""How work lands: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "Merge.strategy": (
        "unit/core/plans/test_begin.py::test_how_a_plan_delivers_is_written_down_when_it_begins"
    ),
    "Merge.method": (
        "unit/core/delivery/test_squash.py::test_one_commit_is_made_though_the_target_has_not_moved"
    ),
    "Merge.per": (
        "unit/core/plans/test_begin.py::test_how_a_plan_delivers_is_written_down_when_it_begins"
    ),
    "Merge.pull_request": (
        "unit/core/plans/test_begin.py::test_how_a_plan_delivers_is_written_down_when_it_begins"
    ),
    "Merge.commit": (
        "unit/controllers/jobs/test_commit.py"
        "::test_the_committer_signs_off_below_the_other_trailers"
    ),
    "Merge.signing": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Merge.conflicts": (
        "unit/core/delivery/resolving/test_resolving.py"
        "::test_a_path_that_is_not_called_as_it_is_shown_leaves_it_without_any"
    ),
    "PullRequests.per": (
        "unit/core/plans/test_begin.py::test_how_a_plan_delivers_is_written_down_when_it_begins"
    ),
    "PullRequests.draft": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_a_pull_request_is_a_draft_where_the_project_wants_that"
    ),
    "PullRequests.labels": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "PullRequests.look_seconds": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "PullRequests.succeed_on": (
        "unit/core/delivery/test_proposal.py::test_a_project_may_be_content_with_an_open_one"
    ),
    "PullRequests.feedback": (
        "unit/core/delivery/proposed/test_pushed_to_tasks.py"
        "::test_what_is_said_of_it_then_goes_to_no_agent"
    ),
    "PullRequests.max_feedback": (
        "unit/core/feedback/test_of_a_plan.py"
        "::test_above_the_cap_it_is_for_people_and_the_plan_says_so"
    ),
    "PullRequests.max_updates": (
        "unit/core/delivery/proposed/test_pushed.py::test_no_more_often_than_the_project_says"
    ),
    "PullRequests.on_new_commits": (
        "unit/core/delivery/proposed/test_pushed.py"
        "::test_a_person_is_never_taken_to_have_approved_it"
    ),
    "Commits.author": (
        "unit/controllers/jobs/test_commit.py"
        "::test_the_author_commits_too_where_no_committer_is_named"
    ),
    "Commits.committer": (
        "unit/controllers/jobs/test_commit.py::test_a_committer_alone_leaves_the_author_ours"
    ),
    "Commits.sign_off": (
        "unit/controllers/jobs/test_commit.py"
        "::test_the_committer_signs_off_below_the_other_trailers"
    ),
    "Person.name": (
        "unit/controllers/jobs/test_commit.py"
        "::test_the_author_commits_too_where_no_committer_is_named"
    ),
    "Person.email": (
        "unit/controllers/jobs/test_commit.py"
        "::test_the_author_commits_too_where_no_committer_is_named"
    ),
    "Signing.key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Signing.public_key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Attestation.key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Attestation.public_key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
}
