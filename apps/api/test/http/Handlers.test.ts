import type { Effect } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import { handlers } from "../../src/handlers/handlers.ts"
import type { Asked, Handler, Handlers } from "../../src/http/Handlers.ts"

type Answer<Id extends "getHealth" | "getToken" | "listTokens"> = Effect.Success<ReturnType<Handler<Id>>>

describe("the table of handlers", () => {
  it("does not compile without a handler for every operation", () => {
    const { getToken: _, ...others } = handlers
    // @ts-expect-error getToken is missing
    const table: Handlers = others
    void table
  })

  it("does not compile with another operation's handler", () => {
    // @ts-expect-error a page is no record
    const table: Handlers = { ...handlers, getToken: handlers.listTokens }
    void table
  })

  it("does not compile with a handler for a draft", () => {
    // @ts-expect-error drafts are not served
    const table: Handlers = { ...handlers, presignUpload: handlers.getHealth }
    void table
  })

  it("gives a handler what its row decodes, and takes what its row answers", () => {
    expectTypeOf<Asked<"listTokens">["query"]["limit"]>().toEqualTypeOf<number>()
    expectTypeOf<Asked<"getToken">["path"]>().toEqualTypeOf<{ token: string }>()
    expectTypeOf<Asked<"getHealth">["caller"]>().toEqualTypeOf<undefined>()
    expectTypeOf<Answer<"getToken">["status"]>().toEqualTypeOf<200 | 304>()
    expectTypeOf<keyof Answer<"getToken">["headers"]>().toEqualTypeOf<"ETag" | "Cache-Control">()
  })
})
