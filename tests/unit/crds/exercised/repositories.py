"""Repositories and their accounts: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "Repository.name": (
        "unit/core/projects/test_repositories.py"
        "::test_a_repository_is_named_as_the_project_calls_it_or_by_its_address"
    ),
    "Repository.url": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Repository.branch": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Repository.credentials": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Repository.ca": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Repository.forge": (
        "unit/core/plans/test_in_cluster.py"
        "::test_a_pull_request_needs_a_forge_and_a_plan_cannot_ask_for_less"
    ),
    "Repository.work_repository": (
        "unit/controllers/jobs/test_repositories.py"
        "::test_where_work_has_a_repository_of_its_own_every_program_with_git_is_told_its_address"
    ),
    "Repository.checkout": (
        "unit/controllers/jobs/agent/test_folders.py"
        "::test_checkout_and_recorder_of_an_agent_are_told_the_same_folders"
    ),
    "Repository.cache": (
        "unit/core/projects/test_caching.py"
        "::test_a_cache_is_filled_and_checkouts_are_told_what_is_there"
    ),
    "Credentials.read": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Credentials.work": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Credentials.deliver": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "SecretRef.secret_name": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "ConfigMapKey.name": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "ConfigMapKey.key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Forge.type": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Forge.api": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Forge.token": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "SecretKey.name": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "SecretKey.key": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "WorkRepository.url": (
        "unit/controllers/jobs/test_repositories.py"
        "::test_where_work_has_a_repository_of_its_own_every_program_with_git_is_told_its_address"
    ),
    "Checkout.folders": (
        "unit/controllers/jobs/agent/test_folders.py"
        "::test_checkout_and_recorder_of_an_agent_are_told_the_same_folders"
    ),
    "Checkout.lfs": (
        "unit/core/verification/expected/test_lfs.py"
        "::test_folders_are_none_where_only_contents_are_asked_for"
    ),
    "Cache.claim": "unit/core/projects/test_caching.py::test_another_claim_is_filled_anew",
    "Cache.refresh_seconds": (
        "unit/core/projects/test_caching.py"
        "::test_it_is_looked_at_again_after_its_time_and_told_what_there_is"
    ),
}
