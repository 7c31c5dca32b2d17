import { examples, type OperationId } from "@outreach/contract"

const KEY = `-H "Authorization: Bearer $OUTREACH_KEY"`

const command = (...parts: ReadonlyArray<string>): string => parts.join(" \\\n  ")

const get = (path: string, ...parameters: ReadonlyArray<string>): string =>
  command(`curl -sSG "$OUTREACH_URL${path}"`, KEY, ...parameters.map((parameter) => `--data-urlencode "${parameter}"`))

const survey = (path: string): string =>
  command(
    `curl -sS "$OUTREACH_URL${path}"`,
    KEY,
    `-H "Content-Type: application/json"`,
    `--data '${JSON.stringify(examples.createSurvey.request)}'`,
  )

const PARTNER = "/v1/partners/consumer"
const SINCE = "since=2026-01-01T00:00:00Z"

/** A curl command for each operation, with the variables of the requests page. */
export const curlExamples: Readonly<Record<OperationId, string>> = {
  getHealth: `curl -sS "$OUTREACH_URL/v1/health"`,
  getToken: get(`${PARTNER}/tokens/$OUTREACH_TOKEN`, "expand[]=campaign"),
  listTokens: get(`${PARTNER}/tokens`, SINCE, "limit=100"),
  listEvents: get(`${PARTNER}/events`, SINCE, "types[]=outreach.email_sent", "types[]=outreach.email_clicked"),
  listCampaignRecipients: get(`${PARTNER}/campaigns/$OUTREACH_CAMPAIGN/recipients`, "limit=100"),
  getDigest: get(`${PARTNER}/digest`, "date=$(date -u +%F)"),
  receiveWebhook: `time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
body='{"object":"event","livemode":false,"event_id":"evt_'$(openssl rand -hex 16)'","event_version":1,
"event_type":"clinician.account_created","occurred_at":"'$time'","emitted_at":"'$time'","source":"consumer",
"data":{"npi":"1234567893","email":"dana.reyes@clinic.test","consumer_program_slug":"heart-failure","attribution":"organic"}}'
t=$(date +%s)
v1=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$OUTREACH_SECRET" | sed 's/^.* //')
curl -sS "$OUTREACH_URL/v1/partners/consumer/webhooks/$OUTREACH_ENDPOINT" \\
  -H "Content-Type: application/json" \\
  -H "X-Signature: t=$t,v1=$v1" \\
  --data-binary "$body"`,
  createSurvey: survey("/v1/surveys"),
  validateSurvey: survey("/v1/surveys/validate"),
  presignUpload: get("/v1/uploads/presign", "filename=consent.pdf"),
}
