import { expect, it } from "vitest"
import { errorReply } from "./errorReply.ts"
import { type Reply, startServer } from "./startServer.ts"

const page = (data: readonly number[], next_cursor: string | null): Reply => ({
  status: 200,
  body: { object: "list", livemode: false, data, has_more: next_cursor !== null, next_cursor, url: "" },
})
const SINCE = "2026-01-01T00:00:00Z"
const THREE_PAGES = [page([1, 2], "a"), page([3, 4], "b"), page([5], null)]
const start = async (replies: readonly Reply[]) => {
  const { baseUrl, asked, client } = await startServer(replies)
  return { client, cursors: () => asked.map(({ url }) => new URL(url, baseUrl).searchParams.get("cursor")) }
}

it("returns the items of all pages, and requests each page with the previous page's cursor", async () => {
  const { client, cursors } = await start(THREE_PAGES)
  expect(await Array.fromAsync(client.listTokens({ since: SINCE }))).toEqual([1, 2, 3, 4, 5])
  expect(cursors()).toEqual([null, "a", "b"])
})

it("sends no request before the iteration starts, and requests only the pages it needs", async () => {
  const { client, cursors } = await start(THREE_PAGES)
  const list = client.listEvents({ since: SINCE })
  expect(cursors()).toEqual([])
  for await (const item of list) if (item === (3 as unknown)) break
  expect(cursors()).toEqual([null, "a"])
})

it("returns whole pages, starting at a cursor", async () => {
  const { client, cursors } = await start(THREE_PAGES.slice(1))
  const pages = await Array.fromAsync(client.listCampaignRecipients("cmp_1", { cursor: "a" }).pages())
  expect(pages.map(({ data, has_more }) => [data, has_more])).toEqual([
    [[3, 4], true],
    [[5], false],
  ])
  expect(cursors()).toEqual(["a", "b"])
})

it("starts again with each iteration", async () => {
  const { client } = await start([page([1], null), page([2], null)])
  const list = client.listTokens({ since: SINCE })
  expect([await Array.fromAsync(list), await Array.fromAsync(list)]).toEqual([[1], [2]])
})

it("requests a failed page again, and loses no items", async () => {
  const { client, cursors } = await start([
    THREE_PAGES[0]!,
    errorReply("INTERNAL_ERROR"),
    "reset",
    ...THREE_PAGES.slice(1),
  ])
  expect(await Array.fromAsync(client.listTokens({ since: SINCE }))).toEqual([1, 2, 3, 4, 5])
  expect(cursors()).toEqual([null, "a", "a", "a", "b"])
})

const GOOD = { object: "list", livemode: false, data: [1], has_more: false, next_cursor: null, url: "" }
const { next_cursor: _, ...WITHOUT_CURSOR } = GOOD

it.each([
  ["has no next_cursor", WITHOUT_CURSOR, "next_cursor is missing"],
  ["has a next_cursor that is a number", { ...GOOD, next_cursor: 7 }, "next_cursor is neither text nor null"],
  ["has an empty next_cursor", { ...GOOD, next_cursor: "" }, "next_cursor is neither text nor null"],
  ["says that there is more, and not where", { ...GOOD, has_more: true }, "has_more is true, and next_cursor is null"],
  [
    "leads back to where it was asked",
    { ...GOOD, has_more: true, next_cursor: "a" },
    "next_cursor was followed before",
  ],
  ["has no data", { ...GOOD, data: undefined }, "data is not an array"],
  ["is null", "null", "it is null"],
  ["is an array", [GOOD], "it is an array"],
  ["is text", '"page"', "it is a string"],
])(
  "ends a list with a descriptive error after the items of earlier pages, at a page that %s",
  async (_, body, problem) => {
    const expected = {
      name: "ApiError",
      status: 200,
      type: "api_error",
      code: null,
      requestId: "req_2",
      message: expect.stringMatching(new RegExp(`^The answer is not a page of a list: ${problem}`)),
    }
    const { client, cursors } = await start([THREE_PAGES[0]!, { status: 200, body }])
    const seen: unknown[] = []
    const walk = async () => {
      for await (const item of client.listTokens({ since: SINCE })) seen.push(item)
    }
    await expect(walk()).rejects.toMatchObject(expected)
    expect([seen, cursors()]).toEqual([
      [1, 2],
      [null, "a"],
    ])
  },
)

it("fails on a circular list when a cursor repeats", async () => {
  const { client, cursors } = await start([page([1], "a"), page([2], "b"), page([3], "c"), page([4], "a")])
  await expect(Array.fromAsync(client.listTokens({ since: SINCE }))).rejects.toThrow("next_cursor was followed before")
  expect(cursors()).toEqual([null, "a", "b", "c"])
})

it("retries an empty page that points to itself, and finally fails", async () => {
  const settled = await start([page([1], "a"), page([], "a"), page([], "a"), page([2], null)])
  expect(await Array.fromAsync(settled.client.listTokens({ since: SINCE }))).toEqual([1, 2])
  expect(settled.cursors()).toEqual([null, "a", "a", "a"])
  const { client } = await start([page([], "a")])
  await expect(Array.fromAsync(client.listTokens({ since: SINCE }))).rejects.toThrow("next_cursor was followed before")
})

it("retries a page that is not JSON, as from a proxy, and finally fails with a descriptive error", async () => {
  const html = { status: 200, body: "<html>Maintenance</html>" }
  const recovered = await start([html, page([1], null)])
  expect(await Array.fromAsync(recovered.client.listTokens({ since: SINCE }))).toEqual([1])
  const { client, cursors } = await start([html])
  const error = await Array.fromAsync(client.listEvents({ since: SINCE })).catch((error: unknown) => error)
  expect(error).toMatchObject({ name: "ApiError", status: 200, type: "api_error", requestId: "req_5" })
  expect((error as Error).message).toMatch(/^The answer is not a page of a list: it is not JSON/)
  expect(cursors()).toHaveLength(5)
})
