"""Pods of a Project: images, resources, where they run: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "PodSettings.runtime_class_name": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "PodSettings.image_pull_secrets": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "PodSettings.node_selector": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "PodSettings.tolerations": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "PodSettings.priority_class_name": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "PodSettings.labels": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_and_no_job_has_the_labels_and_annotations_of_the_project"
    ),
    "PodSettings.annotations": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_and_no_job_has_the_labels_and_annotations_of_the_project"
    ),
    "Toleration.key": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "Toleration.operator": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "Toleration.value": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "Toleration.effect": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "Toleration.toleration_seconds": (
        "unit/controllers/jobs/pod/test_settings.py"
        "::test_every_pod_runs_where_the_project_says_and_is_else_the_same"
    ),
    "Resources.cpu": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Resources.memory": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Resources.ephemeral_storage": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Toolchain.image": (
        "unit/core/verification/expected/test_required.py"
        "::test_what_runs_a_command_has_the_image_of_the_toolchain"
    ),
    "Toolchain.read_only_root_filesystem": (
        "unit/controllers/jobs/test_objects.py"
        "::test_root_file_systems_are_read_only_unless_a_toolchain_opts_out"
    ),
    "Toolchain.resources": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Setup.command": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
    "Setup.timeout_seconds": (
        "unit/controllers/jobs/pod/test_said.py"
        "::test_another_word_of_the_project_is_in_the_pod_that_it_is_about"
    ),
}
