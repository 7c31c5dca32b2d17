import postgres from "postgres"
import { MAX_IN_FLIGHT } from "./Candidate.ts"
import { postSigned } from "./postSigned.ts"

// A hand-optimized loop: batched claims, concurrent calls, batched settlement and LISTEN. It records the same data
// as our worker, but has no fairness, no limit per endpoint, no circuit breaker and no handling of lost leases.

interface Claimed {
  readonly id: string
  readonly url: string
  readonly body: string
  readonly attempts: number
  readonly token: string
}

const sql = postgres(process.env["DATABASE_URL"]!, { max: 4, onnotice: () => {} })
const settled: {
  id: string
  token: string
  attempt: number
  started: string
  latency: number
  status: number
  response: string
}[] = []
let inFlight = 0
let claiming = false
let settling = false

const claim = () => sql<Claimed[]>`
  with due as materialized (
    select id from hand.queue where due_at <= clock_timestamp() and (lease_until is null or lease_until < clock_timestamp())
    order by due_at limit ${MAX_IN_FLIGHT - inFlight} for update skip locked
  )
  update hand.queue queue set token = gen_random_uuid(), lease_until = clock_timestamp() + interval '30 seconds'
  from due, hand.endpoints endpoint, hand.events event
  where queue.id = due.id
    and endpoint.id = queue.endpoint_id and event.id = queue.event_id
  returning queue.id, endpoint.url, event.body, attempts, token`

const settle = async () => {
  if (settling) return
  settling = true
  while (settled.length > 0) {
    const batch = settled.splice(0, 500)
    await sql`
      with outcome as (
        select * from unnest(
          ${batch.map(({ id }) => id)}::text[], ${batch.map(({ token }) => token)}::uuid[],
          ${batch.map(({ attempt }) => attempt)}::int[], ${batch.map(({ started }) => started)}::timestamptz[],
          ${batch.map(({ latency }) => latency)}::int[], ${batch.map(({ status }) => status)}::int[],
          ${batch.map(({ response }) => response)}::text[]
        ) as outcome (id, token, attempt, started_at, latency_ms, status, response)
      ), gone as (
        delete from hand.queue queue using outcome where queue.id = outcome.id and queue.token = outcome.token
        returning queue.id, queue.endpoint_id, queue.event_id, queue.created_at, attempt, started_at, latency_ms, status, response
      )
      insert into hand.history (id, endpoint_id, event_id, created_at, attempts)
      select id, endpoint_id, event_id, created_at, jsonb_build_array(jsonb_build_object('number', attempt,
        'startedAt', started_at, 'latencyMs', latency_ms, 'status', status, 'response', response)) from gone`
  }
  settling = false
}

const deliver = async ({ id, url, body, attempts, token }: Claimed) => {
  const { started, latency, status, response } = await postSigned(url, id, attempts + 1, body)
  settled.push({
    id,
    token,
    attempt: attempts + 1,
    started: new Date(started).toISOString(),
    latency,
    status,
    response,
  })
  void settle()
  inFlight -= 1
  if (inFlight <= MAX_IN_FLIGHT / 2) void work()
}

const work = async () => {
  if (claiming) return
  claiming = true
  const claimed = await claim()
  claiming = false
  inFlight += claimed.length
  for (const row of claimed) void deliver(row)
}

await sql.listen("hand", () => void work())
setInterval(() => void work(), 1000)
void work()
