import assert from "node:assert/strict"
import { CANDIDATES, type CandidateName, type Server } from "./startServer.ts"

const TOKENS = "/v1/partners/consumer/tokens"
const EVENTS = "/v1/partners/consumer/events"

/** Headers of the connection or the moment, whose values may differ. */
const UNCOMPARED = [
  "connection",
  "content-length",
  "date",
  "etag",
  "keep-alive",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
]

/** Asserts that both candidates return the same responses, except for ids, counts, error messages and opaque values. Returns the number of compared responses. */
export async function assertSameResponses(
  servers: Readonly<Record<CandidateName, Server>>,
  { key, token, since }: { readonly key: string; readonly token: string; readonly since: string },
): Promise<number> {
  let compared = 0
  const compare = async (
    target: string,
    headers: Partial<Record<CandidateName, Record<string, string>>> = {},
    bearer = key,
  ) => {
    const [ours, baseline] = await Promise.all(
      CANDIDATES.map((candidate) =>
        request(servers[candidate].url + target, { Authorization: `Bearer ${bearer}`, ...headers[candidate] }),
      ),
    )
    assert.deepEqual(baseline!.comparable, ours!.comparable, `the responses to ${target} differ`)
    compared++
    return { ours: ours!, baseline: baseline! }
  }

  const found = await compare(`${TOKENS}/${token}`)
  assert.equal(found.ours.comparable.status, 200)
  await compare(`${TOKENS}/${token}?expand[]=campaign&expand[]=program`)
  const unchanged = await compare(`${TOKENS}/${token}`, {
    ours: { "If-None-Match": found.ours.etag },
    baseline: { "If-None-Match": found.baseline.etag },
  })
  assert.equal(unchanged.ours.comparable.status, 304)
  await compare(`${TOKENS}/000000`)
  await compare(`${TOKENS}/nothing-like-it`)
  await compare(`${TOKENS}/${token}?expand[]=recipient`)
  await compare(`${TOKENS}/${token}`, {}, "orp_test_000000000000000000000000000000_000000")
  await compare(TOKENS)
  await compare(`${TOKENS}?since=${since}&limit=501`)
  await compare(`${TOKENS}?since=${since}&cursor=junk`)
  await compare(`${TOKENS}?since=${since}&expand[]=campaign&expand[]=program`)
  await compare(`${TOKENS}?since=9999-01-01T00:00:00Z`)
  await compare(`${EVENTS}?since=${since}`)
  await compare(`${EVENTS}?since=9999-01-01T00:00:00Z`)

  const walk = async (path: string, cursors: Partial<Record<CandidateName, string>>, pages: number): Promise<void> => {
    const target = `${path}?since=${since}&limit=500`
    const both = await Promise.all(
      CANDIDATES.map((candidate) =>
        request(servers[candidate].url + target + after(cursors[candidate]), { Authorization: `Bearer ${key}` }),
      ),
    )
    const [ours, baseline] = both.map((response) => ({ ...response.comparable.body, url: null }))
    assert.equal(ours!.data.length, 500)
    assert.deepEqual(baseline, ours, "the pages behind a cursor differ")
    compared++
    if (pages > 1) await walk(path, { ours: both[0]!.cursor, baseline: both[1]!.cursor }, pages - 1)
  }
  for (const path of [TOKENS, EVENTS]) await walk(path, {}, 4)
  return compared
}

const after = (cursor: string | undefined) => (cursor === undefined ? "" : `&cursor=${cursor}`)

async function request(url: string, headers: Record<string, string>) {
  const response = await fetch(url, { headers })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: only compared, as a whole
  const body: any = text === "" ? null : JSON.parse(text)
  const seen = Object.fromEntries(
    [...response.headers].map(([name, value]) => [name, UNCOMPARED.includes(name) ? "" : value.split(";")[0]]),
  )
  // Servers may omit the length of an empty response.
  delete seen["content-length"]
  return {
    etag: response.headers.get("ETag") ?? "",
    cursor: body?.next_cursor as string,
    comparable: {
      status: response.status,
      headers: seen,
      body: body?.error
        ? { type: body.error.type, code: body.error.code, doc_url: body.error.doc_url, details: body.error.details }
        : body?.object === "list"
          ? { ...body, next_cursor: typeof body.next_cursor }
          : body,
    },
  }
}
