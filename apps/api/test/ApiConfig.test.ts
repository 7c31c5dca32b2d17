import { cursorCodec } from "@outreach/cursor"
import { ConfigProvider, Effect } from "effect"
import { expect, it } from "vitest"
import * as z from "zod"
import { ApiConfig } from "../src/ApiConfig.ts"

const [A, B] = [Buffer.alloc(32, 7).toString("base64"), Buffer.alloc(32, 8).toString("base64")]

/** The cursors of an API with this `CURSOR_KEY`. */
const cursorsWith = (CURSOR_KEY: string) =>
  ApiConfig.pipe(
    Effect.map(({ cursorKey }) => cursorCodec({ schema: z.number(), key: cursorKey, scope: "numbers" })),
    Effect.provide(ApiConfig.fromEnvironment),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({
        env: { DATABASE_URL: "postgres://127.0.0.1/none", SECRETS_KEY: A, CURSOR_KEY },
      }),
    ),
    Effect.runSync,
  )

it("CURSOR_KEY signs cursors with its newest key, and accepts those of each of its keys", () => {
  const [old, both, last] = [A, `k2:${B},k1:${A}`, `k2:${B}`].map(cursorsWith)
  const cursors = [old!.encode(1), both!.encode(1)] as const
  expect(cursors.map((cursor) => both!.decode(cursor))).toEqual([1, 1])
  expect(last!.decode(cursors[1])).toBe(1)
  expect(() => last!.decode(cursors[0])).toThrow(expect.objectContaining({ code: "not_authentic" }))
  expect(() => old!.decode(cursors[1])).toThrow(expect.objectContaining({ code: "not_authentic" }))
})
