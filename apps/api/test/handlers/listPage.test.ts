import { Deployment } from "@outreach/domain/Deployment"
import { ConfigProvider, Effect } from "effect"
import { expect, it } from "vitest"
import * as z from "zod"
import { ApiConfig } from "../../src/ApiConfig.ts"
import { listPage } from "../../src/handlers/listPage.ts"
import { Json } from "../../src/http/encode.ts"

const [A, B] = [Buffer.alloc(32, 7).toString("base64"), Buffer.alloc(32, 8).toString("base64")]

/** Reads a page of one number from a list of ten, like an API with this `CURSOR_KEY`. */
const read = (cursorKey: string, cursor?: string) =>
  listPage(
    { query: { cursor, limit: 1 }, url: "/numbers" },
    {
      scope: ["numbers", "org_1"],
      position: z.object({ n: z.number() }),
      start: { n: 0 },
      read: (after, limit) =>
        Effect.succeed({
          rows: Array.from({ length: limit }, (_, i) => ({ n: after.n + i + 1 })).filter(({ n }) => n <= 10),
          isSettled: true,
        }),
      toWire: (rows) => Effect.succeed(rows.map(({ n }) => new Json<number>(String(n)))),
    },
  ).pipe(
    Effect.map(({ body }) => JSON.parse(body.text) as { data: ReadonlyArray<number>; next_cursor: string }),
    Effect.provide(ApiConfig.fromEnvironment),
    Effect.provideService(Deployment, { livemode: false }),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({
        env: { DATABASE_URL: "postgres://127.0.0.1/none", SECRETS_KEY: A, CURSOR_KEY: cursorKey },
      }),
    ),
    Effect.match({
      onSuccess: ({ data, next_cursor }) => ({ data, cursor: next_cursor }),
      onFailure: (error) => error._tag,
    }),
    Effect.runPromise,
  )
const cursorOf = async (cursorKey: string) => {
  const page = await read(cursorKey)
  if (typeof page === "string") throw new Error(page)
  return page.cursor
}

it("accepts a cursor while CURSOR_KEY contains its key, and rejects it afterwards", async () => {
  const made = { before: await cursorOf(A), k1: await cursorOf(`k1:${A}`), k2: await cursorOf(`k2:${B},k1:${A}`) }
  expect(made.k1).toBe(made.before)
  // An issued cursor.
  expect(made.before).toBe("AnU8WTGraNKhE9O8myUs0ZCUynbRGXI9cb7qg_tEjkZnPnsibiI6MX0")
  expect(made.k2).toBe("AmWHyL7iU1B_4UlZ0uIlTPuWYgjlBymXG5pswXMMI57XnHsibiI6MX0")
  for (const ring of [`k2:${B},k1:${A}`, `k1:${A},k2:${B}`, `new:${B},old:${A}`]) {
    for (const cursor of [made.before, made.k2]) expect(await read(ring, cursor)).toMatchObject({ data: [2] })
  }
  for (const alone of [A, `old:${A}`]) {
    expect(await read(alone, made.before)).toMatchObject({ data: [2] })
    expect(await read(alone, made.k2)).toBe("BadRequest")
  }
  expect(await read(`k2:${B}`, made.k2)).toMatchObject({ data: [2] })
  expect(await read(`k2:${B}`, made.before)).toBe("BadRequest")
})
