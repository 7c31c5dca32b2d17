import type { Effect } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import { handlers } from "../../src/handlers/handlers.ts"
import type { Handler, HandlerInput, Handlers } from "../../src/http/Handlers.ts"

type OperationResponse<Id extends "getHealth" | "getToken" | "listTokens"> = Effect.Success<ReturnType<Handler<Id>>>

describe("the table of handlers", () => {
  it("does not compile without a handler for every operation", () => {
    const { getToken: _, ...others } = handlers
    // @ts-expect-error getToken is missing
    const table: Handlers = others
    void table
  })

  it("does not compile with another operation's handler", () => {
    // @ts-expect-error a page is not a record
    const table: Handlers = { ...handlers, getToken: handlers.listTokens }
    void table
  })

  it("does not compile with a handler for a draft", () => {
    // @ts-expect-error drafts are not served
    const table: Handlers = { ...handlers, presignUpload: handlers.getHealth }
    void table
  })

  it("infers the types of a handler's input and response from its row", () => {
    expectTypeOf<HandlerInput<"listTokens">["query"]["limit"]>().toEqualTypeOf<number>()
    expectTypeOf<HandlerInput<"getToken">["path"]>().toEqualTypeOf<{ token: string }>()
    expectTypeOf<HandlerInput<"getHealth">["caller"]>().toEqualTypeOf<undefined>()
    expectTypeOf<OperationResponse<"getToken">["status"]>().toEqualTypeOf<200 | 304>()
    expectTypeOf<keyof OperationResponse<"getToken">["headers"]>().toEqualTypeOf<"ETag" | "Cache-Control">()
  })
})
