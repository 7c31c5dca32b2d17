import type { List } from "@outreach/contract/types"

/** A paginated list: iterate over its items or its pages. Each iteration sends its own requests, starting from the first page. */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** Iterates over pages. A page's `next_cursor` allows another call to continue after it. */
  readonly pages: () => AsyncIterable<List<Item>>
}

/** Follows `next_cursor` from page to page, starting at `cursor`. Each iteration has its own reader. */
export function paginate<Item>(
  createReader: () => (cursor: string | undefined) => Promise<List<Item>>,
  cursor: string | undefined,
): Pages<Item> {
  async function* pages(): AsyncGenerator<List<Item>, void, void> {
    const read = createReader()
    let next: string | null | undefined = cursor
    do {
      const page: List<Item> = await read(next)
      yield page
      next = page.next_cursor
    } while (next !== null)
  }
  async function* items(): AsyncGenerator<Item, void, void> {
    for await (const page of pages()) yield* page.data
  }
  return { pages, [Symbol.asyncIterator]: items }
}
