import { expect, it } from "vitest"
import { createClient } from "../src/createClient.ts"
import { errorReply } from "./errorReply.ts"
import { type Reply, startServer } from "./startServer.ts"

const page = (data: readonly number[], next_cursor: string | null): Reply => ({
  status: 200,
  body: { object: "list", livemode: false, data, has_more: next_cursor !== null, next_cursor, url: "" },
})
const SINCE = "2026-01-01T00:00:00Z"
const THREE_PAGES = [page([1, 2], "a"), page([3, 4], "b"), page([5], null)]
const start = async (replies: readonly Reply[]) => {
  const { baseUrl, asked } = await startServer(replies)
  const client = createClient({ apiKey: "key", baseUrl, sleep: async () => {} })
  return { client, cursors: () => asked.map(({ url }) => new URL(url, baseUrl).searchParams.get("cursor")) }
}

it("hands out the items of all pages, and asks each page with the cursor of the one before", async () => {
  const { client, cursors } = await start(THREE_PAGES)
  expect(await Array.fromAsync(client.listTokens({ since: SINCE }))).toEqual([1, 2, 3, 4, 5])
  expect(cursors()).toEqual([null, "a", "b"])
})

it("asks for nothing before it is iterated, and for no page that is not needed", async () => {
  const { client, cursors } = await start(THREE_PAGES)
  const list = client.listEvents({ since: SINCE })
  expect(cursors()).toEqual([])
  for await (const item of list) if (item === (3 as unknown)) break
  expect(cursors()).toEqual([null, "a"])
})

it("hands out whole pages, and begins at a cursor", async () => {
  const { client, cursors } = await start(THREE_PAGES.slice(1))
  const pages = await Array.fromAsync(client.listCampaignRecipients("cmp_1", { cursor: "a" }).pages())
  expect(pages.map(({ data, has_more }) => [data, has_more])).toEqual([
    [[3, 4], true],
    [[5], false],
  ])
  expect(cursors()).toEqual(["a", "b"])
})

it("begins anew with each iteration", async () => {
  const { client } = await start([page([1], null), page([2], null)])
  const list = client.listTokens({ since: SINCE })
  expect([await Array.fromAsync(list), await Array.fromAsync(list)]).toEqual([[1], [2]])
})

it("asks again for a page that failed, and loses no item", async () => {
  const { client, cursors } = await start([
    THREE_PAGES[0]!,
    errorReply("INTERNAL_ERROR"),
    "reset",
    ...THREE_PAGES.slice(1),
  ])
  expect(await Array.fromAsync(client.listTokens({ since: SINCE }))).toEqual([1, 2, 3, 4, 5])
  expect(cursors()).toEqual([null, "a", "a", "a", "b"])
})

it("throws the refusal of a cursor, after what came before it", async () => {
  const { client } = await start([
    THREE_PAGES[0]!,
    errorReply("INVALID_PARAMETER", { details: { parameter: "cursor" } }),
  ])
  const seen: unknown[] = []
  const walk = async () => {
    for await (const item of client.listTokens({ since: SINCE })) seen.push(item)
  }
  await expect(walk()).rejects.toMatchObject({ code: "INVALID_PARAMETER", details: { parameter: "cursor" } })
  expect(seen).toEqual([1, 2])
})
