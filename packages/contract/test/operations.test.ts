import { describe, expect, expectTypeOf, it } from "vitest"
import { legacyCatalog, partnerCatalog } from "../src/catalogs.ts"
import {
  type CallOf,
  type ErrorCodeOf,
  examples,
  type Operation,
  type Operations,
  operations,
  type RecipientRecord,
  type RequestOf,
  type ResponseOf,
  SCOPES,
} from "../src/index.ts"

const rows: readonly (readonly [string, Operation])[] = Object.entries(operations)

describe("operations", () => {
  it("are the specification's nine endpoints and the webhook receiver", () => {
    const table = rows.map(([, { method, path, auth }]) => [
      method,
      path,
      auth.kind === "scope" ? auth.scope : auth.kind,
    ])
    expect(table).toEqual([
      ["GET", "/v1/health", "none"],
      ["GET", "/v1/partners/consumer/tokens/{token}", "tokens:read"],
      ["GET", "/v1/partners/consumer/tokens", "tokens:read"],
      ["GET", "/v1/partners/consumer/events", "events:read"],
      ["GET", "/v1/partners/consumer/campaigns/{id}/recipients", "recipients:read"],
      ["GET", "/v1/partners/consumer/digest", "digest:read"],
      ["POST", "/v1/partners/consumer/webhooks/{endpoint_id}", "signature"],
      ["POST", "/v1/surveys", "bearer"],
      ["POST", "/v1/surveys/validate", "bearer"],
      ["GET", "/v1/uploads/presign", "bearer"],
    ])
  })

  describe.each(rows)("%s", (id, operation) => {
    const names = [...Object.keys(operation.pathParameters.shape), ...Object.keys(operation.query.shape)]
    const authenticated = operation.auth.kind === "bearer" || operation.auth.kind === "scope"

    it("goes by its own id", () => expect(operation.operationId).toBe(id))
    it("has a schema for each parameter of its path and no other", () => {
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(Object.keys(operation.pathParameters.shape)).toEqual(inPath)
    })
    it("assigns custom error codes only to parameters that it has", () => {
      for (const [name, code] of Object.entries(operation.parameterCodes)) {
        expect(names).toContain(name)
        expect(operation.errors).toContain(code)
      }
    })
    it("lists each error code once, and only codes of its envelope's catalog", () => {
      const codes = operation.envelope === "partner" ? partnerCatalog.codes : legacyCatalog.codes
      expect(new Set(operation.errors).size).toBe(operation.errors.length)
      for (const code of operation.errors) expect(codes).toHaveProperty(code)
    })
    it("is limited and takes an idempotency key exactly when a bearer is needed", () => {
      expect((operation.errors as readonly string[]).includes("RATE_LIMITED")).toBe(authenticated)
      expect((operation.errors as readonly string[]).includes("UNAUTHORIZED")).toBe(authenticated)
      expect(operation.headers.includes("Idempotency-Key")).toBe(authenticated)
    })
    it("is a draft exactly when it uses the legacy envelope", () => {
      expect(operation.draft).toBe(operation.envelope === "legacy")
      expect((operation.errors as readonly string[]).includes("NOT_IMPLEMENTED")).toBe(operation.draft)
    })
    it("has examples that its schemas accept unchanged", () => {
      const example: { request?: unknown; response?: unknown } =
        examples[operation.operationId as keyof typeof examples]
      const success = Object.values(operation.responses)[0]
      expect(success?.body?.parse(example.response)).toEqual(example.response)
      expect(operation.body === null).toBe(example.request === undefined)
      if (operation.body) expect(operation.body.schema.safeParse(example.request).success).toBe(true)
    })
  })

  it("know just the scopes of the specification", () => {
    expect(SCOPES).toEqual(["tokens:read", "events:read", "recipients:read", "digest:read"])
  })

  it("type a handler's input and its possible responses", () => {
    type GetToken = Operations["getToken"]
    expectTypeOf<RequestOf<GetToken>["path"]>().toEqualTypeOf<{ token: string }>()
    expectTypeOf<RequestOf<GetToken>["query"]>().toEqualTypeOf<{ "expand[]": ("campaign" | "program")[] }>()
    expectTypeOf<RequestOf<GetToken>["body"]>().toEqualTypeOf<undefined>()
    expectTypeOf<ResponseOf<GetToken>["status"]>().toEqualTypeOf<200 | 304>()
    expectTypeOf<Extract<ResponseOf<GetToken>, { status: 200 }>["body"]>().toEqualTypeOf<RecipientRecord>()
    expectTypeOf<Extract<ResponseOf<GetToken>, { status: 304 }>["body"]>().toEqualTypeOf<null>()
    expectTypeOf<Extract<ResponseOf<GetToken>, { status: 200 }>["headers"]>().toEqualTypeOf<
      Readonly<Record<"ETag" | "Cache-Control", string>>
    >()
    expectTypeOf<"INVALID_TOKEN">().toExtend<ErrorCodeOf<GetToken>>()
    expectTypeOf<"INVALID_SIGNATURE">().not.toExtend<ErrorCodeOf<GetToken>>()
    expectTypeOf<RequestOf<Operations["listTokens"]>["query"]["since"]>().toEqualTypeOf<string>()
    expectTypeOf<RequestOf<Operations["listTokens"]>["query"]["limit"]>().toEqualTypeOf<number>()
    expectTypeOf<RequestOf<Operations["receiveWebhook"]>["body"]["event_type"]>().toEqualTypeOf<string>()
    expectTypeOf<ResponseOf<Operations["listTokens"]>["body"]["data"]>().toEqualTypeOf<RecipientRecord[]>()
  })

  it("type a caller's input: parameters with a default are optional", () => {
    type Query = CallOf<Operations["listTokens"]>["query"]
    expectTypeOf<Pick<Query, "since">>().toEqualTypeOf<{ readonly since: string }>()
    expectTypeOf<{ since: string }>().toExtend<Query>()
    expectTypeOf<{ since: string; limit: number; "expand[]": ["campaign"] }>().toExtend<Query>()
    expectTypeOf<{ since: string; limit: string }>().not.toExtend<Query>()
    expectTypeOf<{ limit: number }>().not.toExtend<Query>()
  })
})
