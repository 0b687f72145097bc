#!/usr/bin/env bash
set -euo pipefail
# 1. Create a task and capture the ID.
TASK_JSON=$(bernstein --json add-task "Add SBOM endpoint" \
--role backend \
--description "Expose POST /sbom that returns CycloneDX." \
--priority 1 \
--scope small)
TASK_ID=$(echo "$TASK_JSON" | jq -r .id)
echo "Created $TASK_ID"
# 2. Poll until the task reaches a terminal-ish state.
while :; do
STATUS=$(bernstein --json list-tasks \
| jq -r --arg id "$TASK_ID" '.[] | select(.id == $id) | .status')
case "$STATUS" in
done|failed|cancelled|closed) break ;;
"") echo "task $TASK_ID disappeared from server"; exit 1 ;;
*) sleep 5 ;;
esac
done
# 3. If the run paused for review, resolve it.
if bernstein --json pending | jq -e --arg id "$TASK_ID" '.[] | select(.task_id == $id)' >/dev/null; then
bernstein approve "$TASK_ID"
fi
# 4. Trigger the merge (if the run wasn't already auto-merging).
bernstein merge
# 5. Final state — anything other than `closed` means the merge failed.
bernstein --json list-tasks \
| jq --arg id "$TASK_ID" '.[] | select(.id == $id)'
