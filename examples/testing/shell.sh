#!/bin/sh
# Needs curl, jq, and a Farthing that was started with FARTHING_CONTROL=true. Reads FARTHING_URL and FARTHING_API_KEY.
set -eu

# ask KEY METHOD PATH [JSON]
ask() {
  curl -sS -X "$2" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' ${4:+-d "$4"} "$FARTHING_URL$3"
}
# expect WANTED FOUND
expect() {
  [ "$1" = "$2" ] || { echo "expected $1, found $2" >&2; exit 1; }
}

ACCOUNT=$(ask "$FARTHING_API_KEY" POST /control/accounts)
KEY=$(echo "$ACCOUNT" | jq -r .key)

ID=$(ask "$KEY" POST /control/payments '{"scenario": "success", "refund": 500}' | jq -r .payment_id)
refund() { ask "$KEY" GET "/v1/payments/$ID/refunds" | jq -r '._embedded.refunds[0].status'; }
expect submitted "$(refund)"
ask "$KEY" POST /control/clock '{"advance": 5000}' > /dev/null
expect success "$(refund)"
ask "$KEY" POST /control/clock '{"advance": 604800000}' > /dev/null
expect P0200 "$(ask "$KEY" GET "/v1/payments/$ID" | jq -r .code)"

ask "$FARTHING_API_KEY" DELETE "/control/accounts/$(echo "$ACCOUNT" | jq -r .account)"
echo 'paid, refunded, and gone after 7 days'
