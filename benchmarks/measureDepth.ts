/** The latencies of the first page and of a deep page of a long list. */
export interface Depth {
  /** Rows before the deep page. */
  readonly rows: number
  /** The milliseconds of one request for each page, pair by pair. */
  readonly pairs: readonly { readonly first: number; readonly deep: number }[]
}

const LIST = "/v1/partners/consumer/tokens?since=2020-01-01T00:00:00Z"
const PAIRS = 300

/** Follows the list's cursors to half its rows, and then requests the first page and that page in turn. */
export async function measureDepth(url: string, keys: readonly string[]): Promise<Depth> {
  let turn = 0
  const requestPage = async (limit: number, cursor: string | undefined) => {
    const started = performance.now()
    const response = await fetch(`${url}${LIST}&limit=${limit}${cursor === undefined ? "" : `&cursor=${cursor}`}`, {
      headers: { Authorization: `Bearer ${keys[turn++ % keys.length]}` },
    })
    const text = await response.text()
    const millis = performance.now() - started
    if (!response.ok) throw new Error(`the response to a page of the list is ${response.status}`)
    return { millis, text }
  }

  let rows = 0
  let cursor: string | undefined
  // 500 rows per page take 1,000 requests instead of the 5,000 with 100 rows per page.
  while (rows < 500_000) {
    const { text } = await requestPage(500, cursor)
    const page = JSON.parse(text) as { readonly data: readonly unknown[]; readonly next_cursor: string | null }
    rows += page.data.length
    if (page.next_cursor === null) throw new Error("the list ended before its middle")
    cursor = page.next_cursor
  }

  const pairs: { first: number; deep: number }[] = []
  for (let i = 0; i < PAIRS; i++) {
    // The order alternates, because the second request finds warmer caches.
    const [one, other] = i % 2 === 0 ? [undefined, cursor] : [cursor, undefined]
    const [a, b] = [(await requestPage(100, one)).millis, (await requestPage(100, other)).millis]
    pairs.push(i % 2 === 0 ? { first: a, deep: b } : { first: b, deep: a })
  }
  return { rows, pairs }
}
