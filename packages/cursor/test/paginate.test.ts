import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { cursorCodec, type PageFrom, paginate } from "../src/index.ts"

interface Row {
  readonly id: number
  readonly text: string
}
const rowsOf = (...ids: ReadonlyArray<number>): ReadonlyArray<Row> => ids.map((id) => ({ id, text: `row ${id}` }))
const position = ({ id }: Row) => ({ id })
const codec = cursorCodec({
  schema: z.object({ id: z.number() }),
  key: "a key of at least thirty-two bytes",
  scope: "rows",
})
const cursorOf = (id: number) => codec.encode({ id })

describe("a page", () => {
  it("has the rows up to the limit, and a cursor at its last row when there was one more", () => {
    expect(paginate({ rows: rowsOf(1, 2, 3), limit: 2, codec, position })).toEqual({
      data: rowsOf(1, 2),
      has_more: true,
      next_cursor: cursorOf(2),
    })
  })
  it("has positions for cursors when there is no codec", () => {
    const page = paginate({ rows: rowsOf(1, 2), limit: 1, position })
    expect(page).toEqual({ data: rowsOf(1), has_more: true, next_cursor: { id: 1 } })
    expectTypeOf(page.next_cursor).toEqualTypeOf<{ id: number } | null>()
    expectTypeOf(paginate({ rows: rowsOf(), limit: 1, position, codec }).next_cursor).toEqualTypeOf<string | null>()
  })
  it("leaves the rows as they were given", () => {
    const rows = rowsOf(3, 2, 1)
    paginate({ rows, limit: 2, position, from: { before: { id: 4 } } })
    expect(rows).toEqual(rowsOf(3, 2, 1))
  })
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "2", undefined])(
    "with a limit of %s is refused",
    (limit) => {
      expect(() => paginate({ rows: rowsOf(1), limit: limit as number, position })).toThrow(
        new RangeError("limit must be a whole number from 1 on"),
      )
    },
  )
  it("with the highest limit there is has all rows", () => {
    const page = paginate({ rows: rowsOf(1, 2), limit: Number.MAX_SAFE_INTEGER, position })
    expect(page).toMatchObject({ data: rowsOf(1, 2), has_more: false })
  })
})

describe("a page of a list that is read both ways", () => {
  const read = (ids: ReadonlyArray<number>, from: PageFrom<{ id: number }> | null) => {
    const { data, next_cursor, previous_cursor, has_more } = paginate({
      rows: rowsOf(...ids),
      limit: 2,
      position,
      from,
    })
    expect(has_more).toBe(next_cursor !== null)
    return [previous_cursor?.id, data.map(({ id }) => id), next_cursor?.id]
  }

  it("goes back where it has a position to come from, and on where a row is left over", () => {
    expect(read([1, 2, 3], null)).toEqual([undefined, [1, 2], 2])
    expect(read([1, 2], {})).toEqual([undefined, [1, 2], undefined])
    expect(read([3, 4, 5], { after: { id: 2 } })).toEqual([3, [3, 4], 4])
    expect(read([5], { after: { id: 4 } })).toEqual([5, [5], undefined])
  })
  it("turns the rows of a previous page around", () => {
    expect(read([4, 3, 2], { before: { id: 5 } })).toEqual([3, [3, 4], 4])
    expect(read([2, 1], { before: { id: 3 } })).toEqual([undefined, [1, 2], 2])
    expect(read([5, 4, 3], { before: "end" })).toEqual([4, [4, 5], undefined])
    expect(read([5, 4], { before: "end" })).toEqual([undefined, [4, 5], undefined])
  })
  it("has no cursor when it has no row, because no place in it is known", () => {
    for (const from of [null, { after: { id: 9 } }, { before: { id: 1 } }, { before: "end" } as const]) {
      expect(read([], from)).toEqual([undefined, [], undefined])
    }
  })
  it("treats null as a missing position, and rejects two positions", () => {
    expect(read([1, 2, 3], { after: null, before: null })).toEqual([undefined, [1, 2], 2])
    expect(read([2, 1], { after: null, before: { id: 3 } })).toEqual([undefined, [1, 2], 2])
    expect(() => read([1], { after: { id: 1 }, before: { id: 3 } })).toThrow(
      new TypeError("from must have after or before, not both"),
    )
  })
  it("has a cursor at its end exactly when rows follow, for rows of any number and any limit", () => {
    fc.assert(
      fc.property(fc.nat(20), fc.integer({ min: 1, max: 22 }), (count, limit) => {
        const rows = rowsOf(...Array(count).keys())
        const page = paginate({ rows, limit, position })
        expect(page.data).toEqual(rows.slice(0, limit))
        expect(page.next_cursor).toEqual(count > limit ? { id: limit - 1 } : null)
      }),
    )
  })
})
