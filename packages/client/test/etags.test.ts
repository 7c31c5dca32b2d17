import { expect, it } from "vitest"
import { startServer } from "./startServer.ts"

/** Serves each token's record under a tag that changes with `version`, and counts what it had to send. */
async function startRecords(cacheSize?: number) {
  const state = { version: 1, sent: 0 }
  const options = cacheSize === undefined ? {} : { cacheSize }
  const { asked, client } = await startServer(({ url, headers }) => {
    const etag = `"${url}-${state.version}"`
    if (headers["if-none-match"] === etag) return { status: 304, headers: { ETag: etag } }
    state.sent++
    return { status: 200, headers: { ETag: etag }, body: { token: url.slice(-6), version: state.version } }
  }, options)
  return { state, asked, client }
}

it("returns unchanged records from its cache, and changed ones from the service", async () => {
  const { client, state, asked } = await startRecords()
  expect(await client.getToken("aaaaaa")).toEqual({ token: "aaaaaa", version: 1 })
  expect(await client.getToken("aaaaaa")).toEqual({ token: "aaaaaa", version: 1 })
  expect([asked.length, state.sent]).toEqual([2, 1])
  state.version = 2
  expect(await client.getToken("aaaaaa")).toEqual({ token: "aaaaaa", version: 2 })
  expect(await client.getToken("aaaaaa")).toEqual({ token: "aaaaaa", version: 2 })
  expect([asked.length, state.sent]).toEqual([4, 2])
})

it("caches an expanded record separately", async () => {
  const { client, state, asked } = await startRecords()
  await client.getToken("aaaaaa")
  await client.getToken("aaaaaa", { expand: ["campaign"] })
  expect(asked[1]!.headers["if-none-match"]).toBeUndefined()
  expect(state.sent).toBe(2)
})

it("hands out a record of the caller's own, which it may change", async () => {
  const { client } = await startRecords()
  const first = await client.getToken("aaaaaa")
  first.token = "zzzzzz"
  expect((await client.getToken("aaaaaa")).token).toBe("aaaaaa")
})

it("forgets the record that was used least lately once it knows as many as it may", async () => {
  const { client, state } = await startRecords(2)
  for (const token of ["aaaaaa", "bbbbbb", "aaaaaa", "cccccc", "aaaaaa"]) await client.getToken(token)
  expect(state.sent).toBe(3)
  await client.getToken("bbbbbb")
  expect(state.sent).toBe(4)
})

it("caches no records if caching is disabled", async () => {
  const { client, state, asked } = await startRecords(0)
  await client.getToken("aaaaaa")
  await client.getToken("aaaaaa")
  expect(state.sent).toBe(2)
  expect(asked.every(({ headers }) => headers["if-none-match"] === undefined)).toBe(true)
})
