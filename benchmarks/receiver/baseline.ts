import { createHmac, createSecretKey, type KeyObject, randomUUID, timingSafeEqual } from "node:crypto"
import type { AddressInfo } from "node:net"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { singleKey } from "@outreach/process/keyRing"
import { Redacted } from "effect"
import Fastify from "fastify"
import postgres from "postgres"

// A hand-optimized receiver: the raw body as a Buffer, a cached key for each secret, constant-time comparison,
// field-by-field validation of events, and pipelined inserts.

const { DATABASE_URL, SECRETS_KEY } = process.env as Record<string, string>
const MAX_BYTES = 1_048_576
const TOLERANCE_SECONDS = 300
const CACHE_MS = 10_000

// The fastest tried settings with 48 senders: 5,600 events/s; 4,700 without pipelining or with 32 connections; 3,700 with 4 connections.
const sql = postgres(DATABASE_URL!, {
  max: 16,
  onnotice: () => {},
  connection: { application_name: "baseline", TimeZone: "UTC", statement_timeout: 30_000 },
})

const cipher = SecretCipher.make(singleKey(Redacted.make(Buffer.from(SECRETS_KEY!, "base64"))))

interface CachedKeys {
  readonly readAt: number
  readonly organizationId: string
  readonly keys: readonly { readonly key: KeyObject; readonly expiresAt: number }[]
}
const cache = new Map<string, CachedKeys>()

async function keysOf(endpointId: string): Promise<CachedKeys | undefined> {
  const cached = cache.get(endpointId)
  if (cached !== undefined && Date.now() - cached.readAt < CACHE_MS) return cached
  const rows = await sql<{ organization_id: string; ciphertext: Buffer; expires_at: Date | null }[]>`
    select organization_id, ciphertext, expires_at from webhook_endpoints join signing_secrets using (organization_id)
    where webhook_endpoints.id = ${endpointId} and (expires_at is null or expires_at > now())`
  if (rows.length === 0) return undefined
  const entry: CachedKeys = {
    readAt: Date.now(),
    organizationId: rows[0]!.organization_id,
    keys: rows.map(({ organization_id, ciphertext, expires_at }) => ({
      key: createSecretKey(Redacted.value(cipher.decrypt(ciphertext, organization_id)), "utf8"),
      expiresAt: expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
    })),
  }
  cache.set(endpointId, entry)
  return entry
}

function isSigned(header: unknown, body: Buffer, { keys }: CachedKeys): boolean {
  if (typeof header !== "string") return false
  let timestamp: string | undefined
  const signatures: Buffer[] = []
  for (const item of header.split(",")) {
    if (item.startsWith("t=")) timestamp = item.slice(2)
    else if (item.startsWith("v1=")) signatures.push(Buffer.from(item.slice(3), "hex"))
  }
  const now = Date.now()
  if (timestamp === undefined || !(Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false
  return keys.some(({ key, expiresAt }) => {
    if (expiresAt <= now) return false
    const digest = createHmac("sha256", key).update(`${timestamp}.`).update(body).digest()
    return signatures.some((signature) => signature.length === 32 && timingSafeEqual(signature, digest))
  })
}

interface InboundEvent {
  readonly event_id: string
  readonly event_type: string
  readonly data: Readonly<Record<string, unknown>>
}

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const isTime = (value: unknown) => typeof value === "string" && TIME.test(value) && !Number.isNaN(Date.parse(value))
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)

function parseEvent(text: string): InboundEvent | undefined {
  let it: Record<string, unknown>
  try {
    it = JSON.parse(text)
  } catch {
    return undefined
  }
  const version = it?.["event_version"]
  const valid =
    isObject(it) &&
    it["object"] === "event" &&
    typeof it["livemode"] === "boolean" &&
    typeof it["event_id"] === "string" &&
    /^evt_[0-9a-f]{1,251}$/.test(it["event_id"]) &&
    typeof it["event_type"] === "string" &&
    /^[\x21-\x7e]{1,255}$/.test(it["event_type"]) &&
    Number.isInteger(version) &&
    (version as number) >= 1 &&
    isTime(it["occurred_at"]) &&
    isTime(it["emitted_at"]) &&
    it["source"] === "consumer" &&
    isObject(it["data"]) &&
    (it["metadata"] === undefined || it["metadata"] === null || isObject(it["metadata"]))
  return valid ? (it as unknown as InboundEvent) : undefined
}

const app = Fastify({
  genReqId: () => `req_${randomUUID().replaceAll("-", "")}`,
  requestIdHeader: false,
  bodyLimit: MAX_BYTES,
})
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body))

const errorBody = (requestId: string, type: string, code: string, message: string) => ({
  error: { type, code, message, request_id: requestId, doc_url: `https://docs.outreach.test/errors#${code}` },
})
const utf8 = new TextDecoder("utf-8", { fatal: true })

app.post<{ Params: { endpoint: string }; Body: Buffer }>(
  "/v1/partners/consumer/webhooks/:endpoint",
  async (request, reply) => {
    reply.header("X-Request-Id", request.id)
    const endpointId = request.params.endpoint
    const sender = await keysOf(endpointId)
    if (sender === undefined || !isSigned(request.headers["x-signature"], request.body, sender)) {
      return reply
        .code(401)
        .send(
          errorBody(request.id, "authentication_error", "INVALID_SIGNATURE", "X-Signature is not a valid signature."),
        )
    }
    let text: string | undefined
    try {
      text = utf8.decode(request.body)
    } catch {}
    const event = text === undefined ? undefined : parseEvent(text)
    if (text === undefined || event === undefined) {
      return reply
        .code(400)
        .send(errorBody(request.id, "invalid_request_error", "INVALID_PARAMETER", "The body is not a valid event."))
    }
    const { npi } = event.data
    await sql`
      insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, npi, body, received_at)
      values (${sender.organizationId}, ${event.event_id}, ${endpointId}, 'sec_1', ${event.event_type},
        ${typeof npi === "string" && /^\d{10}$/.test(npi) ? npi : null}, ${text}, clock_timestamp())
      on conflict do nothing`
    return { received: true }
  },
)

await app.listen({ host: "127.0.0.1", port: 0 })
const { port } = app.server.address() as AddressInfo
console.log(JSON.stringify({ message: "listening", annotations: { url: `http://127.0.0.1:${port}`, port } }))

process.once("SIGTERM", async () => {
  await app.close()
  await sql.end()
})
