import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { defineCatalog } from "../src/defineCatalog.ts"
import { openapi } from "../src/openapi.ts"
import { partnerEnvelope } from "../src/partnerEnvelope.ts"
import { problemJson } from "../src/problemJson.ts"
import { payments, tables } from "./payments.ts"

const partner = defineCatalog({ ...tables, envelope: partnerEnvelope })
const operations = {
  pay: ["TOO_MANY", "CARD_DECLINED", "INTERNAL"],
  refund: ["GATEWAY_DOWN", "CARD_DECLINED"],
} as const

describe("openapi", () => {
  it("describes the responses of each operation by status, with the components that they use", () => {
    const { components, responses } = openapi(payments, { pay: operations.pay })
    expect(Object.keys(responses.pay)).toEqual(["402", "429", "500"])
    expect(responses.pay["429"]).toEqual({
      description: "`TOO_MANY`: Too many requests.",
      headers: { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } },
      content: {
        "application/problem+json": {
          schema: { $ref: "#/components/schemas/TOO_MANY" },
          examples: { TOO_MANY: { $ref: "#/components/examples/TOO_MANY" } },
        },
      },
    })
    expect(Object.keys(components.schemas)).toEqual(["CARD_DECLINED", "TOO_MANY", "INTERNAL"])
    expect(components.examples["CARD_DECLINED"]?.value).toMatchObject({ code: "CARD_DECLINED", reason: "expired" })
    // @ts-expect-error no such code
    openapi(payments, { pay: ["LOST"] })
  })

  it("has the components of every code without operations", () => {
    expect(Object.keys(openapi(payments).components.schemas)).toEqual(Object.keys(tables.codes))
  })

  it.each([
    ["problem+json", payments],
    ["the partner's envelope", partner],
  ] as const)("makes a document that is valid, of %s", async (_, catalog) => {
    const { components, responses } = openapi(catalog as typeof payments, operations, {
      context: { requestId: "req_1" },
    })
    const path = (operationId: keyof typeof operations) => ({
      post: {
        operationId,
        summary: operationId,
        security: [],
        responses: { "204": { description: "Done." }, ...responses[operationId] },
      },
    })
    const info = { title: "Payments", version: "1", license: { name: "MIT", identifier: "MIT" } }
    const servers = [{ url: "https://pay.example.org" }]
    const paths = { "/payments": path("pay"), "/refunds": path("refund") }
    const source = JSON.stringify({ openapi: "3.1.1", info, servers, paths, components })
    const config = await createConfig({ extends: ["recommended-strict"] })
    const found = await lintFromString({ source, config })
    expect(found.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  })

  it.each([
    ["problem+json", payments],
    ["the partner's envelope", partner],
  ] as const)("has schemas that take what the catalog writes and no other code's body, of %s", (_, catalog) => {
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    const { schemas } = openapi(catalog as typeof payments).components
    const bodies = {
      CARD_DECLINED: catalog.body("CARD_DECLINED", { details: { reason: "stolen" }, requestId: "r" }),
      GATEWAY_DOWN: catalog.body("GATEWAY_DOWN", { details: { region: "eu" }, message: "Down.", requestId: "r" }),
      TOO_MANY: catalog.body("TOO_MANY", { retryAfter: 3, requestId: "r" }),
      INTERNAL: catalog.body("INTERNAL", { requestId: "r" }),
    }
    for (const [code, schema] of Object.entries(schemas))
      for (const [other, body] of Object.entries(bodies))
        expect([code, other, ajv.validate(schema, body)]).toEqual([code, other, code === other])
    const wrong = JSON.parse(JSON.stringify(bodies.CARD_DECLINED).replace("stolen", "lost"))
    expect(ajv.validate(schemas["CARD_DECLINED"]!, wrong)).toBe(false)
  })

  it("takes the bodies of strict details, and of details that are called as a member", () => {
    const codes = {
      STRICT: {
        type: "payment",
        status: 400,
        title: "No.",
        details: z.strictObject({ a: z.int() }),
        example: { a: 1 },
      },
      NAMED: { type: "payment", status: 400, title: "No.", details: z.object({ status: z.string() }) },
      INTERNAL: tables.codes.INTERNAL,
    } as const
    const catalog = defineCatalog({ ...tables, codes, envelope: problemJson })
    const { components, responses } = openapi(catalog, { pay: ["NAMED", "STRICT"] })
    expect(responses.pay["400"]?.content["application/problem+json"]).toEqual({
      schema: { oneOf: [{ $ref: "#/components/schemas/STRICT" }, { $ref: "#/components/schemas/NAMED" }] },
      // Without an example's details, an example would not fit its own schema.
      examples: { STRICT: { $ref: "#/components/examples/STRICT" } },
    })
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    expect(ajv.validate(components.schemas["STRICT"]!, catalog.body("STRICT", { details: { a: 1 } }))).toBe(true)
    expect(ajv.validate(components.schemas["NAMED"]!, catalog.body("NAMED", { details: { status: "x" } }))).toBe(true)
  })

  it("can refer to a schema of its reader, with names, messages, headers and a context of theirs", () => {
    const schema = { $ref: "#/components/schemas/Error" }
    const { components, responses } = openapi(
      partner,
      { pay: ["GATEWAY_DOWN"] },
      {
        schema,
        prefix: "Pay_",
        context: { requestId: "req_1" },
        message: (code) => `An example of ${code}.`,
        headers: (codes, operation) => ({ "X-Of": { description: `${operation}: ${codes}`, schema: {} } }),
      },
    )
    expect(components).toEqual({
      schemas: {},
      examples: {
        Pay_GATEWAY_DOWN: {
          summary: "The gateway does not respond",
          value: partner.body("GATEWAY_DOWN", { message: "An example of GATEWAY_DOWN.", requestId: "req_1" }),
        },
      },
    })
    expect(responses.pay["502"]).toEqual({
      description: "`GATEWAY_DOWN`: The gateway does not respond.",
      headers: { "X-Of": { description: "pay: GATEWAY_DOWN", schema: {} } },
      content: {
        "application/json": { schema, examples: { GATEWAY_DOWN: { $ref: "#/components/examples/Pay_GATEWAY_DOWN" } } },
      },
    })
  })
})
