import { createConfig, lintFromString } from "@redocly/openapi-core"
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { defineCatalog } from "../src/defineCatalog.ts"
import type { Envelope } from "../src/Envelope.ts"
import { openapi } from "../src/openapi.ts"
import { partnerEnvelope } from "../src/partnerEnvelope.ts"
import { problemJson } from "../src/problemJson.ts"
import type { StandardSchema } from "../src/StandardSchema.ts"
import { payments, tables } from "./payments.ts"

const partner = defineCatalog({ ...tables, envelope: partnerEnvelope })
const catalogs = [
  ["problem+json", payments],
  ["the partner's envelope", partner],
] as const
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

  it.each(catalogs)("makes a document that is valid, of %s", async (_, catalog) => {
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

  it.each(catalogs)("has schemas that take what the catalog writes and no other code's body, of %s", (_, catalog) => {
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

  /** Describes a code with these details, and returns a validator of its bodies. */
  const describeCode = (details: StandardSchema, envelope: Envelope = problemJson, options: object = {}) => {
    const row = { type: "payment", status: 400, title: "A title." } as const
    const codes = { CODE: { ...row, details }, OTHER: row }
    const catalog = defineCatalog({ ...tables, codes, envelope, unknown: "OTHER" })
    const { components, responses } = openapi(catalog, { pay: ["OTHER", "CODE"] }, options)
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    const isValid = (value: object) =>
      ajv.validate(components.schemas["CODE"]!, catalog.body("CODE", { details: value, requestId: "r" } as never))
    return { isValid, content: responses.pay["400"]?.content[envelope.contentType] }
  }

  it("has no example of a code whose details have none, because it would not fit its own schema", () => {
    expect(describeCode(z.object({})).content).toEqual({
      schema: { oneOf: [{ $ref: "#/components/schemas/CODE" }, { $ref: "#/components/schemas/OTHER" }] },
      examples: { OTHER: { $ref: "#/components/examples/OTHER" } },
    })
  })

  const Name = z.object({ first: z.string() }).meta({ id: "Name" })
  const { stolen } = type.module({ card: { brand: "string" }, stolen: { card: "card" } })
  it.each<[string, StandardSchema, valid: object, invalid: object]>([
    ["Zod", z.object({ a: z.int() }), { a: 1, b: 2 }, { a: "1" }],
    ["Zod, strict, with the name of a member", z.strictObject({ status: z.string() }), { status: "x" }, { status: 1 }],
    ["Zod, strict", z.strictObject({ a: z.int() }), { a: 1 }, { a: 1, b: 2 }],
    ["Zod, as a union", z.union([Name, z.strictObject({ code: z.string() })]), { code: "x" }, { code: 1 }],
    ["Zod, as a record", z.record(z.enum(["a", "title"]), z.int()), { a: 1, title: 1 }, { a: 1 }],
    ["Zod, as an array", z.array(z.int()), [1], ["1"]],
    ["Zod, with a name", z.object({ names: z.array(Name) }), { names: [{ first: "A" }] }, { names: [{}] }],
    ["Valibot", toStandardJsonSchema(v.object({ a: v.pipe(v.number(), v.minValue(1)) })), { a: 1 }, { a: 0 }],
    ["ArkType, with a name", stolen, { card: { brand: "visa" } }, { card: {} }],
  ])("describes the details of %s in both envelopes", (_, details, valid, invalid) => {
    for (const envelope of [problemJson, partnerEnvelope as Envelope]) {
      const { isValid } = describeCode(details, envelope)
      expect([isValid(valid), isValid(invalid)]).toEqual([true, false])
    }
  })

  const valibot = v.object({ a: v.number() })
  it.each<[string, StandardSchema, message: string]>([
    ["no converter", valibot, "valibot provides no ~standard.jsonSchema, so pass the option toJsonSchema"],
    ["no JSON Schema", z.object({ at: z.date() }), "Date cannot be represented in JSON Schema"],
    [
      "recursion",
      z.record(z.string(), z.json()),
      "the schema is recursive (#/$defs/__schema0), so pass the option schema",
    ],
  ])("fails on details with %s, naming the code and the remedy", (_, details, message) => {
    expect(() => describeCode(details)).toThrow(new TypeError(`details of CODE can't be described: ${message}`))
    expect(() => describeCode(details, problemJson, { schema: { $ref: "#/components/schemas/Error" } })).not.toThrow()
  })

  it("uses the converter that it is given", () => {
    const { isValid } = describeCode(valibot, problemJson, { toJsonSchema: () => toJsonSchema(valibot) })
    expect([isValid({ a: 1 }), isValid({ a: "1" })]).toEqual([true, false])
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
