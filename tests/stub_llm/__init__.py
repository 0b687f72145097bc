"""A scripted LLM endpoint: `python3 -m tests.stub_llm`.

Coding-agent CLIs and our own programs talk to it. It speaks the OpenAI Responses API (what codex
uses), and answers single questions in three more formats, under any path prefix, so that
`http://stub:8099/run-42/v1` keeps the rows of one run apart from another's:

    POST [/prefix]/v1/responses     plays the scenario whose `match` is part of a user message
    POST [/prefix]/v1/messages, [/prefix]/v1/chat/completions,
         [/prefix]/v1beta/models/MODEL:generateContent          the same, without tools and streams
    GET  /__stub/healthz            200
    GET  /__stub/requests           what was asked and answered, oldest first (JSON)
    POST /__stub/scenarios          replaces the scenarios (JSON or YAML)
    POST /__stub/reset              forgets counters and log, releases hanging answers

Scenario file (see `scenario.py` for every field):

    require_key: sk-stub
    scenarios:
      - name: hello
        match: "[stub:hello]"
        turns:
          - {write: {path: hello.txt, content: "hello\\n"}, usage: {input: 1200, output: 80}}
          - {run: "python3 hello.py"}
          - {text: done}

The turn is the number of assistant turns after the matching message in the request's own history:
no conversation is kept here, so restarts and resumed sessions go on where they were.
"""
