"""What pods of a Project reach: the tests of their fields."""

from __future__ import annotations

TESTS = {
    "Network.policy": (
        "unit/controllers/test_network_policies.py"
        "::test_a_project_that_manages_its_network_itself_gets_none"
    ),
    "Network.proxy": (
        "unit/controllers/test_network_policies.py"
        "::test_what_is_reached_without_the_proxy_is_reached_as_before"
    ),
    "Network.ca": (
        "unit/controllers/jobs/test_proxied.py"
        "::test_programs_of_ours_mount_the_authorities_of_the_network_and_nobody_else_does"
    ),
    "Network.git": (
        "unit/controllers/test_network_policies.py::test_a_project_says_where_its_git_server_is"
    ),
    "Network.checks": (
        "unit/controllers/test_network_policies.py::test_what_checks_may_reach_more_is_theirs_alone"
    ),
    "Network.agents": (
        "unit/controllers/test_network_policies.py"
        "::test_agents_that_are_limited_still_reach_dns_git_and_our_server"
    ),
    "Network.models": (
        "unit/controllers/test_network_policies.py"
        "::test_who_asks_models_reaches_them_beside_git_and_nobody_else_does"
    ),
    "Network.forge": (
        "unit/controllers/test_network_policies.py"
        "::test_who_asks_the_forge_reaches_dns_and_that_alone"
    ),
    "Proxy.url": (
        "unit/controllers/jobs/test_proxied.py"
        "::test_programs_of_ours_are_told_by_variables_of_ours_and_nobody_else_is"
    ),
    "Proxy.no_proxy": (
        "unit/controllers/test_network_policies.py"
        "::test_what_is_reached_without_the_proxy_is_reached_as_before"
    ),
    "Proxy.peers": (
        "unit/controllers/test_network_policies.py"
        "::test_where_the_proxy_is_may_be_said_and_what_a_project_opens_stays_open"
    ),
    "Proxy.variables": (
        "unit/controllers/jobs/test_proxied.py::test_commands_are_told_where_the_project_says_so"
    ),
    "NetworkPeer.ip_block": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "NetworkPeer.pod_selector": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "NetworkPeer.namespace_selector": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "IPBlock.cidr": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "IPBlock.except_": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "Selector.match_labels": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "EgressRule.to": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "EgressRule.ports": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "Port.port": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "Port.end_port": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
    "Port.protocol": (
        "unit/controllers/test_network_policies.py"
        "::test_rules_of_a_project_stand_in_its_policy_with_every_field"
    ),
}
