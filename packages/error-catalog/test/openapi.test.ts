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

  it("has no example of a code whose details have none, because it would not fit its own schema", () => {
    const codes = {
      NAMED: { type: "payment", status: 400, title: "No.", details: z.object({ status: z.string() }) },
      INTERNAL: tables.codes.INTERNAL,
    } as const
    const { responses } = openapi(defineCatalog({ ...tables, codes, envelope: problemJson }), { pay: ["NAMED"] })
    expect(responses.pay["400"]?.content["application/problem+json"]).toEqual({
      schema: { $ref: "#/components/schemas/NAMED" },
      examples: {},
    })
  })

  const Name = z.object({ first: z.string() }).meta({ id: "Name" })
  const ALIASES = type.module({ card: { brand: "string", "next?": "string" }, stolen: { card: "card" } })
  const describeCode = (details: StandardSchema, envelope: Envelope = problemJson, options: object = {}) => {
    const codes = {
      CODE: { type: "payment", status: 400, title: "No.", details },
      INTERNAL: tables.codes.INTERNAL,
    } as const
    const catalog = defineCatalog({ ...tables, codes, envelope })
    const schema = openapi(catalog, { pay: ["CODE"] }, options).components.schemas["CODE"] ?? {}
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    return (value: object) => ajv.validate(schema, catalog.body("CODE", { details: value, requestId: "r" } as never))
  }
  it.each<[string, StandardSchema, valid: object, invalid: object]>([
    ["Zod", z.object({ a: z.int() }), { a: 1, b: 2 }, { a: "1" }],
    ["Zod, strict", z.strictObject({ a: z.int() }), { a: 1 }, { a: 1, b: 2 }],
    [
      "Zod, with names of members",
      z.strictObject({ status: z.string(), a: z.int() }),
      { status: "x", a: 1 },
      { status: 1, a: 1 },
    ],
    ["Zod, without a required member", z.object({ detail: z.string() }), { detail: "x" }, {}],
    [
      "a Zod union",
      z.union([z.object({ a: z.int() }), z.strictObject({ code: z.string() })]),
      { code: "x" },
      { code: 1 },
    ],
    ["a Zod record", z.record(z.string(), z.int()), { a: 1, status: 2 }, { a: "x" }],
    ["a Zod record of known names", z.record(z.enum(["a", "title"]), z.int()), { a: 1, title: 1 }, { a: 1 }],
    ["a Zod array", z.array(z.int()), [1], ["1"]],
    ["a named Zod schema", z.object({ names: z.array(Name) }), { names: [{ first: "A" }] }, { names: [{}] }],
    ["a union of named Zod schemas", z.union([Name, z.object({ last: z.string() })]), { first: "A" }, { first: 1 }],
    ["Valibot", toStandardJsonSchema(v.object({ a: v.pipe(v.number(), v.minValue(1)) })), { a: 1 }, { a: 0 }],
    ["ArkType", type({ a: "number > 0" }), { a: 1 }, { a: 0 }],
    ["an ArkType alias", ALIASES.stolen, { card: { brand: "visa" } }, { card: {} }],
  ])("describes the details of %s in both envelopes", (_, details, valid, invalid) => {
    for (const envelope of [problemJson, partnerEnvelope as Envelope]) {
      const isValid = describeCode(details, envelope)
      expect([valid, invalid].map(isValid)).toEqual([true, false])
    }
  })

  it("fails on details that can't be described, naming the code and the remedy", () => {
    const valibot = v.object({ a: v.number() })
    const Tree = z.object({
      get children() {
        return z.array(Tree)
      },
    })
    expect(() => describeCode(valibot)).toThrow(
      new TypeError(
        "details of CODE can't be described: valibot provides no ~standard.jsonSchema, so pass the option toJsonSchema",
      ),
    )
    expect(() => describeCode(z.object({ at: z.date() }))).toThrow(
      "details of CODE can't be described: Date cannot be represented in JSON Schema",
    )
    for (const recursive of [Tree, z.object({ Tree }), z.record(z.string(), z.json())])
      expect(() => describeCode(recursive)).toThrow(/^details of CODE can't be described: the schema is recursive/)
    const convert = (schema: unknown) => toJsonSchema(schema as typeof valibot)
    expect([{ a: 1 }, { a: "1" }].map(describeCode(valibot, problemJson, { toJsonSchema: convert }))).toEqual([
      true,
      false,
    ])
    expect(() => describeCode(valibot, problemJson, { schema: { $ref: "#/components/schemas/Error" } })).not.toThrow()
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
