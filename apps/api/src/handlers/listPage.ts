import type { List } from "@outreach/contract"
import { CursorError, cursorCodec, paginate } from "@outreach/cursor"
import { Deployment } from "@outreach/domain/Deployment"
import type { ListPage } from "@outreach/domain/Transaction"
import { Effect } from "effect"
import type * as z from "zod"
import { ApiConfig } from "../ApiConfig.ts"
import { Json } from "../http/encode.ts"
import { invalidParameter, type RequestError } from "../http/RequestError.ts"

/** Reads a page of a list in the order of its positions. A row includes its position. */
export const listPage = Effect.fnUntraced(function* <
  Position,
  Start extends Position | undefined,
  Row extends Position,
  Item,
  Services,
>(
  input: { readonly query: { readonly cursor?: string | undefined; readonly limit: number }; readonly url: string },
  list: {
    /** Cursor scope in addition to the list's name: the organization, then every filter. */
    readonly scope: readonly [list: string, organizationId: string, ...filters: ReadonlyArray<unknown>]
    readonly position: z.ZodType<Position, Position>
    /** Position before the first row. */
    readonly start: Start
    readonly read: (after: Position | Start, limit: number) => Effect.Effect<ListPage<Row>, never, Services>
    readonly toWire: (
      rows: ReadonlyArray<Row>,
      livemode: boolean,
    ) => Effect.Effect<ReadonlyArray<Json<Item>>, never, Services>
  },
) {
  const { scope, position, start, read, toWire } = list
  const { cursor, limit } = input.query
  const { livemode } = yield* Deployment
  const { cursorKey } = yield* ApiConfig
  const cursors = cursorCodec({ schema: position, key: cursorKey, scope: JSON.stringify(scope) })
  const after = cursor === undefined ? start : yield* decode(() => cursors.decode(cursor))

  // If the end isn't settled, the client repeats the request.
  const { rows, isSettled } = yield* read(after, limit + 1)
  const page = paginate({ rows, limit, codec: cursors, position: (row) => row })
  const end = page.data.at(-1) ?? after
  const next = page.next_cursor ?? (isSettled || end === undefined ? null : cursors.encode(end))
  const data = yield* toWire(page.data, livemode)
  const rest = { has_more: next !== null, next_cursor: next, url: input.url } satisfies Partial<List<Item>>
  const body = new Json<List<Item>>(
    `{"object":"list","livemode":${livemode},"data":[${commaSeparated(data)}],${JSON.stringify(rest).slice(1)}`,
  )
  return { status: 200, headers: {}, body } as const
})

/** Concatenated, so that V8 copies the text once, when the response is written: `join` takes 17 µs more for 100 recipients. */
const commaSeparated = (items: ReadonlyArray<Json<unknown>>): string => {
  let texts = ""
  for (const { text } of items) texts += texts === "" ? text : `,${text}`
  return texts
}

const INVALID_CURSOR = invalidParameter("cursor", "is not a next_cursor of this list for this key and these filters")

const decode = <Position>(read: () => Position): Effect.Effect<Position, RequestError> =>
  Effect.try({
    try: read,
    catch: (error) => {
      if (error instanceof CursorError) return INVALID_CURSOR
      throw error
    },
  })
