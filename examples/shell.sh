#!/bin/sh
# Needs curl, jq, and a Farthing that was started with FARTHING_CONTROL=true. Reads FARTHING_URL and FARTHING_API_KEY.
set -eu

# ask KEY STATUS METHOD PATH [JSON] prints the JSON of the response, and ends with 1 if it has another status.
ask() {
  response=$(curl -sS --max-time 5 -w '\n%{http_code}' -X "$3" -H "Authorization: Bearer $1" \
    -H 'Content-Type: application/json' ${5:+-d "$5"} "$FARTHING_URL$4")
  body=${response%
*}
  [ "${response##*
}" = "$2" ] || { echo "$3 $4: expected $2, got $response" >&2; return 1; }
  printf '%s\n' "$body"
}
# expect WANTED FOUND
expect() {
  [ "$1" = "$2" ] || { echo "expected $1, found $2" >&2; exit 1; }
}

account=$(ask "$FARTHING_API_KEY" 201 POST /control/accounts '{"behaviour": "govuk-pay"}')
key=$(echo "$account" | jq -r .key)
end() {
  ask "$FARTHING_API_KEY" 204 DELETE "/control/accounts/$(echo "$account" | jq -r .account)" > /dev/null
}
trap end EXIT

payment=$(ask "$key" 201 POST /control/payments '{"scenario": "success", "refund": 500}')
id=$(echo "$payment" | jq -r .payment_id)
refund() {
  refunds=$(ask "$key" 200 GET "/v1/payments/$id/refunds")
  echo "$refunds" | jq -r '._embedded.refunds[0].status'
}
expect success "$(refund)"
ask "$key" 200 POST /control/clock '{"advance": 15552000000}' > /dev/null
gone=$(ask "$key" 404 GET "/v1/payments/$id")
expect P0200 "$(echo "$gone" | jq -r .code)"
echo 'paid, refunded, and gone after 180 days'
