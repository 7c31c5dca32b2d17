import type { List } from "@outreach/contract/types"

/** A list of many pages: iterate over its items, or over its pages. Nothing is asked before; each iteration begins anew. */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** Iterates page by page; a page's `next_cursor` is where a later walk can go on. */
  readonly pages: () => AsyncIterable<List<Item>>
}

/** Follows `next_cursor` from page to page, beginning at `cursor`, each time with a reader of its own. */
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
